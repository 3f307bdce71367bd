/*
 * A hash table that maps a number of a class, such as its klass word, to an index.
 *
 * The size is fixed at creation, so that a heap callback, which must not allocate memory, can add
 * keys.  A slot has only 8 bytes, so that a table of 30,000 classes fits into the CPU cache.
 */
#ifndef JTOOL_AGENT_UTIL_CLASS_MAP_H
#define JTOOL_AGENT_UTIL_CLASS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/mem.h"

struct ag_class_slot {
	uint32_t key; /* 0: empty */
	uint32_t index;
};

struct ag_class_map {
	struct ag_class_slot *slots; /* their number is a power of two, at least 2 * max */
	unsigned shift;              /* 64 - log2(number of slots) */
	uint32_t n, max;
};

/* Creates a table for at most max keys.  Returns -1 if there is no memory. */
int ag_class_map_init(struct ag_class_map *map, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));
/* Frees the table.  Does nothing if *map is all zero. */
void ag_class_map_release(struct ag_class_map *map, struct ag_mem *mem);

/* Adds a key.  Returns false if the key is 0 or exists already, or if the map is full. */
bool ag_class_map_add(struct ag_class_map *map, uint32_t key, uint32_t index);

/* Returns the number of slots, for a loop over all slots. */
static inline size_t ag_class_map_slots(const struct ag_class_map *map)
{
	return map->slots ? (size_t)1 << (64 - map->shift) : 0;
}

/* Returns the slot that has the key, or the empty slot where the key would be added. */
static inline struct ag_class_slot *ag_class_map_probe(const struct ag_class_map *map, uint32_t key)
{
	size_t mask = ag_class_map_slots(map) - 1;
	/*
	 * The factor is 2^64 / golden ratio.  The multiplication distributes the keys evenly over
	 * the slots, even if the differences between keys are regular, as with klass words.
	 */
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> map->shift);

	while (map->slots[i].key != key && map->slots[i].key != 0)
		i = (i + 1) & mask;
	return &map->slots[i];
}

#endif
