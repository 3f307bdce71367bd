/* Writes the payload of a frame, as the agent does. */
#ifndef JTOOL_TESTS_PAYLOAD_H
#define JTOOL_TESTS_PAYLOAD_H

#include <string.h>

#include "wire/cursor.h"
#include "wire/frame.h"

struct payload {
	uint8_t data[8192];
	struct wire_writer w;
};

static inline struct wire_writer *begin(struct payload *p)
{
	p->w = wire_writer_init(p->data, sizeof(p->data));
	return &p->w;
}

static inline void put_text(struct wire_writer *w, const char *text)
{
	wire_put_text(w, text, strlen(text));
}

#endif
