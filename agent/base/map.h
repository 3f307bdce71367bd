/*
 * A hash table from a number to an index.
 *
 * Its size is fixed when it is made, so that adding is possible where memory cannot be had: in a
 * heap callback, while the JVM stands still.  A slot is 8 bytes, so that 30,000 classes still
 * lie in a processor's cache.
 */
#ifndef JTOOL_AGENT_BASE_MAP_H
#define JTOOL_AGENT_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct ag_slot {
	uint32_t key; /* 0: empty */
	uint32_t index;
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

/* False when the key is 0 or there already, or the map is full. */
bool ag_map_add(struct ag_map *map, uint32_t key, uint32_t index);

/* The number of slots, to visit them all. */
static inline size_t ag_map_slots(const struct ag_map *map)
{
	return map->slots ? (size_t)1 << (64 - map->shift) : 0;
}

/* The slot of a key, or the empty one where it would go. */
static inline struct ag_slot *ag_map_probe(const struct ag_map *map, uint32_t key)
{
	size_t mask = ag_map_slots(map) - 1;
	/* 2^64 / golden ratio: klass words lie in rows, and a row must not fall on one slot. */
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> map->shift);

	while (map->slots[i].key != key && map->slots[i].key != 0)
		i = (i + 1) & mask;
	return &map->slots[i];
}

#endif
