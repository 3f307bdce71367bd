#include "util/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * Blocks of at least this size are mapped separately, so that freeing a block returns its memory to
 * the system.  malloc() of glibc would raise its threshold for mapping blocks when the first such
 * block is freed, and then retain later blocks in an arena of the session's thread (mallopt(3),
 * M_MMAP_THRESHOLD).
 * Tests define a higher value, so that calloc() allocates their blocks.
 */
#ifndef AG_MEM_MAPPED
#define AG_MEM_MAPPED ((size_t)128 << 10)
#endif

/* The header of each block.  max_align_t preserves the alignment that malloc() guarantees. */
union block {
	size_t size;
	max_align_t align;
};

static void *obtain(size_t total)
{
	void *p;

	if (total < AG_MEM_MAPPED)
		return calloc(1, total);
	p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void give_back(void *p, size_t total)
{
	if (total < AG_MEM_MAPPED)
		free(p);
	else
		/* cannot fail, because obtain() has mapped exactly this range */
		(void)munmap(p, total);
}

void *ag_alloc(struct ag_mem *mem, size_t n, size_t size)
{
	union block *b;
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) ||
	    __builtin_add_overflow(total, sizeof(*b), &total))
		return NULL;
	/* An allocation profile that a suspended thread may still use exceeds the budget. */
	if (mem->bytes > mem->budget || total > mem->budget - mem->bytes)
		return NULL;
	b = obtain(total);
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
	give_back(b, b->size);
}
