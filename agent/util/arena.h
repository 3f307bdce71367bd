/*
 * A lock-free bump allocator for many threads.  It reserves one range of memory; the kernel commits
 * each page when the page is first touched.  Only the complete range can be freed.
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
 * Returns `size` zeroed bytes, which are aligned to 64 bytes if `size` is at least 64, else to 8
 * bytes.  Returns NULL if the arena has no room for them.  Any thread may call this function.
 */
void *ag_arena_take(struct ag_arena *arena, size_t size);

#endif
