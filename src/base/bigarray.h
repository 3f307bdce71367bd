/*
 * Arrays of millions.  The large ones are mapped, each alone: freed ones are given back at once,
 * growing moves pages instead of bytes, and large pages, where there are any, save half of the
 * time when elements are looked at in no order.
 */
#ifndef JTOOL_BASE_BIGARRAY_H
#define JTOOL_BASE_BIGARRAY_H

#include <stddef.h>

void *bigarray_new(size_t n, size_t size);
void *bigarray_new_zeroed(size_t n, size_t size);
/* As xgrow(): room for one more than n; *cap is 0 with NULL. */
void *bigarray_grow(void *array, size_t n, size_t *cap, size_t size);
/* NULL is allowed. */
void bigarray_free(void *array);

#endif
