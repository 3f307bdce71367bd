/* Allocates within a budget, and counts bytes and blocks to report leaks.  Not thread-safe. */
#ifndef JTOOL_AGENT_UTIL_MEM_H
#define JTOOL_AGENT_UTIL_MEM_H

#include <stddef.h>

struct ag_mem {
	size_t budget; /* upper limit of `bytes` */
	size_t bytes;  /* bytes that are currently allocated */
	size_t blocks; /* blocks that are currently allocated */
	size_t peak;   /* highest value of `bytes` so far */
};

/* Returns n zeroed elements of `size` bytes each, or NULL if memory or the budget is short. */
void *ag_alloc(struct ag_mem *mem, size_t n, size_t size) __attribute__((warn_unused_result));

/* Frees a block of ag_alloc().  p may be NULL. */
void ag_free(struct ag_mem *mem, void *p);

#endif
