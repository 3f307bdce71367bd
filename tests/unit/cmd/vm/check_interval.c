#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/util.h"
#include "cmd/pace.h"

static int parse(struct pace *pace, const char *interval, const char *count, struct err *err)
{
	char *words[] = { (char *)interval, (char *)count };

	return pace_parse(pace, words, !interval ? 0 : !count ? 1 : 2, err);
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
	struct pace pace;
	int rc = parse(&pace, intervals[_i].text, NULL, &err);

	ck_assert_msg(rc == (intervals[_i].ms ? 0 : -1), "'%s'", intervals[_i].text);
	ck_assert_uint_eq(pace.interval_ms, intervals[_i].ms);
	ck_assert_int_eq(err.code, intervals[_i].ms ? EXIT_DONE : EXIT_USAGE);
}
END_TEST

START_TEST(counts_are_numbers_from_1)
{
	static const char *const bad[] = { "0", "-1", "x", "", "1.5", "1s", "2147483648" };
	struct pace pace;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(parse(&pace, "10", "3", &err), 0);
	ck_assert_uint_eq(pace.count, 3);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		err.code = EXIT_DONE;
		ck_assert_int_eq(parse(&pace, "10", bad[i], &err), -1);
		ck_assert_int_eq(err.code, EXIT_USAGE);
	}
}
END_TEST

START_TEST(without_an_interval_it_is_once)
{
	struct pace pace;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(parse(&pace, NULL, NULL, &err), 0);
	pace_begin(&pace);
	ck_assert(!pace_next(&pace));
	ck_assert(pace_is_complete(&pace));
}
END_TEST

START_TEST(what_is_done_takes_nothing_off_the_schedule)
{
	struct pace pace;
	struct err err = { .code = EXIT_DONE };
	int64_t begin = io_now_ns();
	unsigned n = 0;

	ck_assert_int_eq(parse(&pace, "20", "10", &err), 0);
	pace_begin(&pace);
	do {
		int64_t busy = io_now_ns() + 10000000;

		while (io_now_ns() < busy)
			;
		n++;
	} while (pace_next(&pace));
	ck_assert_uint_eq(n, 10);
	ck_assert(pace_is_complete(&pace));
	/* 9 intervals and the last one's work: 190 ms; it would be 280 ms if they added up. */
	ck_assert_int_ge(io_now_ns() - begin, 190000000);
	ck_assert_int_eq((pace.next_ns - begin) / 1000000 % 20, 0);
}
END_TEST

START_TEST(a_signal_ends_it)
{
	struct pace pace;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(parse(&pace, "1h", _i ? "2" : NULL, &err), 0);
	pace_begin(&pace);
	ck_assert_int_eq(raise(_i ? SIGTERM : SIGINT), 0);
	ck_assert(!pace_next(&pace));
	ck_assert(pace_is_complete(&pace) == (_i == 0));
}
END_TEST

START_TEST(an_ignored_signal_stays_ignored)
{
	struct pace pace;
	struct err err = { .code = EXIT_DONE };

	(void)signal(SIGINT, SIG_IGN);
	ck_assert_int_eq(parse(&pace, "1", "2", &err), 0);
	pace_begin(&pace);
	ck_assert_int_eq(raise(SIGINT), 0);
	ck_assert(pace_next(&pace));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pace");
	TCase *tc = tcase_create("pace");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, intervals_are_milliseconds_or_have_a_unit, 0,
			    (int)ARRAY_SIZE(intervals));
	tcase_add_test(tc, counts_are_numbers_from_1);
	tcase_add_test(tc, without_an_interval_it_is_once);
	tcase_add_test(tc, what_is_done_takes_nothing_off_the_schedule);
	tcase_add_loop_test(tc, a_signal_ends_it, 0, 2);
	tcase_add_test(tc, an_ignored_signal_stays_ignored);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
