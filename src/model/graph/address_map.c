#include "model/graph/address_map.h"

#include <string.h>

#include "model/graph/graph_internal.h"

void address_map_release(struct address_map *map)
{
	id_map_release(&map->pages);
	mmap_array_free(map->blocks);
	mmap_array_free(map->numbers);
	*map = (struct address_map){ 0 };
}

size_t address_map_bytes(const struct address_map *map)
{
	return map->pages.cap * sizeof(*map->pages.entries) +
	       map->n_pages * ADDRESS_MAP_PAGE * sizeof(*map->blocks) +
	       map->n_units * ADDRESS_MAP_UNIT * sizeof(*map->numbers);
}

static void new_page(struct address_map *map)
{
	size_t blocks = map->n_pages * ADDRESS_MAP_PAGE;

	map->blocks = mmap_array_grow(map->blocks, map->n_pages, &map->cap_pages,
				      ADDRESS_MAP_PAGE * sizeof(*map->blocks));
	memset(&map->blocks[blocks], 0, ADDRESS_MAP_PAGE * sizeof(*map->blocks));
	map->n_pages++;
}

static uint32_t page_of(struct address_map *map, uint64_t key)
{
	if (key == map->last_key)
		return map->last_page;
	map->last_page = id_map_add(&map->pages, key, (uint32_t)map->n_pages);
	map->last_key = key;
	if (map->last_page == map->n_pages)
		new_page(map);
	return map->last_page;
}

/* Allocates space for `units` units of node numbers.  Returns the index of the first unit. */
static uint32_t take_units(struct address_map *map, unsigned units)
{
	uint32_t at = map->free[units];

	if (at) {
		map->free[units] = map->numbers[(size_t)--at * ADDRESS_MAP_UNIT];
		return at;
	}
	at = (uint32_t)map->n_units;
	map->n_units += units;
	while (map->n_units > map->cap_units)
		map->numbers = mmap_array_grow(map->numbers, map->cap_units, &map->cap_units,
					       ADDRESS_MAP_UNIT * sizeof(*map->numbers));
	return at;
}

static void give_units(struct address_map *map, uint32_t at, unsigned units)
{
	map->numbers[(size_t)at * ADDRESS_MAP_UNIT] = map->free[units];
	map->free[units] = at + 1;
}

static uint64_t bit_of(uint64_t address)
{
	return UINT64_C(1) << address / 8 % 64;
}

static unsigned rank_of(const struct address_map_block *block, uint64_t bit)
{
	return (unsigned)__builtin_popcountll(block->begins & (bit - 1));
}

static uint32_t *numbers_of(const struct address_map *map, const struct address_map_block *block)
{
	return &map->numbers[(size_t)block->numbers * ADDRESS_MAP_UNIT];
}

/* Moves the n node numbers of a block, which fill its units, to a space with one more unit. */
static void widen(struct address_map *map, struct address_map_block *block, unsigned n)
{
	unsigned units = n / ADDRESS_MAP_UNIT;
	uint32_t to = take_units(map, units + 1);

	if (units > 0) {
		memcpy(&map->numbers[(size_t)to * ADDRESS_MAP_UNIT], numbers_of(map, block),
		       n * sizeof(*map->numbers));
		give_units(map, block->numbers, units);
	}
	block->numbers = to;
}

static uint32_t insert(struct address_map *map, struct address_map_block *block, uint64_t bit)
{
	unsigned n = (unsigned)__builtin_popcountll(block->begins);
	unsigned rank = rank_of(block, bit);
	uint32_t *numbers;

	if (n % ADDRESS_MAP_UNIT == 0)
		widen(map, block, n);
	numbers = numbers_of(map, block);
	memmove(&numbers[rank + 1], &numbers[rank], (n - rank) * sizeof(*numbers));
	numbers[rank] = map->n;
	block->begins |= bit;
	return map->n++;
}

size_t address_map_block(struct address_map *map, uint64_t address)
{
	uint64_t word = address / 8;
	size_t page = page_of(map, (word >> ADDRESS_MAP_PAGE_BITS) + 1);
	size_t block = page * ADDRESS_MAP_PAGE + word / 64 % ADDRESS_MAP_PAGE;

	__builtin_prefetch(&map->blocks[block]);
	return block;
}

void address_map_prefetch(const struct address_map *map, size_t at, uint64_t address)
{
	const struct address_map_block *block = &map->blocks[at];

	if (block->begins)
		__builtin_prefetch(numbers_of(map, block) + rank_of(block, bit_of(address)));
}

uint32_t address_map_look(const struct address_map *map, size_t at, uint64_t address)
{
	const struct address_map_block *block = &map->blocks[at];
	uint64_t bit = bit_of(address);

	return block->begins & bit ? numbers_of(map, block)[rank_of(block, bit)] : GRAPH_NONE;
}

uint32_t address_map_number(struct address_map *map, size_t at, uint64_t address)
{
	uint32_t number = address_map_look(map, at, address);

	return number == GRAPH_NONE ? insert(map, &map->blocks[at], bit_of(address)) : number;
}
