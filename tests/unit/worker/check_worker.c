#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/xalloc.h"
#include "fileio/io.h"
#include "worker/worker.h"
#include "worker/worker_pool.h"

#define MAX 100000
#define SLOW_MS 20000 /* more than any task here takes, also on a busy machine */

static int echo(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	(void)fd;
	(void)err;
	buf_add(answer, request->data, request->len);
	return 0;
}

static int refuse(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	(void)request;
	(void)fd;
	buf_adds(answer, "not sent");
	return err_set(err, EXIT_TARGET, "no such thing");
}

static int block(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	(void)request;
	(void)answer;
	(void)fd;
	(void)err;
	while (pause() < 0) /* it returns only after a signal */
		;
	return 0;
}

static int die(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	(void)request;
	(void)answer;
	(void)fd;
	(void)err;
	(void)raise(SIGKILL);
	return 0;
}

static int send_pipe(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	int ends[2];

	(void)request;
	(void)answer;
	(void)err;
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	*fd = ends[0];
	return 0;
}

static int report_streams(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	struct stat null, st;

	(void)request;
	(void)fd;
	(void)err;
	ck_assert_int_eq(stat("/dev/null", &null), 0);
	for (int i = 0; i < 3; i++)
		buf_addc(answer, fstat(i, &st) == 0 && st.st_rdev == null.st_rdev ? '0' : '1');
	return 0;
}

static int call(struct worker *w, worker_fn *fn, const char *text, unsigned ms, struct buf *answer,
		int *fd, struct err *err)
{
	const struct buf request = { (char *)text, strlen(text), 0 };
	const struct worker_call c = {
		.fn = fn, .request = &request, .max = MAX, .deadline = deadline_in_ms(ms),
	};

	ck_assert_int_eq(worker_start(w, NULL, 0), 0);
	return worker_call(w, &c, answer, fd, err);
}

START_TEST(calls_are_answered_in_turn)
{
	struct worker w = WORKER_INIT;
	struct err err = { .code = EXIT_DONE };
	pid_t pid = 0;

	for (int i = 0; i < 3; i++) {
		_cleanup_buf_ struct buf answer = BUF_INIT;

		ck_assert_int_eq(call(&w, echo, "question", SLOW_MS, &answer, NULL, &err), 0);
		ck_assert_str_eq(buf_str(&answer), "question");
		ck_assert(pid == 0 || w.pid == pid);
		pid = w.pid;
	}
	worker_end(&w);
	ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

START_TEST(errors_and_descriptors_are_passed)
{
	struct worker w = WORKER_INIT;
	struct err err = { .code = EXIT_DONE };
	_cleanup_buf_ struct buf answer = BUF_INIT;
	_cleanup_close_ int fd = -1;
	char byte;

	ck_assert_int_eq(call(&w, refuse, "", SLOW_MS, &answer, NULL, &err), 1);
	ck_assert_int_eq(err.code, EXIT_TARGET);
	ck_assert_str_eq(err.text, "no such thing");
	ck_assert_uint_eq(answer.len, 0);
	ck_assert_int_eq(call(&w, send_pipe, "", SLOW_MS, &answer, &fd, &err), 0);
	ck_assert_int_eq(read(fd, &byte, 1), 1);
	ck_assert_int_eq(byte, 'x');
	worker_end(&w);
}
END_TEST

START_TEST(blocked_worker_is_given_up)
{
	struct worker w = WORKER_INIT;
	struct err err = { .code = EXIT_DONE };
	_cleanup_buf_ struct buf answer = BUF_INIT;
	int64_t begin = monotonic_ns();

	ck_assert_int_eq(call(&w, block, "", 100, &answer, NULL, &err), -ETIMEDOUT);
	ck_assert_int_lt((monotonic_ns() - begin) / 1000000, SLOW_MS);
	ck_assert_int_eq(w.pid, 0);
	ck_assert_int_eq(call(&w, die, "", SLOW_MS, &answer, NULL, &err), -EPIPE);
	ck_assert_int_eq(call(&w, echo, "again", SLOW_MS, &answer, NULL, &err), 0);
	ck_assert_str_eq(buf_str(&answer), "again");
	worker_end(&w);
}
END_TEST

/* A pipe from jtool must end with jtool, although a blocked worker may outlive it. */
START_TEST(worker_holds_no_standard_stream)
{
	struct worker w = WORKER_INIT;
	struct err err = { .code = EXIT_DONE };
	_cleanup_buf_ struct buf answer = BUF_INIT;

	ck_assert_int_eq(call(&w, report_streams, "", SLOW_MS, &answer, NULL, &err), 0);
	ck_assert_str_eq(buf_str(&answer), "000");
	worker_end(&w);
}
END_TEST

START_TEST(too_long_answers_are_refused)
{
	_cleanup_free_ char *text = xmalloc(2 * MAX);
	struct worker w = WORKER_INIT;
	struct err err = { .code = EXIT_DONE };
	_cleanup_buf_ struct buf answer = BUF_INIT;

	memset(text, 'x', 2 * MAX - 1);
	text[2 * MAX - 1] = '\0';
	ck_assert_int_eq(call(&w, echo, text, SLOW_MS, &answer, NULL, &err), -EFBIG);
	ck_assert_uint_eq(answer.len, 0);
	ck_assert_int_eq(w.pid, 0);
}
END_TEST

START_TEST(message_is_parsed_only_when_complete)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct worker_message m;
	char data[64];
	int ends[2];
	ssize_t n;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	buf_adds(&text, "content");
	ck_assert_int_eq(worker_send(ends[0], 7, &text, -1), 0);
	n = read(ends[1], data, sizeof(data));
	ck_assert_int_gt(n, 7);
	for (ssize_t len = 0; len < n; len++) {
		const struct buf in = { data, (size_t)len, 0 };

		ck_assert_int_eq(worker_parse(&in, MAX, &m), 0);
	}
	ck_assert_int_eq(worker_parse(&(struct buf){ data, (size_t)n, 0 }, MAX, &m), n);
	ck_assert_uint_eq(m.what, 7);
	ck_assert_uint_eq(m.len, 7);
	ck_assert_mem_eq(m.data, "content", 7);
	ck_assert_int_eq(worker_parse(&(struct buf){ data, (size_t)n, 0 }, 6, &m), -EFBIG);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

/* Tasks of a pool. */
struct results {
	const char *how; /* of each task: a case of run(); '-' returns no answer */
	char got[400];   /* '.' answered, '-' did not; else the reason of the loss */
};

static void run(void *arg, size_t i, struct buf *answer)
{
	const struct results *r = arg;

	switch (r->how[i]) {
	case '.':
		buf_addf(answer, "%zu", i);
		break;
	case 'b':
		while (pause() < 0)
			;
		break;
	case 'd':
		(void)raise(SIGKILL);
		break;
	case 'm': /* the pool permits 1000 bytes */
		memset(buf_reserve(answer, 2000), 'm', 2000);
		answer->len += 2000;
		break;
	}
}

static void take(void *arg, size_t i, const char *data, size_t len)
{
	struct results *r = arg;
	_cleanup_free_ char *text = xstrndup(data, len);

	ck_assert_uint_eq(strtoul(text, NULL, 10), i);
	ck_assert_int_eq(r->got[i], '-');
	r->got[i] = '.';
}

static void lost(void *arg, size_t i, int error)
{
	struct results *r = arg;

	ck_assert_int_eq(r->got[i], '-');
	r->got[i] = error == -ETIMEDOUT ? 'b' : error == -EPIPE ? 'd' : 'm';
}

static int64_t run_pool(const char *how, struct results *r)
{
	const struct worker_tasks tasks = {
		.n = strlen(how), .max = 1000, .arg = r, .run = run, .take = take, .lost = lost,
	};
	int64_t begin = monotonic_ns();

	r->how = how;
	memset(r->got, '-', strlen(how));
	r->got[strlen(how)] = '\0';
	ck_assert_int_eq(worker_pool_run(&tasks), 0);
	return (monotonic_ns() - begin) / 1000000;
}

START_TEST(every_task_is_run)
{
	static const char *const how[] = { "", ".", "-", "..-..", "-.-", "....................",
					   "d", ".d.", "dd", "..m", "b", ".b.", "b.b.d-.bm" };
	struct results r;

	(void)run_pool(how[_i], &r);
	ck_assert_str_eq(r.got, how[_i]);
}
END_TEST

/* If set, a worker is killed when it reads the clock: between taking a task and running it. */
static pid_t clock_reader; /* 0: not set; else the only process that may read the clock */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock_reader > 0 && getpid() != clock_reader)
		(void)raise(SIGKILL);
	return (int)syscall(SYS_clock_gettime, clock, t);
}

START_TEST(a_task_of_a_worker_killed_before_it_runs_is_lost)
{
	struct results r;

	clock_reader = getpid();
	(void)run_pool("..", &r);
	ck_assert_str_eq(r.got, "dd");
}
END_TEST

/* 75 tasks block.  If the pool waited for one after the other, it would take over a minute. */
START_TEST(many_blocked_tasks_do_not_add_up)
{
	char how[301];
	struct results r;
	int64_t ms;

	for (size_t i = 0; i < 300; i++)
		how[i] = i % 4 == 1 ? 'b' : '.';
	how[300] = '\0';
	ms = run_pool(how, &r);
	ck_assert_str_eq(r.got, how);
	ck_assert_int_lt(ms, SLOW_MS);
}
END_TEST

START_TEST(blocked_workers_are_reaped_when_they_have_ended)
{
	struct results r;

	(void)run_pool("b", &r);
	(void)run_pool("b", &r);
	while (!worker_pool_reap_killed())
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("worker");
	TCase *calls = tcase_create("worker"), *pool = tcase_create("worker_pool");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, calls);
	tcase_set_timeout(calls, 60);
	tcase_add_test(calls, calls_are_answered_in_turn);
	tcase_add_test(calls, errors_and_descriptors_are_passed);
	tcase_add_test(calls, blocked_worker_is_given_up);
	tcase_add_test(calls, worker_holds_no_standard_stream);
	tcase_add_test(calls, too_long_answers_are_refused);
	tcase_add_test(calls, message_is_parsed_only_when_complete);
	suite_add_tcase(s, pool);
	tcase_set_timeout(pool, 120);
	tcase_add_loop_test(pool, every_task_is_run, 0, 13);
	tcase_add_test(pool, a_task_of_a_worker_killed_before_it_runs_is_lost);
	tcase_add_test(pool, many_blocked_tasks_do_not_add_up);
	tcase_add_test(pool, blocked_workers_are_reaped_when_they_have_ended);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
