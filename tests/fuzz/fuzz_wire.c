/* Parses the agent's frames, frame by frame, into a histogram and its groups. */
#include "model/histo/histo_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct histo h = { 0 };
	struct histo_wire w = { .histo = &h };
	struct wire_header header;
	int rc = 0;

	while (rc == 0 && size >= WIRE_HEADER_LEN && wire_header_read(data, &header) &&
	       header.len <= size - WIRE_HEADER_LEN) {
		struct wire_reader payload = wire_reader_init(data + WIRE_HEADER_LEN, header.len);

		rc = histo_wire_take(&w, header.type, &payload);
		data += WIRE_HEADER_LEN + header.len;
		size -= WIRE_HEADER_LEN + header.len;
	}
	histo_wire_release(&w);
	histo_group(&h, HISTO_LOADER);
	histo_release(&h);
	return 0;
}
