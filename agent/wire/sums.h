/*
 * How long calls took, counted: 16 buckets for each power of two of nanoseconds, so that what is
 * told from a bucket is right within 1/32.  Below 16 ns each has its own; the last holds all
 * that is longer than 4 hours.
 *
 * libc only; used by the agent and by jtool.
 */
#ifndef JTOOL_WIRE_SUMS_H
#define JTOOL_WIRE_SUMS_H

#include <stdint.h>

#define SUMS_SUB_BITS 4
#define SUMS_TOP_BIT 43 /* 2^44 ns are 4.9 hours */
#define SUMS_BUCKETS (((SUMS_TOP_BIT - SUMS_SUB_BITS + 2) << SUMS_SUB_BITS))

static inline uint32_t sums_bucket(uint64_t ns)
{
	unsigned top;

	if (ns < (1u << SUMS_SUB_BITS))
		return (uint32_t)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	if (top > SUMS_TOP_BIT)
		return SUMS_BUCKETS - 1;
	return ((top - SUMS_SUB_BITS + 1) << SUMS_SUB_BITS) |
	       (uint32_t)(ns >> (top - SUMS_SUB_BITS) & ((1u << SUMS_SUB_BITS) - 1));
}

/* The least time that is counted in a bucket; of SUMS_BUCKETS the end of the last. */
static inline uint64_t sums_least(uint32_t bucket)
{
	uint32_t octave = bucket >> SUMS_SUB_BITS;
	uint64_t in = bucket & ((1u << SUMS_SUB_BITS) - 1);

	if (octave == 0)
		return in;
	return (in | 1u << SUMS_SUB_BITS) << (octave - 1);
}

#endif
