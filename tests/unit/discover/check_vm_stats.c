#include <check.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "target/figures.h"
#include "data.h"

#define K 1024

static void check_space(const struct figures *f, size_t i, const char *name, int64_t used)
{
	ck_assert_uint_lt(i, f->n_spaces);
	ck_assert_str_eq(f->spaces[i].name, name);
	ck_assert_int_eq(f->spaces[i].used, used);
}

/* What a JVM has recorded has no capacities of spaces, no times and no threads. */
static void read_fixture(const char *name, struct perfdata *perf)
{
	_cleanup_free_ char *path = xasprintf("perfdata/%s", name);
	_cleanup_buf_ struct buf data = BUF_INIT;

	read_data(path, &data);
	ck_assert_int_eq(perfdata_parse(data.data, data.len, perf), 0);
}

START_TEST(spaces_of_each_collector)
{
	struct perfdata perf;
	struct figures f;

	read_fixture("jdk27-serial", &perf);
	figures_read(&perf, &f);
	ck_assert_uint_eq(f.n_spaces, 4);
	check_space(&f, 0, "eden", 2174240);
	check_space(&f, 1, "s0", 0);
	check_space(&f, 3, "old", 7418072);
	ck_assert_int_eq(f.used, 2174240 + 7418072);
	ck_assert_int_eq(f.committed, -1);
	ck_assert_int_eq(f.threads, -1);
	ck_assert_ptr_null(f.home);
	perfdata_release(&perf);

	read_fixture("jdk25-zgc", &perf);
	figures_read(&perf, &f);
	ck_assert_uint_eq(f.n_spaces, 2);
	check_space(&f, 0, "young", 4194304);
	check_space(&f, 1, "old", 18874368);
	ck_assert_uint_eq(f.n_collectors, 2);
	ck_assert_str_eq(f.collectors[1].name, "ZGC major collection pauses");
	perfdata_release(&perf);

	read_fixture("jdk27-shenandoah", &perf);
	figures_read(&perf, &f);
	ck_assert_uint_eq(f.n_spaces, 1);
	check_space(&f, 0, "Heap", 11727144);
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
		entries[i] = (struct perf_entry){ .name = names[i], .number = numbers[i] };
	entries[EDEN].text = "eden";
	entries[OLD].text = "old";
	entries[GC].text = "Copy";
	entries[CAUSE].text = "Allocation Failure";
	entries[HOME].text = "";
}

START_TEST(numbers_of_all_kinds)
{
	struct figures f;

	figures_read(&perf, &f);
	check_space(&f, 0, "eden", 100);
	ck_assert_int_eq(f.spaces[0].committed, 64 * K); /* without the words of JDK 8's G1 */
	ck_assert_int_eq(f.spaces[0].max, 128 * K);
	ck_assert_int_eq(f.spaces[1].committed, -1);
	ck_assert_int_eq(f.used, 150);
	ck_assert_int_eq(f.committed, 64 * K);
	ck_assert_int_eq(f.metaspace_used, 3 * K);
	ck_assert_int_eq(f.metaspace_committed, 4 * K);
	ck_assert_uint_eq(f.n_collectors, 1);
	ck_assert_int_eq(f.collectors[0].count, 7);
	ck_assert_double_eq_tol(f.collectors[0].seconds, 1.5, 1e-9);
	ck_assert_int_eq(f.classes_loaded, 410);
	ck_assert_int_eq(f.classes_unloaded, -1);
	ck_assert_int_eq(f.threads, 12);
	ck_assert_double_eq_tol(f.safepoint_seconds, 0.25, 1e-9);
	ck_assert_str_eq(f.last_cause, "Allocation Failure");
	ck_assert_ptr_null(f.cause);
	ck_assert_ptr_null(f.home);
}
END_TEST

START_TEST(numbers_that_make_no_sense)
{
	struct figures f;

	entries[FREQUENCY].number = 0;
	entries[EDEN_USED].number = INT64_MAX;
	entries[OLD_USED].number = INT64_MAX;
	entries[EDEN_CAPACITY].number = -5;
	entries[META].number = 0;
	entries[THREADS].text = "no number";
	entries[GC].text = NULL;
	figures_read(&perf, &f);
	ck_assert_int_eq(f.used, -1);
	ck_assert_int_eq(f.committed, -1);
	ck_assert_int_eq(f.metaspace_used, -1);
	ck_assert_int_eq(f.threads, -1);
	ck_assert_uint_eq(f.n_collectors, 0);
	ck_assert_double_eq(f.safepoint_seconds, -1);
}
END_TEST

START_TEST(no_counters_at_all)
{
	struct perfdata none = { 0 };
	struct figures f;

	figures_read(&none, &f);
	ck_assert_uint_eq(f.n_spaces + f.n_collectors, 0);
	ck_assert_int_eq(f.used, -1);
	ck_assert_int_eq(f.classes_loaded, -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("figures");
	TCase *tc = tcase_create("figures");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, spaces_of_each_collector);
	tcase_add_test(tc, numbers_of_all_kinds);
	tcase_add_test(tc, numbers_that_make_no_sense);
	tcase_add_test(tc, no_counters_at_all);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
