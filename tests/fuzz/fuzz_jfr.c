/* Parses the flight recorder's answers and files: untrusted, any process may pose as a JVM. */
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_chunks.h"
#include "model/jfr/jfr_settings.h"
#include "model/jfr/jfr_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_data(void *arg, uint64_t at, void *to, size_t len)
{
	memcpy(to, (const uint8_t *)arg + at, len); /* ASan detects an access out of bounds */
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	_cleanup_free_ uint8_t *copy = xmalloc(size + 1);
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	struct jfr_settings s = { .is_listing = false };

	memcpy(copy, data, size);
	if (jfr_chunks_count(read_data, copy, size) == 0)
		abort();
	jfr_settings_parse(&s, (const char *)data, size);
	for (int i = 0; i < N_JFR_SETTINGS; i++)
		jfr_value_show(&line, jfr_setting_info[i].kind, &s.values[i]);
	jfr_settings_release(&s);
	jfr_one_line(&line, text);
	(void)jfr_succeeded(JFR_CHECK, text);
	if (jfr_add_word(&line, text) < 0)
		return 0;
	return 0;
}
