/* Reads reports of recordings: files from untrusted sources. */
#include "model/profile/alloc_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct alloc a = { 0 };
	size_t line;

	if (alloc_report_read(&a, (const char *)data, size, &line) == 0) {
		alloc_merge(&a);
		alloc_sort(&a, ALLOC_BY_BYTES);
		(void)alloc_total(&a);
	}
	alloc_release(&a);
	return 0;
}
