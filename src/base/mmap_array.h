/*
 * Arrays of millions of elements.  A large array is a mapping: freeing it returns the memory to the
 * system, growing it moves pages without copying, and huge pages halve the time of random access.
 */
#ifndef JTOOL_BASE_MMAP_ARRAY_H
#define JTOOL_BASE_MMAP_ARRAY_H

#include <stddef.h>

void *mmap_array_new(size_t n, size_t size);
void *mmap_array_new_zeroed(size_t n, size_t size);
/*
 * Makes room for one more element in an array of n elements of `size` bytes each.  Returns the
 * array, which may have moved.  *cap is the capacity in elements; it must be 0 if array is NULL.
 */
void *mmap_array_grow(void *array, size_t n, size_t *cap, size_t size);
/* Frees the array; NULL is allowed. */
void mmap_array_free(void *array);

#endif
