/*
 * A lock-free hash table.  ag_table_number() gives items consecutive numbers, from 0.  Any thread
 * finds and adds items without waiting for another thread.  Items are never removed.  The table and
 * the items are in an arena, whose unused pages take no memory.
 */
#ifndef JTOOL_AGENT_UTIL_CONCURRENT_TABLE_H
#define JTOOL_AGENT_UTIL_CONCURRENT_TABLE_H

#include <stdbool.h>

#include "util/arena.h"

/* The header with which each item begins. */
struct ag_item {
	uint32_t hash;
	uint32_t number; /* 1 + what ag_table_number() returns; 0: none yet; accessed atomically */
};
#define AG_NUMBER_NONE UINT32_MAX

struct ag_table {
	struct ag_arena *arena;
	/*
	 * Hash slots, with open addressing.  A slot has the offset of an item in the arena, divided
	 * by 8; 0: empty.  Accessed atomically.
	 */
	uint32_t *slots;
	/*
	 * order[i] is the offset, as in `slots`, of the item with the number i; 0: the number is
	 * not assigned.  Accessed atomically.
	 */
	uint32_t *order;
	uint32_t bits;   /* log2 of the number of slots */
	uint32_t max;    /* limit of n */
	uint32_t n;      /* items that have a number; accessed atomically */
};

/*
 * Creates a table with n slots, rounded down to a power of two; at most three quarters of the slots
 * are used.  Returns -1 if the arena has no room.  The arena must not exceed 32 GB.
 */
int ag_table_init(struct ag_table *table, struct ag_arena *arena, uint32_t n);

typedef bool ag_table_same_fn(const struct ag_item *item, const void *key);

/* Returns the item that has this hash and for which same(item, key) is true, or NULL. */
struct ag_item *ag_table_find(const struct ag_table *table, uint32_t hash,
			      ag_table_same_fn *same, const void *key);

/* Returns true if all numbers are assigned.  Then ag_table_add() adds no item any more. */
static inline bool ag_table_full(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_RELAXED) >= table->max;
}

/*
 * Adds an item that is in the table's arena and has its hash and its key set.  Returns this item,
 * or an equal item that another thread has added before, or NULL if the table is full.
 */
struct ag_item *ag_table_add(struct ag_table *table, struct ag_item *item,
			     ag_table_same_fn *same, const void *key);

/* Returns an item's number, assigned at the first call, or AG_NUMBER_NONE if all are assigned. */
uint32_t ag_table_number(struct ag_table *table, struct ag_item *item);

static inline uint32_t ag_table_count(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_ACQUIRE);
}

/* Returns the item that has this number, or NULL. */
struct ag_item *ag_table_get(const struct ag_table *table, uint32_t number);

/* Returns the number of slots.  ag_table_in() returns the item in one slot, or NULL. */
static inline uint32_t ag_table_slots(const struct ag_table *table)
{
	return table->slots ? UINT32_C(1) << table->bits : 0;
}
struct ag_item *ag_table_in(const struct ag_table *table, uint32_t slot);

#endif
