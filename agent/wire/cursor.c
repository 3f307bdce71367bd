#include "wire/cursor.h"

#include <string.h>

struct wire_reader wire_reader_init(const void *payload, size_t len)
{
	const uint8_t *at = payload;

	return (struct wire_reader){ at, at + len, false };
}

/* Returns the next n bytes.  If fewer bytes remain, returns NULL and marks the reader as failed. */
static const uint8_t *take(struct wire_reader *r, size_t n)
{
	const uint8_t *at = r->at;

	if (r->failed || (size_t)(r->end - r->at) < n) {
		r->failed = true;
		return NULL;
	}
	r->at += n;
	return at;
}

uint32_t wire_get_u32(struct wire_reader *r)
{
	const uint8_t *p = take(r, 4);

	return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

uint64_t wire_get_u64(struct wire_reader *r)
{
	uint64_t high = wire_get_u32(r);

	return high << 32 | wire_get_u32(r);
}

int32_t wire_get_i32(struct wire_reader *r)
{
	return (int32_t)wire_get_u32(r);
}

struct wire_text wire_get_text(struct wire_reader *r)
{
	uint32_t len = wire_get_u32(r);
	const uint8_t *p = take(r, len);

	return p ? (struct wire_text){ (const char *)p, len } : (struct wire_text){ "", 0 };
}

bool wire_reader_ok(const struct wire_reader *r)
{
	return !r->failed;
}

struct wire_writer wire_writer_init(void *data, size_t cap)
{
	return (struct wire_writer){ data, 0, cap, false };
}

static uint8_t *room(struct wire_writer *w, size_t n)
{
	uint8_t *at;

	if (w->failed || w->cap - w->len < n) {
		w->failed = true;
		return NULL;
	}
	at = w->data + w->len;
	w->len += n;
	return at;
}

void wire_put_u32(struct wire_writer *w, uint32_t value)
{
	uint8_t *p = room(w, 4);

	if (!p)
		return;
	p[0] = (uint8_t)(value >> 24);
	p[1] = (uint8_t)(value >> 16);
	p[2] = (uint8_t)(value >> 8);
	p[3] = (uint8_t)value;
}

void wire_put_u64(struct wire_writer *w, uint64_t value)
{
	wire_put_u32(w, (uint32_t)(value >> 32));
	wire_put_u32(w, (uint32_t)value);
}

void wire_put_i32(struct wire_writer *w, int32_t value)
{
	wire_put_u32(w, (uint32_t)value);
}

void wire_put_text(struct wire_writer *w, const char *text, size_t len)
{
	uint8_t *p;

	if (len > UINT32_MAX) {
		w->failed = true;
		return;
	}
	wire_put_u32(w, (uint32_t)len);
	p = room(w, len);
	if (p && len)
		memcpy(p, text, len);
}

bool wire_writer_ok(const struct wire_writer *w)
{
	return !w->failed;
}
