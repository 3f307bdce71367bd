/* Optimised for speed, because application threads call these functions. */
#ifndef __clang__ /* clang lacks this pragma */
#pragma GCC optimize("O2")
#endif

#include "util/concurrent_table.h"

#define UNIT 8u /* the unit, in bytes, of the item offsets in `slots` and `order` */

static struct ag_item *item_at(const struct ag_table *table, uint32_t offset)
{
	return (struct ag_item *)(void *)(table->arena->base + (size_t)offset * UNIT);
}

/*
 * Returns an item's offset in units of UNIT bytes.  No offset is 0, because the table precedes all
 * items in the arena.
 */
static uint32_t offset_of(const struct ag_table *table, const struct ag_item *item)
{
	return (uint32_t)((size_t)((const uint8_t *)item - table->arena->base) / UNIT);
}

int ag_table_init(struct ag_table *table, struct ag_arena *arena, uint32_t n)
{
	uint32_t bits = 1;

	while (bits < 31 && UINT32_C(2) << bits <= n)
		bits++;
	*table = (struct ag_table){ .arena = arena, .bits = bits };
	/* a quarter of the slots stays empty, so that probe sequences are short */
	table->max = (UINT32_C(1) << bits) / 4 * 3;
	table->slots = ag_arena_take(arena, sizeof(*table->slots) << bits);
	table->order = ag_arena_take(arena, table->max * sizeof(*table->order));
	return table->slots && table->order && table->max > 0 ? 0 : -1;
}

/*
 * Returns the slot of the item that equals the key; if there is none, the empty slot where it would
 * be added; NULL if there is none and no slot is empty.  Stores the value of the returned slot in
 * *offset.
 */
static uint32_t *probe(const struct ag_table *table, uint32_t hash, ag_table_same_fn *same,
		       const void *key, uint32_t *offset)
{
	uint32_t mask = (UINT32_C(1) << table->bits) - 1;
	/* the factor is 2^32 / golden ratio, as in ag_class_map_probe() */
	uint32_t i = hash * UINT32_C(0x9e3779b9) >> (32 - table->bits);

	for (uint32_t tried = 0; tried <= mask; tried++, i = (i + 1) & mask) {
		const struct ag_item *item;

		*offset = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE);
		if (*offset == 0)
			return &table->slots[i];
		item = item_at(table, *offset);
		if (item->hash == hash && same(item, key))
			return &table->slots[i];
	}
	return NULL;
}

struct ag_item *ag_table_find(const struct ag_table *table, uint32_t hash,
			      ag_table_same_fn *same, const void *key)
{
	uint32_t offset;

	return probe(table, hash, same, key, &offset) && offset ? item_at(table, offset) : NULL;
}

struct ag_item *ag_table_add(struct ag_table *table, struct ag_item *item,
			     ag_table_same_fn *same, const void *key)
{
	uint32_t own = offset_of(table, item), offset;

	while (!ag_table_full(table)) {
		uint32_t *slot = probe(table, item->hash, same, key, &offset);

		if (!slot)
			return NULL;
		if (offset)
			return item_at(table, offset);
		if (__atomic_compare_exchange_n(slot, &offset, own, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return item;
	}
	return NULL;
}

/*
 * Assigns a number without a lock:
 * 1. Every thread tries to store the offset of its own item in order[next].  Only the first thread
 *    succeeds; the item of this thread gets the number `next`.
 * 2. Every thread, not only the first, stores the number in that item and advances table->n.  So no
 *    thread waits for the first thread, which may be suspended.
 *
 * No item gets two numbers: table->n advances past a number only after the number is stored in its
 * item, and a thread loads table->n before item->number, so the thread sees every number that is
 * below the loaded table->n.
 */
uint32_t ag_table_number(struct ag_table *table, struct ag_item *item)
{
	for (;;) {
		uint32_t next = __atomic_load_n(&table->n, __ATOMIC_ACQUIRE), offset = 0;
		uint32_t number = __atomic_load_n(&item->number, __ATOMIC_ACQUIRE);

		if (number)
			return number - 1;
		if (next >= table->max)
			return AG_NUMBER_NONE;
		if (__atomic_compare_exchange_n(&table->order[next], &offset,
						offset_of(table, item), false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			offset = offset_of(table, item);
		__atomic_store_n(&item_at(table, offset)->number, next + 1, __ATOMIC_RELEASE);
		(void)__atomic_compare_exchange_n(&table->n, &next, next + 1, false,
						  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
}

/* Compares `number` with `max`, not `n`: the item of order[n] may have its number already. */
struct ag_item *ag_table_get(const struct ag_table *table, uint32_t number)
{
	uint32_t offset = 0;

	if (number < table->max)
		offset = __atomic_load_n(&table->order[number], __ATOMIC_ACQUIRE);
	return offset ? item_at(table, offset) : NULL;
}

struct ag_item *ag_table_in(const struct ag_table *table, uint32_t slot)
{
	uint32_t offset = __atomic_load_n(&table->slots[slot], __ATOMIC_ACQUIRE);

	return offset ? item_at(table, offset) : NULL;
}
