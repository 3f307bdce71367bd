/*
 * A hash table that maps a 64-bit key to a number and a note.  ag_hash_map_add() never enlarges the
 * table; only ag_hash_map_grow() does.
 */
#ifndef JTOOL_AGENT_UTIL_HASH_MAP_H
#define JTOOL_AGENT_UTIL_HASH_MAP_H

#include <stdint.h>

#include "util/mem.h"

struct ag_hash_entry {
	uint64_t key; /* 0: the slot is empty */
	uint32_t number;
	uint32_t note; /* used only by the map's owner; ag_hash_map_add() sets it to 0 */
};

struct ag_hash_map {
	struct ag_hash_entry *slots; /* the number of slots is a power of two, at least 2 * max */
	unsigned shift;              /* 64 - log2(number of slots) */
	uint32_t n, max;
};

/* Creates a map for at most max keys.  Returns -1 if there is no memory. */
int ag_hash_map_init(struct ag_hash_map *map, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));
/* Frees the map.  Does nothing if *map is all zero. */
void ag_hash_map_release(struct ag_hash_map *map, struct ag_mem *mem);

/*
 * Doubles map->max, but not beyond `max`.  Returns -1 if map->max is `max` already, or if there is
 * no memory.
 */
int ag_hash_map_grow(struct ag_hash_map *map, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));

/* Adds a key.  Returns its slot; or NULL if the key is 0 or exists already, or the map is full. */
struct ag_hash_entry *ag_hash_map_add(struct ag_hash_map *map, uint64_t key, uint32_t number);

/* Returns the number of slots, for a loop over all slots. */
static inline size_t ag_hash_map_slots(const struct ag_hash_map *map)
{
	return (size_t)1 << (64 - map->shift);
}

/* Returns the slot that has the key, or the empty slot where the key would be added. */
static inline struct ag_hash_entry *ag_hash_map_probe(const struct ag_hash_map *map,
						      uint64_t key)
{
	size_t mask = ag_hash_map_slots(map) - 1;
	/* 2^64 / golden ratio, as in ag_class_map_probe() */
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> map->shift);

	while (map->slots[i].key != key && map->slots[i].key != 0)
		i = (i + 1) & mask;
	return &map->slots[i];
}

#endif
