/*
 * Reads the numbers of a flight recording.  A flag in the chunk's header selects their encoding:
 * big-endian with a fixed length, or compressed to 1 to 9 bytes
 * (jdk/jfr/internal/consumer/RecordingInput.java).
 *
 * A read beyond the end sets `failed`.  This read and all later ones return 0.
 */
#ifndef JTOOL_MODEL_JFR_JFR_CURSOR_H
#define JTOOL_MODEL_JFR_JFR_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct jfr_cursor {
	const uint8_t *at, *end;
	bool compressed;
	bool failed;
};

static inline size_t jfr_left(const struct jfr_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void jfr_fail(struct jfr_cursor *c)
{
	c->at = c->end;
	c->failed = true;
}

/* Skips n bytes and returns a pointer to the first of them; NULL if fewer than n are left. */
static inline const uint8_t *jfr_bytes(struct jfr_cursor *c, uint64_t n)
{
	const uint8_t *at = c->at;

	if (n > jfr_left(c)) {
		jfr_fail(c);
		return NULL;
	}
	c->at += n;
	return at;
}

static inline uint8_t jfr_byte(struct jfr_cursor *c)
{
	const uint8_t *at = jfr_bytes(c, 1);

	return at ? *at : 0;
}

/* Reads a big-endian number of n bytes. */
static inline uint64_t jfr_raw(struct jfr_cursor *c, unsigned n)
{
	const uint8_t *at = jfr_bytes(c, n);
	uint64_t value = 0;

	for (unsigned i = 0; at && i < n; i++)
		value = value << 8 | at[i];
	return value;
}

#define JFR_NUMBER_MAX 9 /* the most bytes of a compressed number */

/*
 * Reads a compressed number: 7 bits of each byte, the lowest bits first; the ninth byte has 8 bits.
 */
static inline uint64_t jfr_compressed(struct jfr_cursor *c)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < JFR_NUMBER_MAX; i++) {
		uint8_t byte = jfr_byte(c);

		if (i == JFR_NUMBER_MAX - 1)
			return value | (uint64_t)byte << 56;
		value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* Reads a short, int or long: n bytes, or a compressed number if the chunk is compressed. */
static inline uint64_t jfr_number(struct jfr_cursor *c, unsigned n)
{
	return c->compressed ? jfr_compressed(c) : jfr_raw(c, n);
}

static inline int64_t jfr_long(struct jfr_cursor *c)
{
	return (int64_t)jfr_number(c, 8);
}

static inline int32_t jfr_int(struct jfr_cursor *c)
{
	return (int32_t)(uint32_t)jfr_number(c, 4);
}

/*
 * Reads a number of elements.  Fails if the number exceeds the number of bytes that are left,
 * because each element has at least one byte.
 */
static inline uint32_t jfr_count(struct jfr_cursor *c)
{
	int32_t n = jfr_int(c);

	if (n < 0 || (uint32_t)n > jfr_left(c)) {
		jfr_fail(c);
		return 0;
	}
	return (uint32_t)n;
}

#endif
