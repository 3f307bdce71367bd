/* Parses the JVM's own histogram: untrusted, because any process may pose as a JVM. */
#include "model/histo/histo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct histo h = { 0 };

	if (histo_parse_vm(&h, (const char *)data, size) == 0) {
		histo_group(&h, HISTO_PACKAGE);
		histo_sort(&h, HISTO_BY_BYTES);
	}
	histo_release(&h);
	return 0;
}
