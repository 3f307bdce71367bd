#include "base/mmap_array.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"

#define MAPPED_MIN ((size_t)1 << 20)
#define LARGE_PAGE ((size_t)2 << 20)
#define ENTRIES_MIN 64

/*
 * Precedes the array in memory.  Has the size of a cache line, to preserve the elements' alignment.
 */
union head {
	size_t mapped; /* bytes of the mapping, with this head; 0: allocated with malloc(3) */
	char line[64];
};

static union head *head_of(void *array)
{
	return (union head *)array - 1;
}

static size_t bytes_of(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
		xalloc_die();
	bytes += sizeof(union head);
	return bytes < MAPPED_MIN ? bytes : (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

static void *map(size_t bytes)
{
	union head *head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

	if (head == MAP_FAILED)
		xalloc_die();
	(void)madvise(head, bytes, MADV_HUGEPAGE); /* on failure, access is only slower */
	head->mapped = bytes;
	return head + 1;
}

void *mmap_array_new(size_t n, size_t size)
{
	size_t bytes = bytes_of(n, size);
	union head *head;

	if (bytes >= MAPPED_MIN)
		return map(bytes);
	head = xmalloc(bytes);
	head->mapped = 0;
	return head + 1;
}

void *mmap_array_new_zeroed(size_t n, size_t size)
{
	void *array = mmap_array_new(n, size);

	if (head_of(array)->mapped == 0)
		memset(array, 0, n * size);
	return array;
}

void *mmap_array_grow(void *array, size_t n, size_t *cap, size_t size)
{
	size_t had = *cap;
	union head *head;
	size_t bytes;

	if (n < *cap)
		return array;
	*cap = had ? had + had / 2 : ENTRIES_MIN;
	bytes = bytes_of(*cap, size);
	if (array && head_of(array)->mapped) {
		head = mremap(head_of(array), head_of(array)->mapped, bytes, MREMAP_MAYMOVE);
		if (head == MAP_FAILED)
			xalloc_die();
		head->mapped = bytes;
		return head + 1;
	}
	head = head_of(mmap_array_new(*cap, size));
	if (array)
		memcpy(head + 1, array, had * size);
	mmap_array_free(array);
	return head + 1;
}

void mmap_array_free(void *array)
{
	union head *head;

	if (!array)
		return;
	head = head_of(array);
	if (head->mapped)
		(void)munmap(head, head->mapped); /* cannot fail for a complete mapping */
	else
		free(head);
}
