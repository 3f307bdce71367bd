/* The table of items, in an arena: equal items are added once, and numbers are consecutive. */
#include <string.h>

#include "agent/weak/weak.h"
#include "util/concurrent_table.h"

struct entry {
	struct ag_item item;
	uint64_t key;
};

static uint64_t memory[128] __attribute__((aligned(64)));
static struct ag_arena arena;
static struct ag_table table;
static struct ag_item *added[WEAK_THREADS + 1];

static bool is_same(const struct ag_item *item, const void *key)
{
	return ((const struct entry *)(const void *)item)->key == *(const uint64_t *)key;
}

static void begin(void)
{
	arena = (struct ag_arena){ .base = (uint8_t *)memory, .size = sizeof(memory) };
	WEAK_CHECK(ag_table_init(&table, &arena, 4) == 0);
}

static struct ag_item *add(uint64_t key)
{
	struct ag_item *item = ag_table_find(&table, 1, is_same, &key);
	struct entry *entry;

	if (item)
		return item;
	entry = ag_arena_take(&arena, sizeof(*entry));
	WEAK_CHECK(entry && ((uintptr_t)entry & 7) == 0);
	entry->item.hash = 1;
	entry->key = key;
	return ag_table_add(&table, &entry->item, is_same, &key);
}

static void add_same(void)
{
	added[weak_self()] = add(7);
}

static void same_is_added_once(void)
{
	WEAK_CHECK(added[1] && added[1] == added[2]);
}

static void add_other(void)
{
	added[weak_self()] = add(weak_self());
}

static void others_are_added(void)
{
	for (uint64_t key = 1; key <= 2; key++) {
		WEAK_CHECK(added[key] && added[key] == ag_table_find(&table, 1, is_same, &key));
		WEAK_CHECK(added[1] != added[2]);
	}
}

/* Finds and reads items that another thread adds: a data race if they are not published. */
static void find(void)
{
	uint64_t key = 1;
	const struct ag_item *item = ag_table_find(&table, 1, is_same, &key);

	if (item)
		WEAK_CHECK(is_same(item, &key));
	for (uint32_t i = 0; i < ag_table_slots(&table); i++) {
		item = ag_table_in(&table, i);
		if (item)
			WEAK_CHECK(is_same(item, &key));
	}
}

static void begin_with_two(void)
{
	uint64_t keys[] = { 1, 2 };

	begin();
	for (unsigned i = 0; i < 2; i++)
		added[i] = add(keys[i]);
}

static void number_two(void)
{
	uint32_t a = ag_table_number(&table, added[0]), b = ag_table_number(&table, added[1]);

	WEAK_CHECK(a < 2 && b < 2 && a != b);
	WEAK_CHECK(a == ag_table_number(&table, added[0]));
	WEAK_CHECK(ag_table_get(&table, a) == added[0]);
}

static void number_second(void)
{
	uint32_t b = ag_table_number(&table, added[1]);

	WEAK_CHECK(ag_table_get(&table, b) == added[1]);
}

static void numbers_are_consecutive(void)
{
	WEAK_CHECK(ag_table_count(&table) == 2);
	for (uint32_t i = 0; i < 2; i++)
		WEAK_CHECK(ag_table_number(&table, ag_table_get(&table, i)) == i);
	WEAK_CHECK(!ag_table_get(&table, 2));
}

static void add_and_number(void)
{
	struct ag_item *item = add(1);

	WEAK_CHECK(ag_table_number(&table, item) == 0);
}

static void read_numbered(void)
{
	uint32_t n = ag_table_count(&table);
	const struct ag_item *item = ag_table_get(&table, 0);
	uint64_t key = 1;

	WEAK_CHECK(n == 0 || item);
	if (item)
		WEAK_CHECK(is_same(item, &key));
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "equal items are added once", { add_same, add_same }, begin,
		  same_is_added_once },
		{ "other items are all added", { add_other, add_other }, begin,
		  others_are_added },
		{ "an item that is found is complete", { add_other, find }, begin, NULL },
		{ "a numbered item is complete", { add_and_number, read_numbered }, begin, NULL },
		{ "numbers are unique and consecutive", { number_two, number_second },
		  begin_with_two, numbers_are_consecutive },
		{ 0 },
	};

	static const struct weak_excuse excuses[] = {
		{ "ag_table_add compare slot: acquire", "the item that it adds is its own" },
		{ "ag_table_number compare &table->order[next]: acquire",
		  "only the number of the item is used, which is atomic" },
		{ "ag_table_number compare &table->order[next]: acquire if it fails",
		  "only the number of the item is used, which is atomic" },
		{ "ag_table_number compare &table->n: acquire", "the next round loads it again" },
		{ 0 },
	};

	return weak_run(tests, excuses);
}
