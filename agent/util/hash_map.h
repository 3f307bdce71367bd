/* A hash table from a 64-bit key to a number and a note.  It grows only by ag_hash_map_grow(). */
#ifndef JTOOL_AGENT_UTIL_HASH_MAP_H
#define JTOOL_AGENT_UTIL_HASH_MAP_H

#include <stdint.h>

#include "util/mem.h"

struct ag_hash_entry {
	uint64_t key; /* 0: empty */
	uint32_t number;
	uint32_t note; /* used by the owner only */
};

struct ag_hash_map {
	struct ag_hash_entry *slots; /* their number is a power of two, at least 2 * max */
	unsigned shift;              /* 64 - log2(number of slots) */
	uint32_t n, max;
};

/* Makes room for max keys.  Returns -1 if there is no memory. */
int ag_hash_map_init(struct ag_hash_map *map, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));
/* Also accepts a map that is all zero. */
void ag_hash_map_release(struct ag_hash_map *map, struct ag_mem *mem);

/* Doubles the room, to at most max keys.  Returns -1 if it is max already or memory is short. */
int ag_hash_map_grow(struct ag_hash_map *map, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));

/* Returns NULL if the key is 0 or exists already, or if the map is full. */
struct ag_hash_entry *ag_hash_map_add(struct ag_hash_map *map, uint64_t key, uint32_t number);

/* Returns the number of slots, for iteration. */
static inline size_t ag_hash_map_slots(const struct ag_hash_map *map)
{
	return (size_t)1 << (64 - map->shift);
}

/* Returns the slot of a key, or the empty slot where it would be added. */
static inline struct ag_hash_entry *ag_hash_map_probe(const struct ag_hash_map *map,
						      uint64_t key)
{
	size_t mask = ag_hash_map_slots(map) - 1;
	/* 2^64 / golden ratio, as in ag_class_map */
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> map->shift);

	while (map->slots[i].key != key && map->slots[i].key != 0)
		i = (i + 1) & mask;
	return &map->slots[i];
}

#endif
