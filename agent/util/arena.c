#include "util/arena.h"

#include <stdbool.h>

#define LINE 64u

int ag_arena_init(struct ag_arena *arena, struct ag_mem *mem, size_t size)
{
	arena->base = ag_alloc(mem, 1, size);
	arena->size = arena->base ? size : 0;
	arena->used = 0;
	return arena->base ? 0 : -1;
}

void ag_arena_release(struct ag_arena *arena, struct ag_mem *mem)
{
	ag_free(mem, arena->base);
	*arena = (struct ag_arena){ 0 };
}

void *ag_arena_take(struct ag_arena *arena, size_t size)
{
	size_t align = size >= LINE ? LINE : sizeof(uint64_t);
	size_t used = __atomic_load_n(&arena->used, __ATOMIC_RELAXED), from;

	do {
		from = used + (-(uintptr_t)(arena->base + used) & (align - 1));
		if (from > arena->size || size > arena->size - from)
			return NULL;
	} while (!__atomic_compare_exchange_n(&arena->used, &used, from + size, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return arena->base + from;
}
