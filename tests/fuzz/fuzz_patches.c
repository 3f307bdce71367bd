/* Parses the agent's frames, frame by frame, into a list of patches. */
#include "model/redefine/patches.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct patches p = { 0 };
	char when[PATCH_WHEN_MAX];
	struct wire_header header;
	int rc = 0;

	while (rc == 0 && size >= WIRE_HEADER_LEN && wire_header_read(data, &header) &&
	       header.len <= size - WIRE_HEADER_LEN) {
		struct wire_reader payload = wire_reader_init(data + WIRE_HEADER_LEN, header.len);

		rc = patches_take(&p, header.type, &payload);
		data += WIRE_HEADER_LEN + header.len;
		size -= WIRE_HEADER_LEN + header.len;
	}
	for (size_t i = 0; i < p.n; i++) {
		(void)patch_when(&p.rows[i], when);
		(void)patches_match(&p, &p.rows[i], "a.*", "app");
	}
	patches_release(&p);
	return 0;
}
