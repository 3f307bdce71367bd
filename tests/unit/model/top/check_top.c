/* The shares of threads and JVMs between two readings, names from dumps, and the order of rows. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "model/top/top_jvms.h"

#define MB (1 << 20)

static struct top_threads threads;
static struct vm_history history;
static struct vm_rates rates;

static void setup(void)
{
	threads = (struct top_threads){ NULL, 0, false };
	history = (struct vm_history){ .has_last = false };
}

static void teardown(void)
{
	top_threads_release(&threads);
}

static struct thread_reading thread(int64_t tid, uint64_t start, double cpu_s, const char *comm)
{
	struct thread_reading r = { .tid = tid, .start_ticks = start, .cpu_s = cpu_s,
				    .state = 'S' };

	(void)strncpy(r.comm, comm, sizeof(r.comm) - 1);
	return r;
}

static const struct top_thread *find(int64_t tid)
{
	for (size_t i = 0; i < threads.n; i++) {
		if (threads.list[i].tid == tid)
			return &threads.list[i];
	}
	ck_abort_msg("there is no thread %d", (int)tid);
	return NULL;
}

START_TEST(share_is_the_growth_between_two_readings)
{
	const struct thread_reading first[] = { thread(1, 10, 5, "a"), thread(2, 10, 1, "b") };
	const struct thread_reading then[] = { thread(1, 10, 6, "a"), thread(3, 99, 0.5, "c") };

	top_threads_update(&threads, first, 2, 0);
	ck_assert_double_eq(find(1)->cpu_percent, -1);
	top_threads_update(&threads, then, 2, 2);
	ck_assert_uint_eq(threads.n, 2);
	ck_assert_double_eq(find(1)->cpu_percent, 50);
	ck_assert_double_eq(find(3)->cpu_percent, 25);
	top_threads_update(&threads, then, 0, 2);
	ck_assert_uint_eq(threads.n, 0);
}
END_TEST

START_TEST(reused_tid_is_another_thread)
{
	const struct thread_reading first = thread(1, 10, 5, "old"), then = thread(1, 90, 1, "new");
	const struct thread_dump none = { .n = 0 };

	top_threads_update(&threads, &first, 1, 0);
	top_threads_ask(&threads);
	top_threads_name(&threads, &none);
	top_threads_update(&threads, &then, 1, 1);
	ck_assert_double_eq(find(1)->cpu_percent, 100);
	ck_assert(!find(1)->is_asked);
}
END_TEST

START_TEST(names_are_asked_for_threads_that_last)
{
	struct dump_thread in_dump[] = {
		{ .name = (char *)"http-worker-1", .id = 42, .tid = 1, .daemon = true },
		{ .name = (char *)"late", .id = 43, .tid = 2 },
		{ .name = (char *)"virtual", .id = 44, .tid = 1, .virtual = true },
		{ .name = (char *)"no tid", .id = 45, .tid = -1 },
		{ .name = (char *)"", .id = -1, .tid = 1 },
	};
	const struct thread_dump dump = { .threads = in_dump, .n = ARRAY_SIZE(in_dump) };
	const struct thread_reading both[] = { thread(1, 10, 0, "http-worker-"),
					       thread(2, 10, 0, "late") };

	top_threads_update(&threads, both, 1, 0);
	ck_assert(!top_threads_are_unknown(&threads));
	top_threads_update(&threads, both, 1, 1);
	ck_assert(top_threads_are_unknown(&threads));
	top_threads_ask(&threads);
	ck_assert(!top_threads_are_unknown(&threads));
	/* Thread 2 starts after the names were requested: its name is unknown in the dump. */
	top_threads_update(&threads, both, 2, 1);
	top_threads_name(&threads, &dump);
	ck_assert_str_eq(top_thread_name(find(1)), "http-worker-1");
	ck_assert_int_eq(find(1)->id, 42);
	ck_assert(find(1)->daemon);
	ck_assert_ptr_null(find(2)->name);
	ck_assert_str_eq(top_thread_name(find(2)), "late");
	ck_assert(!top_threads_are_unknown(&threads));
	top_threads_update(&threads, both, 2, 1);
	ck_assert(top_threads_are_unknown(&threads));
	ck_assert_str_eq(top_thread_name(find(1)), "http-worker-1");
}
END_TEST

static void check_order(struct top_filter filter, const char *tids)
{
	char got[32] = "";
	size_t n, *rows = top_threads_choose(&threads, &filter, &n);

	for (size_t i = 0; i < n; i++)
		got[i] = (char)('0' + threads.list[rows[i]].tid);
	free(rows);
	ck_assert_str_eq(got, tids);
}

START_TEST(rows_are_sorted_and_filtered)
{
	struct thread_reading first[] = { thread(1, 1, 9, "b"), thread(2, 1, 1, "a"),
					  thread(3, 1, 5, "pool-1"), thread(4, 1, 5, "pool-2") };
	struct thread_reading then[ARRAY_SIZE(first)];

	memcpy(then, first, sizeof(then));
	then[1].cpu_s += 1;
	then[1].state = 'R';
	top_threads_update(&threads, first, 4, 0);
	top_threads_update(&threads, then, 4, 1);
	check_order((struct top_filter){ .sort = TOP_SORT_CPU }, "2134");
	check_order((struct top_filter){ .sort = TOP_SORT_CPU, .reverse = true }, "4312");
	check_order((struct top_filter){ .sort = TOP_SORT_TIME }, "1342");
	check_order((struct top_filter){ .sort = TOP_SORT_NAME }, "2134");
	check_order((struct top_filter){ .sort = TOP_SORT_ID }, "1234");
	check_order((struct top_filter){ .glob = "pool-*" }, "34");
	check_order((struct top_filter){ .state = "Running" }, "2");
	check_order((struct top_filter){ .state = "stopped" }, "");
}
END_TEST

START_TEST(jvms_are_sorted_and_filtered)
{
	const struct top_jvm jvms[] = {
		{ .pid = 7, .main = "Shop", .cpu_s = 1, .resident = 5,
		  .rates = { .gc_percent = 9 } },
		{ .pid = 3, .main = NULL, .cpu_s = 2, .resident = 7,
		  .rates = { .cpu_percent = 50, .gc_percent = -1 } },
		{ .pid = 9, .main = "App", .cpu_s = 3,
		  .rates = { .allocation = 8, .heap_used = 1 } },
	};
	static const struct {
		enum top_sort sort;
		size_t first;
	} cases[] = { { TOP_SORT_CPU, 1 }, { TOP_SORT_TIME, 2 }, { TOP_SORT_NAME, 1 },
		      { TOP_SORT_ID, 1 }, { TOP_SORT_RSS, 1 }, { TOP_SORT_HEAP, 2 },
		      { TOP_SORT_GC, 0 }, { TOP_SORT_ALLOC, 2 } };
	struct top_filter filter = { .glob = "S*" };
	size_t n, *rows;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct top_filter by = { .sort = cases[i].sort };

		rows = top_jvms_choose(jvms, 3, &by, &n);
		ck_assert_uint_eq(n, 3);
		ck_assert_msg(rows[0] == cases[i].first, "%s", top_sort_names[cases[i].sort]);
		free(rows);
	}
	rows = top_jvms_choose(jvms, 3, &filter, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(rows[0], 0);
	free(rows);
}
END_TEST

static struct vm_reading reading(double at_s)
{
	return (struct vm_reading){ .at_s = at_s, .cpu_s = -1, .throttled_s = -1, .gc_s = -1,
				    .safepoint_s = -1, .collections = 0, .all_collections = 0,
				    .heap_used = 0, .heap_committed = 64 * MB, .heap_after = -1,
				    .eden_used = -1, .eden_capacity = -1 };
}

static void eden(double at_s, int64_t collections, int64_t used)
{
	struct vm_reading r = reading(at_s);

	r.collections = r.all_collections = collections;
	r.eden_capacity = 16 * MB;
	r.eden_used = used;
	r.heap_used = used + 3 * MB;
	r.heap_after = collections > 0 ? 3 * MB : -1;
	vm_rates_update(&history, &r, &rates);
}

START_TEST(shares_are_percent_of_the_time)
{
	struct vm_reading r = reading(10);

	r.cpu_s = r.throttled_s = r.gc_s = r.safepoint_s = 1;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.seconds, 0);
	ck_assert_double_eq(rates.cpu_percent, -1);
	r.at_s = 12;
	r.cpu_s = 4;
	r.throttled_s = 1.5;
	r.gc_s = 1.02;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.seconds, 2);
	ck_assert_double_eq(rates.cpu_percent, 150);
	ck_assert_double_eq(rates.throttled_percent, 25);
	ck_assert_double_eq_tol(rates.gc_percent, 1, 1e-9);
	ck_assert_double_eq(rates.safepoint_percent, 0);
	ck_assert_double_eq(rates.allocation, 0);
	r.at_s = 12.5; /* a pause of 3 s has ended */
	r.gc_s += 3;
	r.safepoint_s += 3;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.gc_percent, 100);
	ck_assert_double_eq(rates.safepoint_percent, 100);
}
END_TEST

START_TEST(unknown_values_stay_unknown)
{
	struct vm_reading r = reading(1);

	r.heap_used = r.collections = r.all_collections = -1;
	vm_rates_update(&history, &r, &rates);
	r.at_s = 2;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.cpu_percent, -1);
	ck_assert_double_eq(rates.throttled_percent, -1);
	ck_assert_double_eq(rates.gc_percent, -1);
	ck_assert_double_eq(rates.allocation, -1);
	ck_assert_int_eq(rates.heap_after, -1);
}
END_TEST

START_TEST(allocation_is_what_goes_through_eden)
{
	eden(0, 5, 4 * MB);
	eden(1, 5, 10 * MB);
	ck_assert_double_eq(rates.allocation, 6 * MB);
	eden(2, 6, 2 * MB); /* 6 MB until the collection, 2 MB after it */
	ck_assert_double_eq(rates.allocation, 8 * MB);
	eden(3, 8, 2 * MB); /* 14 MB, a complete eden of 16 MB, 2 MB */
	ck_assert_double_eq(rates.allocation, 32 * MB);
	eden(4, 8, 2 * MB);
	ck_assert_double_eq(rates.allocation, 0);
	ck_assert_int_eq(rates.heap_after, 3 * MB);
	eden(5, INT64_MAX, 2 * MB); /* a hostile counter */
	ck_assert_double_eq_tol(rates.allocation, 9e18, 1);
}
END_TEST

START_TEST(eden_that_lags_gives_the_mean_between_collections)
{
	int collections = 0;

	eden(0, 0, 0);
	ck_assert_int_eq(rates.heap_after, -1);
	/* A collection every 1.6 s, seen at full seconds: 10 MB/s. */
	for (int s = 1; s <= 40; s++) {
		collections = (int)(s / 1.6);
		eden(s, collections, 0);
		if (s > 15)
			ck_assert_msg(rates.allocation > 8 * MB && rates.allocation < 12 * MB,
				      "%d s: %g MB/s", s, rates.allocation / MB);
	}
	/* No collection for 16 s: at most one eden (16 MB) was allocated in that time. */
	eden(56, collections, 0);
	ck_assert_double_le(rates.allocation, 1.01 * MB);
}
END_TEST

START_TEST(heap_without_eden_grows_until_a_collection)
{
	struct vm_reading r = reading(1);

	vm_rates_update(&history, &r, &rates);
	r.at_s = 2;
	r.heap_used = 7 * MB;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.allocation, 7 * MB);
	ck_assert_int_eq(rates.heap_after, -1);
	r.at_s = 3;
	r.heap_used = 2 * MB;
	r.collections = r.all_collections = 1;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.allocation, 7 * MB);
	ck_assert_int_eq(rates.heap_after, 2 * MB);
	r.at_s = 4;
	r.heap_used = 3 * MB;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.allocation, MB);
	ck_assert_int_eq(rates.heap_after, 2 * MB);
}
END_TEST

START_TEST(counters_that_change_in_collections_have_no_rate)
{
	struct vm_reading r = reading(1);

	r.used_lags = true;
	r.heap_used = r.heap_after = 4 * MB;
	r.all_collections = 3;
	vm_rates_update(&history, &r, &rates);
	ck_assert_int_eq(rates.heap_after, 4 * MB);
	r.at_s = 2;
	vm_rates_update(&history, &r, &rates);
	ck_assert_double_eq(rates.allocation, -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/top");
	TCase *tc = tcase_create("model/top");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, share_is_the_growth_between_two_readings);
	tcase_add_test(tc, reused_tid_is_another_thread);
	tcase_add_test(tc, names_are_asked_for_threads_that_last);
	tcase_add_test(tc, rows_are_sorted_and_filtered);
	tcase_add_test(tc, jvms_are_sorted_and_filtered);
	tcase_add_test(tc, shares_are_percent_of_the_time);
	tcase_add_test(tc, unknown_values_stay_unknown);
	tcase_add_test(tc, allocation_is_what_goes_through_eden);
	tcase_add_test(tc, eden_that_lags_gives_the_mean_between_collections);
	tcase_add_test(tc, heap_without_eden_grows_until_a_collection);
	tcase_add_test(tc, counters_that_change_in_collections_have_no_rate);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
