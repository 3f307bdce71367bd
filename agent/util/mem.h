/* Counts allocated memory, to report leaks, and enforces a budget.  Not thread-safe. */
#ifndef JTOOL_AGENT_UTIL_MEM_H
#define JTOOL_AGENT_UTIL_MEM_H

#include <stddef.h>

struct ag_mem {
	size_t budget; /* limit for bytes */
	size_t bytes;  /* currently allocated */
	size_t blocks; /* currently allocated */
	size_t peak;   /* maximum of bytes so far */
};

/* Returns n zeroed elements of size bytes, or NULL if memory or budget is short. */
void *ag_alloc(struct ag_mem *mem, size_t n, size_t size) __attribute__((warn_unused_result));

/* p may be NULL. */
void ag_free(struct ag_mem *mem, void *p);

#endif
