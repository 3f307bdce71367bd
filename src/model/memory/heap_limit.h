/*
 * Compares the largest amount of memory that a JVM may use with the memory limit of the JVM's
 * control group.  Does no I/O.
 */
#ifndef JTOOL_MODEL_MEMORY_HEAP_LIMIT_H
#define JTOOL_MODEL_MEMORY_HEAP_LIMIT_H

#include "model/memory/memory_parts.h"

struct heap_limit {
	/*
	 * Resident and swapped bytes outside of the Java heap.  Pages of files are not included,
	 * because the kernel can reclaim them.
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
 * Compares the sum of the maximum heap size and the memory outside of the heap with the limit of
 * the control group.  `heap_max` and `limit` are in bytes.  `heap_max` is -1 if it is unknown;
 * `limit` is -1 if there is no limit or if it is unknown.
 */
struct heap_limit heap_limit_of(const struct memory_parts *parts, int64_t heap_max,
			       int64_t limit);

/*
 * Returns the number of resident free bytes in malloc's arenas; 0 if there are less than 64 MB of
 * them, which is too little to report.
 */
int64_t memory_trimmable(const struct memory_parts *parts);

#endif
