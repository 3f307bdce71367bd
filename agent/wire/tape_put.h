/*
 * What tape_write is made of, for who writes records by the million.
 */
#ifndef JTOOL_WIRE_TAPE_PUT_H
#define JTOOL_WIRE_TAPE_PUT_H

#include "wire/tape.h"

static inline uint8_t *tape_put(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

/* 0, -1, 1, -2 … as 0, 1, 2, 3 …: small either way. */
static inline uint64_t tape_fold(int64_t n)
{
	return n < 0 ? ~((uint64_t)n << 1) : (uint64_t)n << 1;
}

/* A record's first number: how far it is from `base` to `words`, both in words. */
static inline uint8_t *tape_put_first(uint8_t *to, enum tape_kind kind, uint64_t words,
				      uint64_t base)
{
	return tape_put(to, tape_fold((int64_t)(words - base)) << TAPE_KIND_BITS | kind);
}

/* An array's size is told with its length, so it takes a bit to tell whether it is one. */
static inline uint8_t *tape_put_size(uint8_t *to, uint64_t size, bool is_array, uint32_t length)
{
	to = tape_put(to, size / TAPE_WORD << 1 | is_array);
	return is_array ? tape_put(to, length) : to;
}

#endif
