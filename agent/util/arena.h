/*
 * Memory for what many threads add to at once and nobody takes out: one reserved range, handed
 * out from its beginning.  The system gives pages as they are first touched, so that a large
 * range costs what is used of it; all of it goes back at once.  There is no lock.
 */
#ifndef JTOOL_AGENT_BASE_ARENA_H
#define JTOOL_AGENT_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct ag_arena {
	uint8_t *base;
	size_t size;
	size_t used; /* atomic */
};

/* -1: no memory. */
int ag_arena_init(struct ag_arena *arena, struct ag_mem *mem, size_t size)
	__attribute__((warn_unused_result));
void ag_arena_release(struct ag_arena *arena, struct ag_mem *mem);

/* size zeroed bytes, aligned to 64 from that size on, else to 8; NULL: it is full.  Any thread. */
void *ag_arena_take(struct ag_arena *arena, size_t size);

#endif
