#include "wire/frame.h"

/* Does not compile if frame.h defines a macro that has the name of a frame. */
#define WIRE(name, number) \
	_Static_assert(WIRE_##name == (number), "WIRE_" #name " is also a macro");
#include "wire/frames.def"
#undef WIRE

void wire_header_write(uint8_t out[WIRE_HEADER_LEN], uint16_t type, uint32_t len)
{
	out[0] = (uint8_t)(len >> 24);
	out[1] = (uint8_t)(len >> 16);
	out[2] = (uint8_t)(len >> 8);
	out[3] = (uint8_t)len;
	out[4] = WIRE_VERSION;
	out[5] = 0;
	out[6] = (uint8_t)(type >> 8);
	out[7] = (uint8_t)type;
}

bool wire_header_read(const uint8_t in[WIRE_HEADER_LEN], struct wire_header *header)
{
	header->len = (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
	header->version = in[4];
	header->type = (uint16_t)(in[6] << 8 | in[7]);
	return header->version == WIRE_VERSION && header->len <= WIRE_PAYLOAD_MAX;
}

const char *wire_type_name(uint16_t type)
{
	switch (type) {
#define WIRE(name, number) \
	case number:       \
		return #name;
#include "wire/frames.def"
#undef WIRE
	default:
		return "unknown frame";
	}
}
