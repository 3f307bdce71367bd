/* Reads a jar of the user, which may be from an untrusted source. */
#include "archive/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct zip *zip, int depth)
{
	struct zip_entry entry;

	for (size_t at = 0; zip_next(zip, &at, &entry);) {
		struct buf content = BUF_INIT;
		struct zip inner;

		if (zip_read(zip, &entry, 1 << 20, &content))
			content.len = 0;
		buf_release(&content);
		if (depth > 0 && !zip_open_inner(&inner, zip, &entry, 1 << 20)) {
			read_all(&inner, depth - 1);
			zip_release(&inner);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zip zip;

	if (zip_open(&zip, &(struct zip_bytes){ .data = data, .len = size }))
		return 0;
	read_all(&zip, 1);
	zip_release(&zip);
	return 0;
}
