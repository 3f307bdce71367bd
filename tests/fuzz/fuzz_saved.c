/* Reads the file of --diff. */
#include "render/histo/histo_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *doc = json_parse((const char *)data, size);
	struct histo h = { 0 }, now = { 0 };

	if (histo_from_json(&h, doc) == 0) {
		histo_add(&now, "a.B", "app", NULL, 1, 16);
		histo_subtract(&now, &h);
		histo_sort(&now, HISTO_BY_COUNT);
	}
	json_free(doc);
	histo_release(&h);
	histo_release(&now);
	return 0;
}
