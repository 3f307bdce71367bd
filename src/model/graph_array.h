/*
 * Arrays as long as a heap.  The large ones are mapped, each alone: freed ones are given back at
 * once, growing moves pages instead of bytes, and large pages, where there are any, save half of
 * the time when elements are looked at in no order.
 */
#ifndef JTOOL_MODEL_GRAPH_ARRAY_H
#define JTOOL_MODEL_GRAPH_ARRAY_H

#include <stddef.h>

void *graph_array(size_t n, size_t size);
void *graph_array_zeroed(size_t n, size_t size);
/* As xgrow(): room for one more than n; *cap is 0 with NULL. */
void *graph_grow(void *array, size_t n, size_t *cap, size_t size);
/* NULL is allowed. */
void graph_array_free(void *array);

#endif
