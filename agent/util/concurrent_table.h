/*
 * A lock-free hash table, whose items can also be numbered from 0 with ag_table_number().  Any
 * thread finds and adds items without waiting for another thread.  Items are never removed.  The
 * table and the items are in an arena, whose unused pages take no memory.
 */
#ifndef JTOOL_AGENT_UTIL_CONCURRENT_TABLE_H
#define JTOOL_AGENT_UTIL_CONCURRENT_TABLE_H

#include <stdbool.h>

#include "util/arena.h"

/* The header of each item. */
struct ag_item {
	uint32_t hash;
	uint32_t number; /* atomic: 1 + the number of the item; 0: none yet */
};
#define AG_NUMBER_NONE UINT32_MAX

struct ag_table {
	struct ag_arena *arena;
	uint32_t *slots; /* atomic: open addressing; item offsets in arena / 8; 0: empty */
	uint32_t *order; /* atomic: item offsets as in slots, by number; 0: not assigned */
	uint32_t bits;   /* log2 of the number of slots */
	uint32_t max;    /* items */
	uint32_t n;      /* atomic: items that have a number */
};

/*
 * Creates a table with n slots, rounded down to a power of two, of which three quarters can be
 * used.  Returns -1 if the arena has no room.  The arena has at most 32 GB.
 */
int ag_table_init(struct ag_table *table, struct ag_arena *arena, uint32_t n);

typedef bool ag_table_same_fn(const struct ag_item *item, const void *key);

/* Returns the item that has this hash and for which same() is true, or NULL. */
struct ag_item *ag_table_find(const struct ag_table *table, uint32_t hash,
			      ag_table_same_fn *same, const void *key);

/* Returns true if no further item can be added. */
static inline bool ag_table_full(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_RELAXED) >= table->max;
}

/*
 * Adds an item, which is in the arena and has its hash and key set.  Returns the item, or an equal
 * one that another thread has added before, or NULL if the table is full.
 */
struct ag_item *ag_table_add(struct ag_table *table, struct ag_item *item,
			     ag_table_same_fn *same, const void *key);

/* Returns the number of an item, assigned at the first call, or AG_NUMBER_NONE if none is left. */
uint32_t ag_table_number(struct ag_table *table, struct ag_item *item);

static inline uint32_t ag_table_count(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_ACQUIRE);
}

/* Returns the item with a number, or NULL. */
struct ag_item *ag_table_get(const struct ag_table *table, uint32_t number);

/* Returns the number of slots.  ag_table_in() returns the item in a slot, or NULL. */
static inline uint32_t ag_table_slots(const struct ag_table *table)
{
	return table->slots ? UINT32_C(1) << table->bits : 0;
}
struct ag_item *ag_table_in(const struct ag_table *table, uint32_t slot);

#endif
