/* The events that end the loop of alloc and trace; a script replaces the session. */
#include <check.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/follow.h"
#include "discover/jvm.h"

#define TICKS 5
#define STOP 4711 /* frame type of the request to stop */
#define LAST 4712 /* type of the last frame */

static int n_stops;

int session_send(struct session *s, uint16_t type, const struct wire_writer *payload,
		 struct err *err)
{
	(void)s;
	(void)err;
	ck_assert_uint_eq(type, STOP);
	ck_assert_ptr_null(payload);
	n_stops++;
	return 0;
}

/* Calls tick() TICKS times, then take() with the last frame. */
int session_follow(struct session *s, session_take_fn *take, session_tick_fn *tick,
		   unsigned tick_ms, void *arg, struct err *err)
{
	ck_assert_uint_gt(tick_ms, 0);
	for (int i = 0; i < TICKS; i++) {
		if (tick(s, arg, err) < 0)
			return -1;
	}
	return take(arg, LAST, NULL) > 0 ? 0 : -1;
}

struct script {
	struct follow follow;
	int n_ticks;
	unsigned signals, limit_reached; /* bit n: in tick n, counted from 0 */
};

static bool tick(void *arg)
{
	struct script *s = arg;
	unsigned bit = 1u << s->n_ticks++;

	if (s->signals & bit)
		(void)kill(getpid(), SIGTERM);
	return s->limit_reached & bit;
}

static int take(void *arg, uint16_t type, struct wire_reader *payload)
{
	const struct script *s = arg;

	ck_assert_ptr_null(payload);
	ck_assert_int_eq(s->n_ticks, TICKS);
	return type == LAST ? 1 : -1;
}

static const struct jvm jvm = { .pid = 42 };
static const struct ctx ctx = { .jvm = &jvm };

static struct script script(struct script s)
{
	s.follow = (struct follow){
		.ctx = &ctx,
		.stop_request = STOP,
		.stop_ms = 60000,
		.what = "trace",
		.restore = "the classes are restored",
		.take = take,
		.tick = tick,
		.end = DEADLINE_NEVER,
		.begun = s.follow.begun,
	};
	return s;
}

static int run(struct script *s, struct err *err)
{
	int rc;

	s->follow.arg = s;
	follow_begin(&s->follow);
	rc = follow_run(&s->follow, NULL, err);
	follow_end(&s->follow);
	return rc;
}

/* Runs the script in a child process; returns its wait status. */
static int wait_status_of(struct script s)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct err err = { 0 };

		(void)signal(SIGTERM, SIG_DFL); /* replaces the handler of Check */
		_exit(run(&s, &err) == 0 ? n_stops : 99);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(trace_without_stop_runs_to_its_end)
{
	struct script s = script((struct script){ 0 });
	struct err err = { 0 };

	ck_assert_int_eq(run(&s, &err), 0);
	ck_assert_int_eq(n_stops, 0);
	ck_assert(!s.follow.stopped);
}
END_TEST

START_TEST(first_signal_requests_a_stop)
{
	struct script s = script((struct script){ .signals = 1u << 1, .follow.begun = _i });
	struct err err = { 0 };

	ck_assert_int_eq(run(&s, &err), 0);
	ck_assert_int_eq(n_stops, 1);
	ck_assert(s.follow.stopped);
	ck_assert(s.follow.stopped_early == !_i);
	ck_assert(s.follow.end.at_ns > monotonic_ns());
	ck_assert(s.follow.end.at_ns <= deadline_in_ms(60000).at_ns);
}
END_TEST

START_TEST(second_signal_ends_the_process)
{
	int status = wait_status_of(script((struct script){ .signals = 1u << 1 | 1u << 3 }));

	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGTERM);
}
END_TEST

START_TEST(reached_limit_requests_one_stop)
{
	int status = wait_status_of(script((struct script){ .limit_reached = ~1u }));

	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

/* A signal in the tick in which the limit is reached does not end the process. */
START_TEST(signal_at_the_limit_requests_one_stop)
{
	int status = wait_status_of(script((struct script){ .signals = 2, .limit_reached = 2 }));

	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

START_TEST(passed_deadline_is_an_error)
{
	struct script s = script((struct script){ .follow.begun = _i });
	struct err err = { 0 };

	s.follow.end = deadline_in_ms(0);
	ck_assert_int_eq(run(&s, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_ptr_nonnull(strstr(err.text, _i ? "JVM 42 did not end the trace" :
						    "JVM 42 did not begin the trace"));
	ck_assert_ptr_nonnull(strstr(err.text, "the classes are restored when"));
	ck_assert_int_eq(s.n_ticks, 1);
	ck_assert_int_eq(n_stops, 0);
}
END_TEST

START_TEST(stop_has_a_deadline)
{
	struct script s = script((struct script){ .limit_reached = 1 });
	struct err err = { 0 };

	s.follow.stop_ms = 0;
	ck_assert_int_eq(run(&s, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_int_eq(s.n_ticks, 2);
}
END_TEST

START_TEST(end_is_expected_after_the_duration)
{
	struct follow f = { .stop_ms = 60000 };

	follow_expect_end(&f, 5000);
	ck_assert(f.end.at_ns > deadline_in_ms(60000).at_ns);
	ck_assert(f.end.at_ns <= deadline_in_ms(65000).at_ns);
	follow_expect_end(&f, 0);
	ck_assert(f.end.at_ns == DEADLINE_NEVER.at_ns);
	follow_expect_end(&f, UINT_MAX);
	ck_assert(f.end.at_ns == DEADLINE_NEVER.at_ns);
}
END_TEST

START_TEST(signal_mask_is_restored_afterwards)
{
	struct script s = script((struct script){ 0 });
	struct err err = { 0 };
	sigset_t set;

	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &set), 0);
	ck_assert_int_eq(sigismember(&set, SIGTERM), 0);
	s.follow.arg = &s;
	follow_begin(&s.follow);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &set), 0);
	ck_assert_int_eq(sigismember(&set, SIGTERM), 1);
	ck_assert_int_eq(follow_run(&s.follow, NULL, &err), 0);
	follow_end(&s.follow);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &set), 0);
	ck_assert_int_eq(sigismember(&set, SIGTERM), 0);
}
END_TEST

static void setup(void)
{
	n_stops = 0;
}

int main(void)
{
	Suite *s = suite_create("cmd/follow");
	TCase *tc = tcase_create("cmd/follow");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, trace_without_stop_runs_to_its_end);
	tcase_add_loop_test(tc, first_signal_requests_a_stop, 0, 2);
	tcase_add_test(tc, second_signal_ends_the_process);
	tcase_add_test(tc, reached_limit_requests_one_stop);
	tcase_add_test(tc, signal_at_the_limit_requests_one_stop);
	tcase_add_loop_test(tc, passed_deadline_is_an_error, 0, 2);
	tcase_add_test(tc, stop_has_a_deadline);
	tcase_add_test(tc, end_is_expected_after_the_duration);
	tcase_add_test(tc, signal_mask_is_restored_afterwards);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
