/*
 * A lock-free hash table.  Any thread can find and add items without waiting for another thread.
 * Items are never removed.  ag_table_number() gives items consecutive numbers, from 0 on.  The
 * table and the items are in an arena, so pages that they do not use yet take no memory.
 */
#ifndef JTOOL_AGENT_UTIL_CONCURRENT_TABLE_H
#define JTOOL_AGENT_UTIL_CONCURRENT_TABLE_H

#include <stdbool.h>

#include "util/arena.h"

/* The header with which each item begins. */
struct ag_item {
	uint32_t hash;
	uint32_t number; /* 1 + the item's number; 0: it has no number yet; accessed atomically */
};
#define AG_NUMBER_NONE UINT32_MAX

struct ag_table {
	struct ag_arena *arena;
	/*
	 * Hash slots, with open addressing.  A slot has an item's offset in bytes from the start of
	 * the arena, divided by 8; 0: the slot is empty.  Accessed atomically.
	 */
	uint32_t *slots;
	/*
	 * order[i] is the offset of the item with the number i, also divided by 8; 0: the number
	 * is not assigned.  Accessed atomically.
	 */
	uint32_t *order;
	uint32_t bits;   /* log2 of the number of slots */
	uint32_t max;    /* maximum of n; when n reaches it, no item is added any more */
	uint32_t n;      /* number of items that have a number; accessed atomically */
};

/*
 * Creates a table with n slots; n is rounded down to a power of two.  The table is full when
 * ag_table_number() has assigned 3/4 n numbers.  Returns 0, or -1 if the arena has no room.  The
 * arena must not exceed 32 GB.
 */
int ag_table_init(struct ag_table *table, struct ag_arena *arena, uint32_t n);

typedef bool ag_table_same_fn(const struct ag_item *item, const void *key);

/* Returns the item with this hash for which same(item, key) is true; NULL if there is none. */
struct ag_item *ag_table_find(const struct ag_table *table, uint32_t hash,
			      ag_table_same_fn *same, const void *key);

/* Returns true if all numbers are assigned.  From then on, ag_table_add() adds no item. */
static inline bool ag_table_full(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_RELAXED) >= table->max;
}

/*
 * Adds an item, which must be in the table's arena.  The caller has set the item's hash, and the
 * members that same() compares with `key`.  Returns this item; or the equal item that is in the
 * table already; or NULL if the table is full.
 */
struct ag_item *ag_table_add(struct ag_table *table, struct ag_item *item,
			     ag_table_same_fn *same, const void *key);

/* Returns the item's number; assigns the number if it has none.  AG_NUMBER_NONE: none is left. */
uint32_t ag_table_number(struct ag_table *table, struct ag_item *item);

static inline uint32_t ag_table_count(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_ACQUIRE);
}

/* Returns the item that has this number, or NULL. */
struct ag_item *ag_table_get(const struct ag_table *table, uint32_t number);

/* Returns the number of slots.  ag_table_in() returns the item in slot `slot`; NULL if empty. */
static inline uint32_t ag_table_slots(const struct ag_table *table)
{
	return table->slots ? UINT32_C(1) << table->bits : 0;
}
struct ag_item *ag_table_in(const struct ag_table *table, uint32_t slot);

#endif
