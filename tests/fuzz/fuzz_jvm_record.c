/* Parses the record of a JVM that a worker sends, and a JVM's reply to `load`. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "discover/jvm_record.h"
#include "session/load_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Checks that a record that is accepted and written again has the same bytes. */
static void parse_record(const char *data, size_t len)
{
	struct jvm *jvm = jvm_record_parse(data, len);
	_cleanup_buf_ struct buf again = BUF_INIT;

	if (!jvm)
		return;
	jvm_record_add(&again, jvm);
	if (again.len != len || memcmp(again.data, data, len) != 0)
		abort();
	jvm_free(jvm);
}

static void check_reply(const char *data, size_t len)
{
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));
	_cleanup_buf_ struct buf output = BUF_INIT;
	struct err err = { .code = EXIT_DONE };

	buf_add(&output, data, len);
	if (load_reply_check(jvm, 0, &output, "restart it", &err) < 0 && err.code == EXIT_DONE)
		abort();
	jvm_free(jvm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len == 0)
		return 0;
	if (data[0] & 1)
		parse_record((const char *)data + 1, len - 1);
	else
		check_reply((const char *)data + 1, len - 1);
	return 0;
}
