/* Parses a table of properties: untrusted, because any process may pose as a JVM. */
#include <stdint.h>
#include <string.h>

#include "base/printable.h"
#include "model/vm/props.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_utf8(const char *text, size_t len)
{
	for (size_t n, i = 0; i < len; i += n) {
		n = utf8_sequence_len(text + i, len - i);
		if (n == 0)
			__builtin_trap();
	}
}

/* Everything parsed is sorted by unique names and valid UTF-8. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct props props = { 0 };
	int rc = props_parse(&props, (const char *)data, size);

	for (size_t i = 0; i < props.n; i++) {
		const struct prop *prop = &props.items[i];

		check_utf8(prop->name, strlen(prop->name));
		check_utf8(prop->value, prop->value_len);
		if (prop->value[prop->value_len] != '\0' ||
		    props_find(&props, prop->name) != prop ||
		    (i > 0 && strcmp(props.items[i - 1].name, prop->name) >= 0))
			__builtin_trap();
	}
	if (rc == 0)
		props_filter(&props, "a*b?");
	props_release(&props);
	return 0;
}
