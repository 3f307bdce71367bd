#include "model/graph_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/graph_in.h"

#define TABLE_MIN 64

void graph_map_release(struct graph_map *map)
{
	free(map->table);
	bigarray_free(map->blocks);
	bigarray_free(map->numbers);
	*map = (struct graph_map){ 0 };
}

size_t graph_map_bytes(const struct graph_map *map)
{
	return map->table_cap * sizeof(*map->table) +
	       map->n_pages * GRAPH_MAP_PAGE * sizeof(*map->blocks) +
	       map->n_units * GRAPH_MAP_UNIT * sizeof(*map->numbers);
}

static size_t slot_of(const struct graph_map *map, uint64_t key)
{
	size_t mask = map->table_cap - 1;
	size_t at = (size_t)(key * map->factor >> 32) & mask;

	while (map->table[at].key && map->table[at].key != key)
		at = (at + 1) & mask;
	return at;
}

static void grow_table(struct graph_map *map)
{
	struct graph_map old = *map;

	if (!map->factor) {
		arc4random_buf(&map->factor, sizeof(map->factor));
		map->factor |= 1;
	}
	map->table_cap = old.table_cap ? old.table_cap * 2 : TABLE_MIN;
	map->table = xcalloc(map->table_cap, sizeof(*map->table));
	for (size_t i = 0; i < old.table_cap; i++) {
		if (old.table[i].key)
			map->table[slot_of(map, old.table[i].key)] = old.table[i];
	}
	free(old.table);
}

static uint32_t new_page(struct graph_map *map, uint64_t key)
{
	size_t blocks = map->n_pages * GRAPH_MAP_PAGE;
	size_t at;

	if (map->n_pages >= map->table_cap / 2)
		grow_table(map);
	at = slot_of(map, key);
	map->blocks = bigarray_grow(map->blocks, map->n_pages, &map->cap_pages,
				 GRAPH_MAP_PAGE * sizeof(*map->blocks));
	memset(&map->blocks[blocks], 0, GRAPH_MAP_PAGE * sizeof(*map->blocks));
	map->table[at].key = key;
	map->table[at].page = (uint32_t)map->n_pages++;
	return map->table[at].page;
}

static uint32_t page_of(struct graph_map *map, uint64_t key)
{
	size_t at;

	if (key == map->last_key)
		return map->last_page;
	at = map->table ? slot_of(map, key) : 0;
	map->last_page = map->table && map->table[at].key ? map->table[at].page :
							     new_page(map, key);
	map->last_key = key;
	return map->last_page;
}

/* Room for so many units of numbers. */
static uint32_t take_units(struct graph_map *map, unsigned units)
{
	uint32_t at = map->free[units];

	if (at) {
		map->free[units] = map->numbers[(size_t)--at * GRAPH_MAP_UNIT];
		return at;
	}
	at = (uint32_t)map->n_units;
	map->n_units += units;
	while (map->n_units > map->cap_units)
		map->numbers = bigarray_grow(map->numbers, map->cap_units, &map->cap_units,
					  GRAPH_MAP_UNIT * sizeof(*map->numbers));
	return at;
}

static void give_units(struct graph_map *map, uint32_t at, unsigned units)
{
	map->numbers[(size_t)at * GRAPH_MAP_UNIT] = map->free[units];
	map->free[units] = at + 1;
}

static uint64_t bit_of(uint64_t address)
{
	return UINT64_C(1) << address / 8 % 64;
}

static unsigned rank_of(const struct graph_map_block *block, uint64_t bit)
{
	return (unsigned)__builtin_popcountll(block->begins & (bit - 1));
}

static uint32_t *numbers_of(const struct graph_map *map, const struct graph_map_block *block)
{
	return &map->numbers[(size_t)block->numbers * GRAPH_MAP_UNIT];
}

/* The block's numbers fill all their units: give it one more. */
static void widen(struct graph_map *map, struct graph_map_block *block, unsigned n)
{
	unsigned units = n / GRAPH_MAP_UNIT;
	uint32_t to = take_units(map, units + 1);

	if (units > 0) {
		memcpy(&map->numbers[(size_t)to * GRAPH_MAP_UNIT], numbers_of(map, block),
		       n * sizeof(*map->numbers));
		give_units(map, block->numbers, units);
	}
	block->numbers = to;
}

static uint32_t insert(struct graph_map *map, struct graph_map_block *block, uint64_t bit)
{
	unsigned n = (unsigned)__builtin_popcountll(block->begins);
	unsigned rank = rank_of(block, bit);
	uint32_t *numbers;

	if (n % GRAPH_MAP_UNIT == 0)
		widen(map, block, n);
	numbers = numbers_of(map, block);
	memmove(&numbers[rank + 1], &numbers[rank], (n - rank) * sizeof(*numbers));
	numbers[rank] = map->n;
	block->begins |= bit;
	return map->n++;
}

size_t graph_map_block(struct graph_map *map, uint64_t address)
{
	uint64_t word = address / 8;
	size_t page = page_of(map, (word >> GRAPH_MAP_PAGE_BITS) + 1);
	size_t block = page * GRAPH_MAP_PAGE + word / 64 % GRAPH_MAP_PAGE;

	__builtin_prefetch(&map->blocks[block]);
	return block;
}

void graph_map_expect(const struct graph_map *map, size_t at, uint64_t address)
{
	const struct graph_map_block *block = &map->blocks[at];

	if (block->begins)
		__builtin_prefetch(numbers_of(map, block) + rank_of(block, bit_of(address)));
}

uint32_t graph_map_look(const struct graph_map *map, size_t at, uint64_t address)
{
	const struct graph_map_block *block = &map->blocks[at];
	uint64_t bit = bit_of(address);

	return block->begins & bit ? numbers_of(map, block)[rank_of(block, bit)] : GRAPH_NONE;
}

uint32_t graph_map_number(struct graph_map *map, size_t at, uint64_t address)
{
	uint32_t number = graph_map_look(map, at, address);

	return number == GRAPH_NONE ? insert(map, &map->blocks[at], bit_of(address)) : number;
}
