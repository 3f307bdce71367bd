#include "util/class_map.h"

int ag_class_map_init(struct ag_class_map *map, struct ag_mem *mem, uint32_t max)
{
	unsigned bits = 4;

	while (((uint64_t)1 << bits) < (uint64_t)max * 2)
		bits++;
	*map = (struct ag_class_map){ .shift = 64 - bits, .max = max };
	map->slots = ag_alloc(mem, (size_t)1 << bits, sizeof(*map->slots));
	return map->slots ? 0 : -1;
}

void ag_class_map_release(struct ag_class_map *map, struct ag_mem *mem)
{
	ag_free(mem, map->slots);
	*map = (struct ag_class_map){ 0 };
}

bool ag_class_map_add(struct ag_class_map *map, uint32_t key, uint32_t index)
{
	struct ag_class_slot *slot;

	if (key == 0 || map->n == map->max)
		return false;
	slot = ag_class_map_probe(map, key);
	if (slot->key == key)
		return false;
	*slot = (struct ag_class_slot){ key, index };
	map->n++;
	return true;
}
