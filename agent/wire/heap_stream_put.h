/* Inline parts of heap_stream_write(), for callers that write millions of records. */
#ifndef JTOOL_AGENT_WIRE_HEAP_STREAM_PUT_H
#define JTOOL_AGENT_WIRE_HEAP_STREAM_PUT_H

#include "wire/heap_stream.h"

static inline uint8_t *heap_stream_put(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

/* Returns n in zigzag encoding: 0, -1, 1, -2 … become 0, 1, 2, 3 … */
static inline uint64_t heap_stream_fold(int64_t n)
{
	return n < 0 ? ~((uint64_t)n << 1) : (uint64_t)n << 1;
}

/*
 * Writes the first number of a record: the kind, and the address `words` minus the address `base`,
 * which comes from an earlier record (heap_stream.h).  Both addresses are in words of 8 bytes.
 */
static inline uint8_t *heap_stream_put_first(uint8_t *to, enum heap_stream_kind kind,
					     uint64_t words, uint64_t base)
{
	return heap_stream_put(
		to, heap_stream_fold((int64_t)(words - base)) << HEAP_STREAM_KIND_BITS | kind);
}

/*
 * Writes the size in words, shifted left by 1 bit.  For an array, sets bit 0, and writes the
 * array's length as a second number.
 */
static inline uint8_t *heap_stream_put_size(uint8_t *to, uint64_t size, bool is_array,
					    uint32_t length)
{
	to = heap_stream_put(to, size / HEAP_STREAM_WORD << 1 | is_array);
	return is_array ? heap_stream_put(to, length) : to;
}

#endif
