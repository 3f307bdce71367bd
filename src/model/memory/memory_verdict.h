/* Compares a JVM's configured maximum with the limit of its control group.  Pure. */
#ifndef JTOOL_MODEL_MEMORY_MEMORY_VERDICT_H
#define JTOOL_MODEL_MEMORY_MEMORY_VERDICT_H

#include "model/memory/memory_parts.h"

struct memory_verdict {
	/*
	 * Resident and swapped bytes outside the Java heap that the kernel cannot reclaim by
	 * dropping pages of files.
	 */
	int64_t outside;
	/* The maximum of the heap and `outside`, minus the limit; 0 or less: fits. */
	int64_t excess;
	bool known; /* false: there is no limit, or the maximum of the heap is unknown */
};

/* `heap_max` and `limit` are in bytes, or -1. */
struct memory_verdict memory_verdict_of(const struct memory_parts *parts, int64_t heap_max,
				    int64_t limit);

/* Returns the free bytes in malloc's arenas if they are worth a notice, else 0. */
int64_t memory_trimmable(const struct memory_parts *parts);

#endif
