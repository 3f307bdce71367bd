/* The clock of hooks is compared with CLOCK_MONOTONIC, and is not used with a wrong rate. */
#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "jvm/trace/trace_clock.h"

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S (1000 * NS_PER_MS)
#define ROUNDS 5 /* a busy machine may interrupt a thread between two readings */

static struct ag_trace_clock trace_clock;

/* From `begin` on, CLOCK_MONOTONIC passes faster or more slowly by the factor up / down. */
static struct {
	int64_t begin, up, down;
} speed = { 0, 1, 1 };

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = __real_clock_gettime(id, t);
	int64_t ns = t->tv_sec * NS_PER_S + t->tv_nsec;

	if (rc == 0 && id == CLOCK_MONOTONIC) {
		ns = speed.begin + (ns - speed.begin) * speed.up / speed.down;
		t->tv_sec = ns / NS_PER_S;
		t->tv_nsec = ns % NS_PER_S;
	}
	return rc;
}

static void start_with_counter(void)
{
	trace_clock = (struct ag_trace_clock){ 0 };
	ag_trace_clock_start(&trace_clock, true);
}

static bool has_counter(void)
{
	return trace_clock.rate != 0;
}

/* Returns how far the clock is ahead of CLOCK_MONOTONIC, by the quickest of 100 readings. */
static int64_t ahead_ns(void)
{
	int64_t shortest = INT64_MAX, ahead = 0;

	for (unsigned i = 0; i < 100; i++) {
		int64_t before = ag_now_ns(), ns = ag_trace_clock_now(&trace_clock);
		int64_t took = ag_now_ns() - before;

		if (took < shortest) {
			shortest = took;
			ahead = ns - before - took / 2;
		}
	}
	return ahead;
}

static void wait_ms(int ms)
{
	int64_t until = ag_now_ns() + ms * NS_PER_MS;

	while (ag_now_ns() < until)
		ck_assert_int_ge(poll(NULL, 0, 10), 0);
}

START_TEST(without_the_counter_it_is_the_monotonic_clock)
{
	int64_t before, now;

	ag_trace_clock_start(&trace_clock, false);
	ck_assert(!has_counter());
	before = ag_now_ns();
	now = ag_trace_clock_now(&trace_clock);
	ck_assert_int_ge(now, before);
	ck_assert_int_le(now, ag_now_ns());
	ag_trace_clock_check(&trace_clock);
	ck_assert(!has_counter());
}
END_TEST

START_TEST(counter_has_the_rate_of_the_monotonic_clock)
{
	int64_t begin, drift = INT64_MAX;

	for (unsigned i = 0; i < ROUNDS && drift > 2 * NS_PER_MS; i++) {
		start_with_counter();
		if (!has_counter())
			return; /* a processor without a constant counter */
		begin = ahead_ns();
		wait_ms(200);
		drift = llabs(ahead_ns() - begin);
	}
	ck_assert_int_le(drift, 2 * NS_PER_MS); /* 1 % */
}
END_TEST

START_TEST(time_does_not_go_backwards)
{
	int64_t last;

	start_with_counter();
	last = ag_trace_clock_now(&trace_clock);
	for (unsigned i = 0; i < 1000000; i++) {
		int64_t now = ag_trace_clock_now(&trace_clock);

		ck_assert_int_ge(now, last);
		last = now;
	}
}
END_TEST

START_TEST(right_rate_passes_the_checks)
{
	bool passed = false;

	for (unsigned i = 0; i < ROUNDS && !passed; i++) {
		start_with_counter();
		if (!has_counter())
			return;
		for (unsigned j = 0; j < 3; j++) {
			wait_ms(110);
			ag_trace_clock_check(&trace_clock);
		}
		passed = has_counter();
	}
	ck_assert(passed);
}
END_TEST

START_TEST(wrong_rate_ends_the_use_of_the_counter)
{
	static const int64_t percent[] = { 101, 99 };

	start_with_counter();
	if (!has_counter())
		return;
	ck_assert(percent[_i] != 100);
	trace_clock.rate = trace_clock.rate / 100 * (uint64_t)percent[_i];
	wait_ms(110);
	ag_trace_clock_check(&trace_clock);
	ck_assert(!has_counter());
	ck_assert_int_le(llabs(ahead_ns()), NS_PER_MS);
}
END_TEST

/* Too few ticks per ns; too many; and a time that is too short to measure the rate. */
START_TEST(counter_with_an_implausible_rate_is_not_used)
{
	static const int64_t speeds[][2] = { { 200, 1 }, { 1, 16 }, { 1, 200 } };

	speed.begin = ag_now_ns();
	speed.up = speeds[_i][0];
	speed.down = speeds[_i][1];
	start_with_counter();
	ck_assert(!has_counter());
}
END_TEST

START_TEST(checks_that_follow_at_once_do_nothing)
{
	start_with_counter();
	if (!has_counter())
		return;
	trace_clock.rate /= 2;
	trace_clock.checked_ns = ag_now_ns();
	ag_trace_clock_check(&trace_clock);
	ck_assert(has_counter());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_clock");
	TCase *tc = tcase_create("trace_clock");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, without_the_counter_it_is_the_monotonic_clock);
	tcase_add_test(tc, counter_has_the_rate_of_the_monotonic_clock);
	tcase_add_test(tc, time_does_not_go_backwards);
	tcase_add_test(tc, right_rate_passes_the_checks);
	tcase_add_loop_test(tc, wrong_rate_ends_the_use_of_the_counter, 0, 2);
	tcase_add_loop_test(tc, counter_with_an_implausible_rate_is_not_used, 0, 3);
	tcase_add_test(tc, checks_that_follow_at_once_do_nothing);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
