#include "util/hash_map.h"

int ag_hash_map_init(struct ag_hash_map *map, struct ag_mem *mem, uint32_t max)
{
	unsigned bits = 4;

	while (((uint64_t)1 << bits) < (uint64_t)max * 2)
		bits++;
	*map = (struct ag_hash_map){ .shift = 64 - bits, .max = max };
	map->slots = ag_alloc(mem, (size_t)1 << bits, sizeof(*map->slots));
	return map->slots ? 0 : -1;
}

void ag_hash_map_release(struct ag_hash_map *map, struct ag_mem *mem)
{
	ag_free(mem, map->slots);
	*map = (struct ag_hash_map){ 0 };
}

struct ag_hash_entry *ag_hash_map_add(struct ag_hash_map *map, uint64_t key, uint32_t number)
{
	struct ag_hash_entry *slot;

	if (key == 0 || map->n == map->max)
		return NULL;
	slot = ag_hash_map_probe(map, key);
	if (slot->key == key)
		return NULL;
	*slot = (struct ag_hash_entry){ .key = key, .number = number };
	map->n++;
	return slot;
}

int ag_hash_map_grow(struct ag_hash_map *map, struct ag_mem *mem, uint32_t max)
{
	struct ag_hash_map larger;

	if (map->max >= max)
		return -1;
	if (ag_hash_map_init(&larger, mem, map->max > max / 2 ? max : map->max * 2) != 0)
		return -1;
	for (size_t i = 0; i < ag_hash_map_slots(map); i++) {
		const struct ag_hash_entry *from = &map->slots[i];

		if (from->key != 0)
			*ag_hash_map_probe(&larger, from->key) = *from;
	}
	larger.n = map->n;
	ag_hash_map_release(map, mem);
	*map = larger;
	return 0;
}
