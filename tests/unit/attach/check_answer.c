/* Requests that are not read, and answers that are late, slow, cut off, or too long. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "attach/answer.h"
#include "fileio/io.h"
#include "proc/procfs.h"

static struct jvm jvm;
static struct attach_socket asock;
static int ours, theirs;

/* The target is a child that does nothing: only its process state is read. */
static void setup(void)
{
	struct err err = { .code = EXIT_DONE };
	struct proc_status status;
	struct procfs proc;
	int pair[2];
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	jvm = (struct jvm){ .pid = pid, .nspid = pid, .start_ticks = status.start_ticks,
			    .uid = getuid(), .gid = getgid() };
	asock = (struct attach_socket){ .tmp_fd = -1 };
	ck_assert_int_eq(target_ns_open(&jvm, &asock.ns, &err), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	ours = pair[0];
	theirs = pair[1];
}

static void teardown(void)
{
	target_ns_close(&asock.ns);
	(void)close(ours);
	if (theirs >= 0)
		(void)close(theirs);
	(void)kill(jvm.pid, SIGKILL);
	(void)waitpid(jvm.pid, NULL, 0);
}

/*
 * Forks a peer that `times` times sends `len` bytes and then pauses.  At the end it keeps the
 * connection open if `stays` is true, or exits.
 */
static pid_t peer(size_t len, int times, unsigned pause_ms, bool stays)
{
	static char data[1 << 20];
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid > 0) {
		(void)close(theirs);
		theirs = -1;
		return pid;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close(ours);
	memset(data, 'x', sizeof(data));
	memcpy(data, "0\n", 2);
	for (int i = 0; i < times; i++) {
		if (io_write_all(theirs, data, len, deadline_in_ms(30000)) < 0)
			_exit(1);
		(void)poll(NULL, 0, (int)pause_ms);
	}
	while (stays)
		(void)pause();
	_exit(0);
}

static int exchange(const struct attach_opts *opts, bool is_long, struct spool *answer,
		    struct err *err)
{
	struct answer_reader r = {
		.asock = &asock, .sock = ours, .opts = opts, .is_long = is_long
	};

	if (answer_await(&r, deadline_in_ms(opts->timeout_ms), err) < 0)
		return -1;
	return answer_read(&r, answer, err);
}

static void stop(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static int64_t ms_since(int64_t begin)
{
	return (monotonic_ns() - begin) / 1000000;
}

static const struct {
	size_t len;
	int times;
	unsigned pause_ms, timeout_ms;
	bool stays;
	enum exit_code code;
	const char *text; /* part of the error */
} answers[] = {
	{ 0, 0, 0, 200, true, EXIT_ATTACH, "did not answer within 0.2 s" },
	{ 0, 0, 0, 200, false, EXIT_ATTACH, "closed the connection" },
	{ 10, 1, 0, 5000, false, EXIT_DONE, "" },
	{ 10, 1, 0, 200, true, EXIT_PARTIAL, "10 bytes received" },
	{ 1, 100000, 20, 200, true, EXIT_PARTIAL, "stopped in the middle of its answer" },
	{ 65536, 1, 0, 200, true, EXIT_PARTIAL, "65536 bytes received" },
	/* takes 2.4 s, longer than the timeout, but sends 64 KB (STALL_BYTES) in 0.2 s */
	{ 65536 / 10 + 1, 120, 20, 1500, false, EXIT_DONE, "" },
};

START_TEST(an_answer_ends_or_goes_on_within_the_timeout)
{
	const struct attach_opts opts = { .timeout_ms = answers[_i].timeout_ms };
	pid_t pid = peer(answers[_i].len, answers[_i].times, answers[_i].pause_ms,
			 answers[_i].stays);
	struct spool answer = SPOOL_INIT;
	struct err err = { .code = EXIT_DONE };
	int64_t begin = monotonic_ns();
	int rc = exchange(&opts, false, &answer, &err);

	ck_assert_int_eq(err.code, answers[_i].code);
	ck_assert_int_eq(rc, answers[_i].code == EXIT_DONE ? 0 : -1);
	ck_assert_msg(strstr(err.text, answers[_i].text) != NULL, "%s", err.text);
	ck_assert_int_lt(ms_since(begin), 10000);
	if (rc == 0)
		ck_assert_uint_eq(spool_len(&answer), answers[_i].len * (size_t)answers[_i].times);
	spool_release(&answer);
	stop(pid);
}
END_TEST

/* jtool may be stopped (SIGSTOP) until the deadline has passed: it reads the data that arrived. */
START_TEST(data_that_is_there_is_taken_after_the_deadline)
{
	const struct attach_opts opts = { .timeout_ms = 0 };
	pid_t pid = peer(70000, 1, 0, false);
	struct spool answer = SPOOL_INIT;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(exchange(&opts, false, &answer, &err), 0);
	ck_assert_uint_eq(spool_len(&answer), 70000);
	spool_release(&answer);
}
END_TEST

START_TEST(a_long_operation_may_be_silent_beyond_the_timeout)
{
	const struct attach_opts opts = { .timeout_ms = 50 };
	struct spool answer = SPOOL_INIT;
	struct err err = { .code = EXIT_DONE };
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)poll(NULL, 0, 400);
		_exit(write(theirs, "0\ndone", 6) == 6 ? 0 : 1);
	}
	(void)close(theirs);
	theirs = -1;
	ck_assert_int_eq(exchange(&opts, true, &answer, &err), 0);
	ck_assert_uint_eq(spool_len(&answer), 6);
	spool_release(&answer);
	stop(pid);
}
END_TEST

static const struct {
	uint64_t max;
	bool cut;
	uint64_t len; /* of the stored answer; 0: refused */
} limits[] = {
	{ 1000000, false, 0 }, { 3 << 20, false, 3 << 20 }, { 5000, true, 5000 },
	{ 4 << 20, true, 3 << 20 }, { 0, false, 3 << 20 },
};

START_TEST(an_answer_beyond_its_limit_is_refused_or_cut)
{
	const struct attach_opts opts = { .timeout_ms = 10000, .max = limits[_i].max,
					  .cut = limits[_i].cut };
	pid_t pid = peer(1 << 20, 3, 0, false);
	struct spool answer = SPOOL_INIT;
	struct err err = { .code = EXIT_DONE };
	int rc = exchange(&opts, false, &answer, &err);

	ck_assert_int_eq(rc, limits[_i].len ? 0 : -1);
	ck_assert_int_eq(err.code, rc < 0 ? EXIT_PARTIAL : EXIT_DONE);
	if (rc == 0)
		ck_assert_uint_eq(spool_len(&answer), limits[_i].len);
	else
		ck_assert_uint_le(spool_len(&answer), limits[_i].max + 64);
	spool_release(&answer);
	stop(pid);
}
END_TEST

/* Requests with their last NUL, and what the JVM receives */
#define V1 "1\0jcmd\0GC.run\0\0"
#define V2 "2\00013\0jcmd\0GC.run\0"
static const struct {
	struct buf request;
	const char *received;
	size_t len, first; /* length of all that is received, and of the first part */
	const char *version; /* of the JVM; NULL: unknown */
} requests[] = {
	{ { .data = (char *)V1, .len = sizeof(V1) }, V1, sizeof(V1), sizeof(V1) - 1, NULL },
	{ { .data = (char *)V1, .len = sizeof(V1) }, V1, sizeof(V1), sizeof(V1) - 1, "23.0.2" },
	{ { .data = (char *)V1, .len = sizeof(V1) }, "0" V1, sizeof("0" V1), 1, "24" },
	{ { .data = (char *)V2, .len = sizeof(V2) }, "0" V2, sizeof("0" V2), 1, NULL },
};
#define N_REQUESTS ARRAY_SIZE(requests)

static int send_and_read(struct answer_reader *r, int i, struct spool *answer, struct err *err)
{
	struct deadline d = deadline_in_ms(r->opts->timeout_ms);

	jvm.version = (char *)requests[i].version;
	if (answer_request(r, &requests[i].request, d, err) < 0 || answer_await(r, d, err) < 0)
		return -1;
	return answer_read(r, answer, err);
}

/* A busy listener would carry out a complete request after jtool has reported the failure. */
START_TEST(request_that_is_not_read_in_time_stays_incomplete)
{
	const struct attach_opts opts = { .timeout_ms = 100 };
	struct answer_reader r = { .asock = &asock, .sock = ours, .opts = &opts,
				   .is_long = (size_t)_i >= N_REQUESTS };
	struct err err = { .code = EXIT_DONE };
	struct spool answer = SPOOL_INIT;
	char seen[100];

	ck_assert_int_eq(send_and_read(&r, _i % N_REQUESTS, &answer, &err), -1);
	ck_assert_int_eq(err.code, EXIT_ATTACH);
	ck_assert_msg(strstr(err.text, "will not carry out the request") != NULL, "%s", err.text);
	ck_assert_int_eq(shutdown(ours, SHUT_RDWR), 0);
	ck_assert_int_eq(recv(theirs, seen, sizeof(seen), 0), requests[_i % N_REQUESTS].first);
	ck_assert_int_eq(recv(theirs, seen, sizeof(seen), 0), 0);
}
END_TEST

/* Reads the request and answers with the number of bytes. */
static void _noreturn_ read_and_answer(int i, unsigned after_ms)
{
	char data[100];
	const struct deadline d = deadline_in_ms(30000);

	(void)close(ours);
	(void)poll(NULL, 0, (int)after_ms);
	_exit(io_read_exact(theirs, data, requests[i].len, d) < 0 ||
	      memcmp(data, requests[i].received, requests[i].len) != 0 ||
	      io_write_all(theirs, "0\nread", 6, d) < 0);
}

START_TEST(request_is_complete_once_it_is_read)
{
	static const unsigned after_ms[] = { 0, 3, 300 };
	const struct attach_opts opts = { .timeout_ms = 10000 };
	struct answer_reader r = { .asock = &asock, .sock = ours, .opts = &opts };
	struct err err = { .code = EXIT_DONE };
	struct spool answer = SPOOL_INIT;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		read_and_answer(_i % N_REQUESTS, after_ms[_i / N_REQUESTS]);
	(void)close(theirs);
	theirs = -1;
	ck_assert_msg(send_and_read(&r, _i % N_REQUESTS, &answer, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(spool_len(&answer), 6);
	spool_release(&answer);
	stop(pid);
}
END_TEST

/* A JVM that refuses the version answers before it has read the request. */
START_TEST(early_answer_is_read)
{
	const struct attach_opts opts = { .timeout_ms = 10000 };
	struct answer_reader r = { .asock = &asock, .sock = ours, .opts = &opts };
	pid_t pid = peer(4, 1, 0, false);
	struct err err = { .code = EXIT_DONE };
	struct spool answer = SPOOL_INIT;

	ck_assert_int_eq(answer_request(&r, &requests[0].request, deadline_in_ms(10000), &err), 0);
	ck_assert(!r.is_withheld);
	ck_assert_int_eq(answer_await(&r, deadline_in_ms(10000), &err), 0);
	spool_release(&answer);
	stop(pid);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attach/answer");
	TCase *tc = tcase_create("answers");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, an_answer_ends_or_goes_on_within_the_timeout, 0,
			    ARRAY_SIZE(answers));
	tcase_add_test(tc, data_that_is_there_is_taken_after_the_deadline);
	tcase_add_test(tc, a_long_operation_may_be_silent_beyond_the_timeout);
	tcase_add_loop_test(tc, an_answer_beyond_its_limit_is_refused_or_cut, 0,
			    ARRAY_SIZE(limits));
	tcase_add_loop_test(tc, request_that_is_not_read_in_time_stays_incomplete, 0,
			    2 * N_REQUESTS);
	tcase_add_loop_test(tc, request_is_complete_once_it_is_read, 0, 3 * N_REQUESTS);
	tcase_add_test(tc, early_answer_is_read);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
