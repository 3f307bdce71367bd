/*
 * Items that are found by what they are, and by numbers in the order in which they came.  Any
 * thread finds and adds them, without a lock and without waiting for another one; none is ever
 * taken out.  They lie in an arena, and so does the table, of which pages that are not used cost
 * nothing.
 */
#ifndef JTOOL_AGENT_BASE_TABLE_H
#define JTOOL_AGENT_BASE_TABLE_H

#include <stdbool.h>

#include "base/arena.h"

/* What each item begins with. */
struct ag_item {
	uint32_t hash;
	uint32_t number; /* atomic: 1 + its number, 0: it has none yet */
};
#define AG_NUMBER_NONE UINT32_MAX

struct ag_table {
	struct ag_arena *arena;
	uint32_t *slots; /* open addressing: where items lie in the arena, 0 for none; atomic */
	uint32_t *order; /* the same by number; atomic */
	uint32_t bits;   /* log2 of slots */
	uint32_t max;    /* items */
	uint32_t n;      /* atomic: that have a number */
};

/*
 * With n slots, or the power of two below, three quarters of which are used at most.  -1: the arena
 * has no room.  It is 32 GB at most.
 */
int ag_table_init(struct ag_table *table, struct ag_arena *arena, uint32_t n);

typedef bool ag_table_same_fn(const struct ag_item *item, const void *key);

/* The item of this hash that is the same as the key; NULL: none. */
struct ag_item *ag_table_find(const struct ag_table *table, uint32_t hash,
			      ag_table_same_fn *same, const void *key);

/* Will none be taken any more? */
static inline bool ag_table_full(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_RELAXED) >= table->max;
}

/*
 * Add an item of the arena, which has its hash and all else that it is found by.  The item that
 * is in the table now: another thread may have been faster with the same; NULL: it is full.
 */
struct ag_item *ag_table_add(struct ag_table *table, struct ag_item *item,
			     ag_table_same_fn *same, const void *key);

/* The number of an item in the table; AG_NUMBER_NONE: numbers have run out. */
uint32_t ag_table_number(struct ag_table *table, struct ag_item *item);

static inline uint32_t ag_table_count(const struct ag_table *table)
{
	return __atomic_load_n(&table->n, __ATOMIC_ACQUIRE);
}

/* The item with a number; NULL: there is none yet. */
struct ag_item *ag_table_get(const struct ag_table *table, uint32_t number);

/* To visit all, also one without a number: the item in a slot, or NULL. */
static inline uint32_t ag_table_slots(const struct ag_table *table)
{
	return table->slots ? UINT32_C(1) << table->bits : 0;
}
struct ag_item *ag_table_in(const struct ag_table *table, uint32_t slot);

#endif
