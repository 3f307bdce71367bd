/* Compares the most that a JVM may use with the memory limit of its control group.  Does no I/O. */
#ifndef JTOOL_MODEL_MEMORY_HEAP_LIMIT_H
#define JTOOL_MODEL_MEMORY_HEAP_LIMIT_H

#include "model/memory/memory_parts.h"

struct heap_limit {
	/*
	 * Resident and swapped bytes outside of the Java heap, without pages of files, which the
	 * kernel can reclaim.
	 */
	int64_t outside;
	/*
	 * Bytes by which the maximum heap size and `outside` together exceed the limit; 0 or less:
	 * they fit.
	 */
	int64_t excess;
	bool known; /* false: there is no limit, or the maximum heap size is unknown */
};

/*
 * Compares the maximum heap size and the memory outside of the heap with the limit of the control
 * group.  `heap_max` and `limit` are in bytes; -1: unknown, or no limit.
 */
struct heap_limit heap_limit_of(const struct memory_parts *parts, int64_t heap_max,
			       int64_t limit);

/*
 * Returns the number of free bytes in malloc's arenas; 0 if that number is too small for a notice.
 */
int64_t memory_trimmable(const struct memory_parts *parts);

#endif
