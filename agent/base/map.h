/*
 * A hash table from a number to an index and a tally.  The tally lies beside its key: counting
 * an object then touches one cache line, and there are millions of objects.
 *
 * The size is fixed when it is made, so that adding is possible where memory cannot be had: in
 * a heap callback, while the JVM stands still.
 */
#ifndef JTOOL_AGENT_BASE_MAP_H
#define JTOOL_AGENT_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct ag_tally {
	uint64_t instances, bytes;
};

struct ag_slot {
	uint64_t key; /* 0: empty */
	struct ag_tally tally;
	uint32_t index; /* the caller's */
};

struct ag_map {
	struct ag_slot *slots; /* a power of two, at least twice what may be added */
	unsigned shift;        /* 64 - log2(number of slots) */
	uint32_t n, max;
};

/* Room for max keys; -1: no memory. */
int ag_map_init(struct ag_map *map, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));
/* A zeroed map is allowed. */
void ag_map_release(struct ag_map *map, struct ag_mem *mem);

/*
 * A new key's slot, empty but for key and index; NULL when the key is 0 or there already, or the
 * map is full.
 */
struct ag_slot *ag_map_add(struct ag_map *map, uint64_t key, uint32_t index);

/* The number of slots, to visit them all. */
static inline size_t ag_map_slots(const struct ag_map *map)
{
	return map->slots ? (size_t)1 << (64 - map->shift) : 0;
}

/* The slot of a key, or the empty one where it would go. */
static inline struct ag_slot *ag_map_probe(const struct ag_map *map, uint64_t key)
{
	size_t mask = ag_map_slots(map) - 1;
	size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> map->shift); /* 2^64 / golden ratio */

	while (map->slots[i].key != key && map->slots[i].key != 0)
		i = (i + 1) & mask;
	return &map->slots[i];
}

#endif
