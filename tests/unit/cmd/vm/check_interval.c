#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "fileio/io.h"
#include "base/util.h"
#include "cmd/vm/interval.h"

static int parse(struct interval *schedule, const char *time, const char *count, struct err *err)
{
	char *words[] = { (char *)time, (char *)count };

	return interval_parse(schedule, words, !time ? 0 : !count ? 1 : 2, err);
}

static const struct {
	const char *text;
	unsigned ms; /* 0: refused */
} intervals[] = {
	{ "1000", 1000 }, { "1", 1 }, { "500ms", 500 }, { "2.5s", 2500 }, { "1m", 60000 },
	{ "0", 0 }, { "0.5", 0 }, { "0s", 0 }, { "", 0 }, { "s", 0 }, { "-1", 0 }, { "600h", 0 },
};

START_TEST(intervals_are_milliseconds_or_have_a_unit)
{
	struct err err = { .code = EXIT_DONE };
	struct interval schedule;
	int rc = parse(&schedule, intervals[_i].text, NULL, &err);

	ck_assert_msg(rc == (intervals[_i].ms ? 0 : -1), "'%s'", intervals[_i].text);
	ck_assert_uint_eq(schedule.interval_ms, intervals[_i].ms);
	ck_assert_int_eq(err.code, intervals[_i].ms ? EXIT_DONE : EXIT_USAGE);
}
END_TEST

START_TEST(counts_are_positive_numbers)
{
	static const char *const bad[] = { "0", "-1", "x", "", "1.5", "1s", "2147483648" };
	struct interval schedule;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(parse(&schedule, "10", "3", &err), 0);
	ck_assert_uint_eq(schedule.count, 3);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		err.code = EXIT_DONE;
		ck_assert_int_eq(parse(&schedule, "10", bad[i], &err), -1);
		ck_assert_int_eq(err.code, EXIT_USAGE);
	}
}
END_TEST

START_TEST(missing_interval_means_one_sample)
{
	struct interval schedule;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(parse(&schedule, NULL, NULL, &err), 0);
	interval_begin(&schedule);
	ck_assert(!interval_next(&schedule));
	ck_assert(interval_is_complete(&schedule));
}
END_TEST

START_TEST(work_does_not_delay_the_schedule)
{
	struct interval schedule;
	struct err err = { .code = EXIT_DONE };
	unsigned n = 0;
	int64_t begin;

	ck_assert_int_eq(parse(&schedule, "20", "10", &err), 0);
	interval_begin(&schedule);
	begin = schedule.next_ns;
	do {
		int64_t busy = monotonic_ns() + 10000000;

		while (monotonic_ns() < busy)
			;
		n++;
	} while (interval_next(&schedule));
	ck_assert_uint_eq(n, 10);
	ck_assert(interval_is_complete(&schedule));
	/* 9 intervals of 20 ms and 10 ms of work: 190 ms.  If work delayed intervals: 280 ms. */
	ck_assert_int_ge(monotonic_ns() - begin, 190000000);
	ck_assert_int_eq((schedule.next_ns - begin) % 20000000, 0);
}
END_TEST

START_TEST(signal_ends_the_loop)
{
	struct interval schedule;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(parse(&schedule, "1h", _i ? "2" : NULL, &err), 0);
	interval_begin(&schedule);
	ck_assert_int_eq(raise(_i ? SIGTERM : SIGINT), 0);
	ck_assert(!interval_next(&schedule));
	ck_assert(interval_is_complete(&schedule) == (_i == 0));
}
END_TEST

START_TEST(ignored_signal_stays_ignored)
{
	struct interval schedule;
	struct err err = { .code = EXIT_DONE };

	(void)signal(SIGINT, SIG_IGN);
	ck_assert_int_eq(parse(&schedule, "1", "2", &err), 0);
	interval_begin(&schedule);
	ck_assert_int_eq(raise(SIGINT), 0);
	ck_assert(interval_next(&schedule));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cmd/vm/interval");
	TCase *tc = tcase_create("cmd/vm/interval");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, intervals_are_milliseconds_or_have_a_unit, 0,
			    (int)ARRAY_SIZE(intervals));
	tcase_add_test(tc, counts_are_positive_numbers);
	tcase_add_test(tc, missing_interval_means_one_sample);
	tcase_add_test(tc, work_does_not_delay_the_schedule);
	tcase_add_loop_test(tc, signal_ends_the_loop, 0, 2);
	tcase_add_test(tc, ignored_signal_stays_ignored);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
