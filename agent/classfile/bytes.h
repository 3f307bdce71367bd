/* Reads big-endian values.  The error is sticky: reads past the end return 0 and set `failed`. */
#ifndef JTOOL_AGENT_CLASSFILE_BYTES_H
#define JTOOL_AGENT_CLASSFILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cf_bytes {
	const uint8_t *at, *end;
	bool failed; /* a read would have passed the end */
};

/* Returns a reader of the `len` bytes at `data`, which may be NULL if `len` is 0. */
static inline struct cf_bytes cf_bytes_init(const void *data, size_t len)
{
	const uint8_t *at = data;

	return (struct cf_bytes){ at, len > 0 ? at + len : at, false };
}

static inline size_t cf_bytes_left(const struct cf_bytes *b)
{
	return (size_t)(b->end - b->at);
}

/* Returns the next `len` bytes.  If fewer than `len` are left, returns NULL and sets `failed`. */
static inline const uint8_t *cf_take(struct cf_bytes *b, size_t len)
{
	const uint8_t *at = b->at;

	if (b->failed || len > cf_bytes_left(b)) {
		b->failed = true;
		return NULL;
	}
	b->at += len;
	return at;
}

static inline uint16_t cf_peek_u2(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t cf_peek_u4(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint8_t cf_u1(struct cf_bytes *b)
{
	const uint8_t *at = cf_take(b, 1);

	return at ? *at : 0;
}

static inline uint16_t cf_u2(struct cf_bytes *b)
{
	const uint8_t *at = cf_take(b, 2);

	return at ? cf_peek_u2(at) : 0;
}

static inline uint32_t cf_u4(struct cf_bytes *b)
{
	const uint8_t *at = cf_take(b, 4);

	return at ? cf_peek_u4(at) : 0;
}

#endif
