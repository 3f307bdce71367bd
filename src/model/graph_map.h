/*
 * From the address of an object to its number, made while the objects are met.
 *
 * Addresses are known in no order and objects are small, so a hash table of all of them would
 * take 16 bytes an object and a cache miss a look; here an object takes about 6 bytes, and
 * neighbours share their cache lines.
 */
#ifndef JTOOL_MODEL_GRAPH_MAP_H
#define JTOOL_MODEL_GRAPH_MAP_H

#include <stddef.h>
#include <stdint.h>

/* 64 words of the heap: which of them an object begins at, and where their numbers are. */
struct graph_map_block {
	uint64_t begins;
	uint32_t numbers; /* in units of GRAPH_MAP_UNIT */
	uint32_t unused;
};

#define GRAPH_MAP_UNIT 4            /* numbers that are allocated together */
#define GRAPH_MAP_SIZES (64 / GRAPH_MAP_UNIT + 1)
#define GRAPH_MAP_PAGE 32           /* blocks of a page: 16 KB of heap */
#define GRAPH_MAP_PAGE_BITS 11      /* words of a page, as a power of two */

struct graph_map {
	struct {
		uint64_t key; /* of the page, + 1; 0: free */
		uint32_t page;
	} *table;
	size_t table_cap; /* a power of two */
	uint64_t factor;  /* by lot: nobody can choose addresses that get in each other's way */
	struct graph_map_block *blocks; /* GRAPH_MAP_PAGE a page */
	size_t n_pages, cap_pages;
	uint32_t *numbers;
	size_t n_units, cap_units;
	uint32_t free[GRAPH_MAP_SIZES]; /* first of a list of free pieces so large, + 1 */
	uint64_t last_key;
	uint32_t last_page;
	uint32_t n; /* objects */
};

void graph_map_release(struct graph_map *map);
/*
 * The number of an object, in three steps, since each waits for memory: many objects are looked
 * up at once, so that the memory of all is on its way when the first is needed.
 */
size_t graph_map_block(struct graph_map *map, uint64_t address);
void graph_map_expect(const struct graph_map *map, size_t block, uint64_t address);
/* GRAPH_NONE: it has none yet. */
uint32_t graph_map_look(const struct graph_map *map, size_t block, uint64_t address);
/* A new one gets the next. */
uint32_t graph_map_number(struct graph_map *map, size_t block, uint64_t address);
/* Bytes that it takes. */
size_t graph_map_bytes(const struct graph_map *map);

#endif
