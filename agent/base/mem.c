#include "base/mem.h"

#include <stdlib.h>

/* Before each block; as large as the strictest alignment, so that the block keeps malloc's. */
union block {
	size_t size;
	max_align_t align;
};

void *ag_alloc(struct ag_mem *mem, size_t n, size_t size)
{
	union block *b;
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) ||
	    __builtin_add_overflow(total, sizeof(*b), &total))
		return NULL;
	if (total > mem->budget - mem->bytes)
		return NULL;
	b = calloc(1, total);
	if (!b)
		return NULL;
	b->size = total;
	mem->bytes += total;
	mem->blocks++;
	if (mem->bytes > mem->peak)
		mem->peak = mem->bytes;
	return b + 1;
}

void ag_free(struct ag_mem *mem, void *p)
{
	union block *b = p;

	if (!b)
		return;
	b--;
	mem->bytes -= b->size;
	mem->blocks--;
	free(b);
}
