/* Built for speed: it is looked into on the application's threads. */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "base/table.h"

#define UNIT 8u /* bytes; items lie at multiples of it */

static struct ag_item *item_at(const struct ag_table *table, uint32_t where)
{
	return (struct ag_item *)(void *)(table->arena->base + (size_t)where * UNIT);
}

/* Never 0: before all items there is the table itself. */
static uint32_t where_is(const struct ag_table *table, const struct ag_item *item)
{
	return (uint32_t)((size_t)((const uint8_t *)item - table->arena->base) / UNIT);
}

int ag_table_init(struct ag_table *table, struct ag_arena *arena, uint32_t n)
{
	uint32_t bits = 1;

	while (bits < 31 && UINT32_C(2) << bits <= n)
		bits++;
	*table = (struct ag_table){ .arena = arena, .bits = bits };
	table->max = (UINT32_C(1) << bits) / 4 * 3; /* so that an empty slot is near */
	table->slots = ag_arena_take(arena, sizeof(*table->slots) << bits);
	table->order = ag_arena_take(arena, table->max * sizeof(*table->order));
	return table->slots && table->order && table->max > 0 ? 0 : -1;
}

/*
 * The slot of the item that is the same, or the empty one where it would go, *where being what is
 * in it; NULL: there is neither.
 */
static uint32_t *probe(const struct ag_table *table, uint32_t hash, ag_table_same_fn *same,
		       const void *key, uint32_t *where)
{
	uint32_t mask = (UINT32_C(1) << table->bits) - 1;
	/* 2^32 / golden ratio, as in ag_map */
	uint32_t i = hash * UINT32_C(0x9e3779b9) >> (32 - table->bits);

	for (uint32_t tried = 0; tried <= mask; tried++, i = (i + 1) & mask) {
		const struct ag_item *item;

		*where = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE);
		if (*where == 0)
			return &table->slots[i];
		item = item_at(table, *where);
		if (item->hash == hash && same(item, key))
			return &table->slots[i];
	}
	return NULL;
}

struct ag_item *ag_table_find(const struct ag_table *table, uint32_t hash,
			      ag_table_same_fn *same, const void *key)
{
	uint32_t where;

	return probe(table, hash, same, key, &where) && where ? item_at(table, where) : NULL;
}

struct ag_item *ag_table_add(struct ag_table *table, struct ag_item *item,
			     ag_table_same_fn *same, const void *key)
{
	uint32_t own = where_is(table, item), where;

	while (!ag_table_full(table)) {
		uint32_t *slot = probe(table, item->hash, same, key, &where);

		if (!slot)
			return NULL;
		if (where)
			return item_at(table, where);
		if (__atomic_compare_exchange_n(slot, &where, own, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return item;
	}
	return NULL;
}

/*
 * The next number is given to whoever gets into its place, by all who want one: nobody waits for
 * a thread that was stopped half way.  An item's own number is looked at after the next one is
 * known, and set before that goes on, so that none gets two.
 */
uint32_t ag_table_number(struct ag_table *table, struct ag_item *item)
{
	for (;;) {
		uint32_t next = __atomic_load_n(&table->n, __ATOMIC_ACQUIRE), where = 0;
		uint32_t number = __atomic_load_n(&item->number, __ATOMIC_ACQUIRE);

		if (number)
			return number - 1;
		if (next >= table->max)
			return AG_NUMBER_NONE;
		if (__atomic_compare_exchange_n(&table->order[next], &where,
						where_is(table, item), false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			where = where_is(table, item);
		__atomic_store_n(&item_at(table, where)->number, next + 1, __ATOMIC_RELEASE);
		(void)__atomic_compare_exchange_n(&table->n, &next, next + 1, false,
						  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
}

/* An item has its number, and may be asked for by it, before that is counted. */
struct ag_item *ag_table_get(const struct ag_table *table, uint32_t number)
{
	uint32_t where = 0;

	if (number < table->max)
		where = __atomic_load_n(&table->order[number], __ATOMIC_ACQUIRE);
	return where ? item_at(table, where) : NULL;
}

struct ag_item *ag_table_in(const struct ag_table *table, uint32_t slot)
{
	uint32_t where = __atomic_load_n(&table->slots[slot], __ATOMIC_ACQUIRE);

	return where ? item_at(table, where) : NULL;
}
