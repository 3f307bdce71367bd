/*
 * A lock-free bump allocator for many threads.  It reserves one range of memory, and the kernel
 * commits a page when it is first touched.  The complete range is freed at once.
 */
#ifndef JTOOL_AGENT_UTIL_ARENA_H
#define JTOOL_AGENT_UTIL_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"

struct ag_arena {
	uint8_t *base;
	size_t size;
	size_t used; /* bytes taken so far; accessed with atomic operations */
};

/* Reserves `size` bytes.  Returns -1 if there is no memory. */
int ag_arena_init(struct ag_arena *arena, struct ag_mem *mem, size_t size)
	__attribute__((warn_unused_result));
void ag_arena_release(struct ag_arena *arena, struct ag_mem *mem);

/*
 * Returns `size` zeroed bytes, aligned to 64 if size >= 64, else to 8, or NULL if the arena is
 * full.  Any thread may call it.
 */
void *ag_arena_take(struct ag_arena *arena, size_t size);

#endif
