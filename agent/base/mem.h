/*
 * The agent's memory: counted, so that a session can prove that it gave everything back, and
 * bounded, so that the JVM's process never suffers from a guest that wants too much.
 *
 * Not thread-safe: a session's memory belongs to its agent thread.
 */
#ifndef JTOOL_AGENT_BASE_MEM_H
#define JTOOL_AGENT_BASE_MEM_H

#include <stddef.h>

struct ag_mem {
	size_t budget; /* never more than this at a time */
	size_t bytes;  /* allocated now */
	size_t blocks; /* the same, in calls of ag_alloc */
	size_t peak;   /* the most bytes there ever were */
};

/* n zeroed elements of size bytes; NULL when there is no memory or it would pass the budget. */
void *ag_alloc(struct ag_mem *mem, size_t n, size_t size) __attribute__((warn_unused_result));

/* NULL is allowed. */
void ag_free(struct ag_mem *mem, void *p);

#endif
