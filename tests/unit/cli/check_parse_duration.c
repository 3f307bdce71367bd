#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "cli/parse_duration.h"

static const struct {
	const char *text;
	int rc;
	unsigned ms;
} times[] = {
	{ "10", 0, 10000 }, { "0", 0, 0 }, { "2.5", 0, 2500 }, { "2.", 0, 2000 },
	{ "2.5s", 0, 2500 }, { "500ms", 0, 500 }, { "1m", 0, 60000 }, { "0.25m", 0, 15000 },
	{ "1h", 0, 3600000 }, { "0.0019", 0, 1 }, { "1.5ms", 0, 1 },
	{ "2147483.647", 0, 2147483647 }, { "2147483.648", -ERANGE, 0 },
	{ "2147483648ms", -ERANGE, 0 }, { "600h", -ERANGE, 0 },
	{ "99999999999999999999999", -ERANGE, 0 },
	{ "", -EINVAL, 0 }, { "s", -EINVAL, 0 }, { ".", -EINVAL, 0 }, { ".5", -EINVAL, 0 },
	{ "1x", -EINVAL, 0 }, { "1S", -EINVAL, 0 }, { "1 s", -EINVAL, 0 }, { " 1", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 }, { "+1", -EINVAL, 0 }, { "0x10", -EINVAL, 0 }, { "1e3", -EINVAL, 0 },
	{ "1.2.3", -EINVAL, 0 }, { "1.2.s", -EINVAL, 0 }, { "inf", -EINVAL, 0 },
	{ "500us", -EINVAL, 0 }, { "500ns", -EINVAL, 0 },
};

static const struct {
	const char *text;
	int rc;
	uint64_t ns;
} short_times[] = {
	{ "10ms", 0, 10000000 }, { "500us", 0, 500000 }, { "800ns", 0, 800 }, { "0s", 0, 0 },
	{ "1.5us", 0, 1500 }, { "0.1ns", 0, 0 }, { "1s", 0, 1000000000 },
	{ "1m", 0, 60000000000 }, { "5000h", 0, 18000000000000000 },
	{ "6000000h", -ERANGE, 0 }, { "18446744073709551615ns", 0, UINT64_MAX },
	{ "18446744073709551616ns", -ERANGE, 0 }, { "99999999999999999999999ns", -ERANGE, 0 },
	{ "18446744073.9s", -ERANGE, 0 },
	{ "10", -EINVAL, 0 }, { "", -EINVAL, 0 }, { "us", -EINVAL, 0 }, { "1.2.us", -EINVAL, 0 },
	{ "-1us", -EINVAL, 0 }, { "1 us", -EINVAL, 0 },
};

START_TEST(times_with_and_without_unit_are_parsed)
{
	unsigned ms = 4711;

	ck_assert_msg(parse_duration(times[_i].text, 1000, &ms) == times[_i].rc, "'%s'",
		      times[_i].text);
	ck_assert_uint_eq(ms, times[_i].rc == 0 ? times[_i].ms : 4711);
}
END_TEST

START_TEST(number_without_unit_uses_the_unit_of_the_caller)
{
	unsigned ms;

	ck_assert_int_eq(parse_duration("250", 1, &ms), 0);
	ck_assert_uint_eq(ms, 250);
	ck_assert_int_eq(parse_duration("250s", 1, &ms), 0);
	ck_assert_uint_eq(ms, 250000);
}
END_TEST

START_TEST(nanosecond_times_need_a_unit)
{
	uint64_t ns = 4711;

	ck_assert_msg(parse_duration_ns(short_times[_i].text, &ns) == short_times[_i].rc, "'%s'",
		      short_times[_i].text);
	ck_assert_uint_eq(ns, short_times[_i].rc == 0 ? short_times[_i].ns : 4711);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cli/parse_duration");
	TCase *tc = tcase_create("cli/parse_duration");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, times_with_and_without_unit_are_parsed, 0, ARRAY_SIZE(times));
	tcase_add_loop_test(tc, nanosecond_times_need_a_unit, 0, ARRAY_SIZE(short_times));
	tcase_add_test(tc, number_without_unit_uses_the_unit_of_the_caller);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
