#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * What is as large is mapped by itself, so that it is gone when it is freed: glibc learns from
 * the first such block to keep the next ones, in an arena for each thread that there was (mallopt
 * (3), M_MMAP_THRESHOLD), and each session has a thread of its own.  Tests have calloc watched.
 */
#ifndef AG_MEM_MAPPED
#define AG_MEM_MAPPED ((size_t)128 << 10)
#endif

/* Before each block; as large as the strictest alignment, so that the block keeps malloc's. */
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
		(void)munmap(p, total); /* fails for no mapping of ours */
}

void *ag_alloc(struct ag_mem *mem, size_t n, size_t size)
{
	union block *b;
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) ||
	    __builtin_add_overflow(total, sizeof(*b), &total))
		return NULL;
	if (total > mem->budget - mem->bytes)
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
