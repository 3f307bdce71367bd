/*
 * Maps object addresses to node numbers while a graph is built.
 *
 * Addresses come in any order and objects are small, so a hash table would cost 16 bytes and a
 * cache miss for each object.  This map takes about 6 bytes for each object, and the entries of
 * objects with near addresses share cache lines.
 */
#ifndef JTOOL_MODEL_GRAPH_ADDRESS_MAP_H
#define JTOOL_MODEL_GRAPH_ADDRESS_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"

/* The objects that begin in 64 consecutive words of the heap. */
struct address_map_block {
	uint64_t begins;  /* bit i: an object begins at word i */
	/*
	 * index of a unit in address_map.numbers.  This unit and the next ones contain the node
	 * numbers of the block's objects, in the order of the addresses.
	 */
	uint32_t numbers;
	uint32_t unused;
};

#define ADDRESS_MAP_UNIT 4 /* a unit is this many entries of address_map.numbers */
#define ADDRESS_MAP_SIZES (64 / ADDRESS_MAP_UNIT + 1) /* a block takes 0 to 16 units */
#define ADDRESS_MAP_PAGE 32      /* blocks per page; a page is 16 KB of heap */
#define ADDRESS_MAP_PAGE_BITS 11 /* log2 of words per page */

struct address_map {
	struct id_map pages; /* 1 + address / 16 KB -> number of the page */
	/* the blocks of page n are blocks[n * ADDRESS_MAP_PAGE] and the following ones */
	struct address_map_block *blocks;
	size_t n_pages, cap_pages;
	uint32_t *numbers; /* node numbers; the units of a block are adjacent */
	size_t n_units, cap_units;
	/* free[k]: 1 + the index of the first unit of a free space of k units; 0: none */
	uint32_t free[ADDRESS_MAP_SIZES];
	uint64_t last_key;
	uint32_t last_page;
	uint32_t n; /* number of objects */
};

void address_map_release(struct address_map *map);
/*
 * Step 1 of a lookup: returns the index in `blocks` of the block that contains the address.  Do
 * step 1 for many objects, then step 2 for all of them, then step 3, because each step prefetches
 * data for the next step.
 */
size_t address_map_block(struct address_map *map, uint64_t address);
/* Step 2: prefetches the node number of the object. */
void address_map_prefetch(const struct address_map *map, size_t block, uint64_t address);
/* Step 3, variant 1: returns the object's node number, or GRAPH_NONE if it has none. */
uint32_t address_map_look(const struct address_map *map, size_t block, uint64_t address);
/* Step 3, variant 2: returns the object's node number; a new object gets the next number. */
uint32_t address_map_number(struct address_map *map, size_t block, uint64_t address);
size_t address_map_bytes(const struct address_map *map); /* bytes of memory that the map uses */

#endif
