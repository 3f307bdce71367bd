/*
 * Sites and their classes: many threads find sites and add to them at once, with much memory and
 * with little.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/alloc/alloc_sites.h"

#define MEM ((size_t)64 << 20)
#define N_THREADS 6
#define ROUNDS 20000
#define STACKS 3000
#define DEPTH 5

static struct ag_mem mem = { .budget = MEM };
static struct ag_arena arena;
static struct ag_sites sites;
static uint64_t dropped;

static void open_arena(size_t size)
{
	ck_assert_int_eq(ag_arena_init(&arena, &mem, size), 0);
}

static void close_arena(void)
{
	ag_arena_release(&arena, &mem);
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
}

/* Builds the stack for a number.  Stacks differ in depth or in the location of the first frame. */
static uint32_t make_stack(uint32_t number, jvmtiFrameInfo frames[DEPTH])
{
	uint32_t n = number % (DEPTH + 1);

	for (uint32_t i = 0; i < n; i++)
		frames[i] = (jvmtiFrameInfo){
			.method = (jmethodID)(uintptr_t)(0x7f0000001000 + 8 * i),
			.location = i == 0 ? (jlocation)(number / (DEPTH + 1)) - 1 : 7,
		};
	return n;
}

static uint32_t find(uint32_t number)
{
	jvmtiFrameInfo frames[DEPTH];
	uint32_t n = make_stack(number, frames);

	/* Sites without frames differ only in their class. */
	return ag_sites_find(&sites, n == 0 ? number : 1, frames, n);
}

START_TEST(an_arena_gives_what_it_has)
{
	uint8_t *last = NULL;
	size_t taken = 0;

	open_arena(4096);
	for (uint8_t *p; (p = ag_arena_take(&arena, 24)); last = p, taken += 24) {
		ck_assert_uint_eq((uintptr_t)p % 8, 0);
		ck_assert(!last || p >= last + 24);
		ck_assert(p + 24 <= arena.base + arena.size);
		for (int i = 0; i < 24; i++)
			ck_assert_uint_eq(p[i], 0);
		memset(p, 0xff, 24);
	}
	ck_assert_uint_gt(taken, 4096 - 64);
	for (int i = 0; i < 100000; i++)
		ck_assert_ptr_null(ag_arena_take(&arena, SIZE_MAX - (size_t)i));
	ck_assert_uint_le(arena.used, arena.size);
	close_arena();

	open_arena(4096);
	ck_assert_ptr_nonnull(ag_arena_take(&arena, 8));
	last = ag_arena_take(&arena, 65);
	ck_assert_uint_eq((uintptr_t)last % 64, 0);
	close_arena();
}
END_TEST

START_TEST(a_site_is_its_class_and_its_stack)
{
	struct ag_alloc_site site;
	jvmtiFrameInfo frames[3] = {
		{ (jmethodID)8, 5 }, { (jmethodID)16, 65534 }, { (jmethodID)24, -1 },
	};
	uint32_t first, other;

	open_arena(1 << 20);
	ck_assert_int_eq(ag_sites_init(&sites, &arena), 0);
	ck_assert(!ag_sites_get(&sites, 0, &site));
	first = ag_sites_find(&sites, 4, frames, 3);
	ck_assert_uint_eq(ag_sites_find(&sites, 4, frames, 3), first);
	other = ag_sites_find(&sites, 5, frames, 3);
	ck_assert_uint_ne(other, first);
	ck_assert_uint_ne(ag_sites_find(&sites, 4, frames, 2), first);
	frames[1].location = 65533;
	ck_assert_uint_ne(ag_sites_find(&sites, 4, frames, 3), first);
	frames[1].location = 65534;
	ag_sites_add(&sites, first, 256 * 3 + 128, 100, 2);
	ag_sites_add(&sites, first, 0, 11, 1);
	ag_sites_add_live(&sites, first, 256 + 127, 9);
	ck_assert(ag_sites_get(&sites, first, &site));
	ck_assert_uint_eq(site.kind, 4);
	ck_assert_uint_eq(site.objects, 4);
	ck_assert_uint_eq(site.bytes, 111);
	ck_assert_uint_eq(site.samples, 3);
	ck_assert_uint_eq(site.live_objects, 1);
	ck_assert_uint_eq(site.live_bytes, 9);
	ck_assert_uint_eq(site.n_frames, 3);
	ck_assert_uint_eq(site.methods[2], 24);
	ck_assert_uint_eq(site.bcis[1], 65534);
	ck_assert_uint_eq(site.bcis[2], AG_NATIVE);
	ag_sites_forget_live(&sites);
	ck_assert(ag_sites_get(&sites, first, &site));
	ck_assert_uint_eq(site.live_objects + site.live_bytes, 0);
	ck_assert_uint_eq(site.objects, 4);
	ck_assert_uint_eq(ag_sites_count(&sites), 4);
	ag_sites_add(&sites, AG_SITE_NONE, 256, 1, 1);
	ck_assert(!ag_sites_get(&sites, AG_SITE_NONE, &site));
	close_arena();
}
END_TEST

/* Adds to all sites.  Threads begin with different ones, so that all of them add new sites. */
static void *hammer(void *arg)
{
	uint32_t number = (uint32_t)(uintptr_t)arg * (STACKS / N_THREADS / 7);

	for (int i = 0; i < ROUNDS; i++, number++) {
		uint32_t site = find(number % STACKS);

		if (site == AG_SITE_NONE)
			(void)__atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
		else
			ag_sites_add(&sites, site, 256, number % STACKS, 1);
	}
	return NULL;
}

static void hammer_all(size_t size)
{
	pthread_t threads[N_THREADS];

	dropped = 0;
	open_arena(size);
	ck_assert_int_eq(ag_sites_init(&sites, &arena), 0);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, (void *)i), 0);
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

static uint64_t sum_up(void)
{
	struct ag_alloc_site site;
	uint64_t objects = 0;

	for (uint32_t i = 0; ag_sites_get(&sites, i, &site); i++) {
		ck_assert_uint_eq(site.objects, site.samples);
		objects += site.objects;
	}
	return objects;
}

/* If several threads add the same new site at once, there is one site. */
START_TEST(threads_agree_on_sites)
{
	for (int round = 0; round < 10; round++) {
		hammer_all(4 << 20);
		ck_assert_uint_eq(ag_sites_count(&sites), STACKS);
		ck_assert_uint_eq(dropped, 0);
		ck_assert_uint_eq(sum_up(), (uint64_t)N_THREADS * ROUNDS);
		for (uint32_t number = 0; number < STACKS; number++) {
			struct ag_alloc_site site;
			uint32_t i = find(number);

			ck_assert_uint_lt(i, STACKS);
			ck_assert(ag_sites_get(&sites, i, &site));
			ck_assert_uint_eq(site.bytes, site.objects * number);
		}
		ck_assert_uint_eq(ag_sites_count(&sites), STACKS);
		close_arena();
	}
}
END_TEST

/* Objects are counted as dropped if there is no memory for their site, else at their site. */
START_TEST(a_full_arena_counts_what_it_drops)
{
	for (size_t size = 512; size < 200000; size = size * 3 / 2) {
		hammer_all(size);
		ck_assert_uint_lt(ag_sites_count(&sites), STACKS);
		ck_assert_uint_gt(dropped, 0);
		ck_assert_uint_eq(sum_up() + dropped, (uint64_t)N_THREADS * ROUNDS);
		close_arena();
	}
}
END_TEST

/* A table of four slots accepts three sites; searches in the full table end, too. */
START_TEST(a_full_table_ends_every_search)
{
	struct ag_table table;
	struct ag_item *item;

	open_arena(1 << 20);
	ck_assert_int_eq(ag_sites_init(&sites, &arena), 0);
	ck_assert_int_eq(ag_table_init(&table, &arena, 4), 0);
	ck_assert_uint_eq(table.max, 3);
	sites.table = table;
	for (uint32_t number = 0; number < 50; number++)
		(void)find(number);
	ck_assert_uint_eq(ag_sites_count(&sites), 3);
	item = ag_table_get(&sites.table, 2);
	ck_assert_ptr_nonnull(item);
	ck_assert_ptr_null(ag_table_get(&sites.table, 3));
	for (uint32_t i = 0; i < ag_table_slots(&sites.table); i++)
		sites.table.slots[i] = sites.table.order[0];
	ck_assert_uint_eq(find(49), AG_SITE_NONE);
	close_arena();
}
END_TEST

START_TEST(so_little_memory_is_refused)
{
	open_arena(16);
	ck_assert_int_eq(ag_sites_init(&sites, &arena), -1);
	close_arena();
	mem.budget = 100;
	ck_assert_int_eq(ag_arena_init(&arena, &mem, 4096), -1);
	mem.budget = MEM;
	close_arena();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/alloc/alloc_sites");
	TCase *t = tcase_create("sites"), *threads = tcase_create("threads");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_set_timeout(threads, 120);
	tcase_add_test(t, an_arena_gives_what_it_has);
	tcase_add_test(t, a_site_is_its_class_and_its_stack);
	tcase_add_test(threads, threads_agree_on_sites);
	tcase_add_test(t, a_full_arena_counts_what_it_drops);
	tcase_add_test(t, a_full_table_ends_every_search);
	tcase_add_test(t, so_little_memory_is_refused);
	suite_add_tcase(s, t);
	suite_add_tcase(s, threads);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
