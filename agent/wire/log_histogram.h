/*
 * A histogram of durations.  It has 16 buckets between each power of two of nanoseconds and the
 * next, so a duration differs from the middle of its bucket by at most 1/32.  Below 16 ns each
 * number of nanoseconds has a bucket of its own; the last bucket counts all durations from 4.7
 * hours on.
 */
#ifndef JTOOL_AGENT_WIRE_LOG_HISTOGRAM_H
#define JTOOL_AGENT_WIRE_LOG_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 4
#define HISTOGRAM_TOP_BIT 43 /* highest bit of a value below 2^44 ns, 4.9 hours */
#define HISTOGRAM_BUCKETS (((HISTOGRAM_TOP_BIT - HISTOGRAM_SUB_BITS + 2) << HISTOGRAM_SUB_BITS))

static inline uint32_t log_histogram_bucket(uint64_t ns)
{
	unsigned top;

	if (ns < (1u << HISTOGRAM_SUB_BITS))
		return (uint32_t)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	if (top > HISTOGRAM_TOP_BIT)
		return HISTOGRAM_BUCKETS - 1;
	return ((top - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS) |
	       (uint32_t)(ns >> (top - HISTOGRAM_SUB_BITS) & ((1u << HISTOGRAM_SUB_BITS) - 1));
}

/*
 * Returns the least number of nanoseconds in a bucket; or, if `bucket` is HISTOGRAM_BUCKETS, the
 * end of the last bucket.
 */
static inline uint64_t log_histogram_least(uint32_t bucket)
{
	uint32_t octave = bucket >> HISTOGRAM_SUB_BITS;
	uint64_t in = bucket & ((1u << HISTOGRAM_SUB_BITS) - 1);

	if (octave == 0)
		return in;
	return (in | 1u << HISTOGRAM_SUB_BITS) << (octave - 1);
}

#endif
