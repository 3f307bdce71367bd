#include <check.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "proc/vm_stats.h"
#include "unit/support/data.h"

#define K 1024

static void check_space(const struct vm_stats *stats, size_t i, const char *name, int64_t used)
{
	ck_assert_uint_lt(i, stats->n_spaces);
	ck_assert_str_eq(stats->spaces[i].name, name);
	ck_assert_int_eq(stats->spaces[i].used, used);
}

/* Reads a recorded file, which has no capacities of spaces, no times and no thread counts. */
static void read_fixture(const char *name, struct perfdata *perf)
{
	_cleanup_free_ char *path = xasprintf("perfdata/%s", name);
	_cleanup_buf_ struct buf data = BUF_INIT;

	read_data(path, &data);
	ck_assert_int_eq(perfdata_parse(&data, perf), 0);
}

START_TEST(spaces_are_named_by_each_collector)
{
	struct perfdata perf;
	struct vm_stats stats;

	read_fixture("jdk27-serial", &perf);
	vm_stats_read(&perf, &stats);
	ck_assert_uint_eq(stats.n_spaces, 4);
	check_space(&stats, 0, "eden", 2174240);
	check_space(&stats, 1, "s0", 0);
	check_space(&stats, 3, "old", 7418072);
	ck_assert_int_eq(stats.used, 2174240 + 7418072);
	ck_assert_int_eq(stats.committed, -1);
	ck_assert_int_eq(stats.threads, -1);
	ck_assert_ptr_null(stats.home);
	perfdata_release(&perf);

	read_fixture("jdk25-zgc", &perf);
	vm_stats_read(&perf, &stats);
	ck_assert_uint_eq(stats.n_spaces, 2);
	check_space(&stats, 0, "young", 4194304);
	check_space(&stats, 1, "old", 18874368);
	ck_assert_uint_eq(stats.n_collectors, 2);
	ck_assert_str_eq(stats.collectors[1].name, "ZGC major collection pauses");
	perfdata_release(&perf);

	read_fixture("jdk27-shenandoah", &perf);
	vm_stats_read(&perf, &stats);
	ck_assert_uint_eq(stats.n_spaces, 1);
	check_space(&stats, 0, "Heap", 11727144);
	perfdata_release(&perf);
}
END_TEST

static const char *const names[] = {
	"sun.os.hrt.frequency", "sun.gc.generation.0.space.0.name",
	"sun.gc.generation.0.space.0.used", "sun.gc.generation.0.space.0.capacity",
	"sun.gc.generation.0.space.0.maxCapacity", "sun.gc.generation.1.space.0.name",
	"sun.gc.generation.1.space.0.used", "sun.gc.metaspace.capacity", "sun.gc.metaspace.used",
	"sun.gc.collector.0.name", "sun.gc.collector.0.invocations", "sun.gc.collector.0.time",
	"java.cls.loadedClasses", "java.cls.sharedLoadedClasses", "java.threads.live",
	"sun.rt.safepointTime", "sun.gc.lastCause", "java.property.java.home",
};
enum {
	FREQUENCY, EDEN, EDEN_USED, EDEN_CAPACITY, EDEN_MAX, OLD, OLD_USED, META, META_USED,
	GC, GC_COUNT, GC_TIME, LOADED, SHARED, THREADS, SAFEPOINTS, CAUSE, HOME, N
};

static struct perf_entry entries[N];
static struct perfdata perf = { .entries = entries, .n = N };

static void setup(void)
{
	static const int64_t numbers[N] = {
		[FREQUENCY] = 1000, [EDEN_USED] = 100, [EDEN_CAPACITY] = 64 * K + 24,
		[EDEN_MAX] = 128 * K + 8, [OLD_USED] = 50, [META] = 4 * K, [META_USED] = 3 * K,
		[GC_COUNT] = 7, [GC_TIME] = 1500, [LOADED] = 10, [SHARED] = 400, [THREADS] = 12,
		[SAFEPOINTS] = 250,
	};

	for (size_t i = 0; i < N; i++)
		entries[i] = (struct perf_entry){
			.name = names[i], .name_len = (uint32_t)strlen(names[i]),
			.number = numbers[i],
		};
	entries[EDEN].text = "eden";
	entries[OLD].text = "old";
	entries[GC].text = "Copy";
	entries[CAUSE].text = "Allocation Failure";
	entries[HOME].text = "";
}

START_TEST(counters_are_converted_to_bytes_and_seconds)
{
	struct vm_stats stats;

	vm_stats_read(&perf, &stats);
	check_space(&stats, 0, "eden", 100);
	/* Committed sizes are rounded: G1 in JDK 8 adds a few words. */
	ck_assert_int_eq(stats.spaces[0].committed, 64 * K);
	ck_assert_int_eq(stats.spaces[0].max, 128 * K);
	ck_assert_int_eq(stats.spaces[1].committed, -1);
	ck_assert_int_eq(stats.used, 150);
	ck_assert_int_eq(stats.used_after, 50);
	ck_assert_int_eq(stats.committed, 64 * K);
	ck_assert_int_eq(stats.metaspace_used, 3 * K);
	ck_assert_int_eq(stats.metaspace_committed, 4 * K);
	ck_assert_uint_eq(stats.n_collectors, 1);
	ck_assert_int_eq(stats.collectors[0].count, 7);
	ck_assert_double_eq_tol(stats.collectors[0].seconds, 1.5, 1e-9);
	ck_assert_int_eq(stats.classes_loaded, 410);
	ck_assert_int_eq(stats.classes_unloaded, -1);
	ck_assert_int_eq(stats.threads, 12);
	ck_assert_double_eq_tol(stats.safepoint_seconds, 0.25, 1e-9);
	ck_assert_str_eq(stats.last_cause, "Allocation Failure");
	ck_assert_ptr_null(stats.cause);
	ck_assert_ptr_null(stats.home);
}
END_TEST

START_TEST(used_after_needs_a_collection)
{
	struct vm_stats stats;

	entries[GC_COUNT].number = 0;
	vm_stats_read(&perf, &stats);
	ck_assert_int_eq(stats.used_after, -1);
	entries[GC_COUNT].number = 1;
	entries[EDEN].text = "young"; /* ZGC: no counter changes between collections */
	vm_stats_read(&perf, &stats);
	ck_assert_int_eq(stats.used_after, 150);
	entries[EDEN].text = "Heap"; /* Shenandoah */
	vm_stats_read(&perf, &stats);
	ck_assert_int_eq(stats.used_after, -1);
}
END_TEST

START_TEST(inconsistent_counters_are_unknown)
{
	struct vm_stats stats;

	entries[FREQUENCY].number = 0;
	entries[EDEN_USED].number = INT64_MAX;
	entries[OLD_USED].number = INT64_MAX;
	entries[EDEN_CAPACITY].number = -5;
	entries[META].number = 0;
	entries[THREADS].text = "no number";
	entries[GC].text = NULL;
	vm_stats_read(&perf, &stats);
	ck_assert_int_eq(stats.used, -1);
	ck_assert_int_eq(stats.used_after, -1);
	ck_assert_int_eq(stats.committed, -1);
	ck_assert_int_eq(stats.metaspace_used, -1);
	ck_assert_int_eq(stats.threads, -1);
	ck_assert_uint_eq(stats.n_collectors, 0);
	ck_assert_double_eq(stats.safepoint_seconds, -1);
}
END_TEST

START_TEST(missing_counters_are_unknown)
{
	struct perfdata none = { 0 };
	struct vm_stats stats;

	vm_stats_read(&none, &stats);
	ck_assert_uint_eq(stats.n_spaces + stats.n_collectors, 0);
	ck_assert_int_eq(stats.used, -1);
	ck_assert_int_eq(stats.classes_loaded, -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc/vm_stats");
	TCase *tc = tcase_create("proc/vm_stats");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, spaces_are_named_by_each_collector);
	tcase_add_test(tc, counters_are_converted_to_bytes_and_seconds);
	tcase_add_test(tc, used_after_needs_a_collection);
	tcase_add_test(tc, inconsistent_counters_are_unknown);
	tcase_add_test(tc, missing_counters_are_unknown);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
