/*
 * Everything that is written into a FIFO is read at once and forwarded in full, to a file or,
 * within limits, to a slower reader.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "fileio/fifo_relay.h"
#include "fileio/io.h"

#define LARGE (5u * 1024 * 1024 + 123) /* more than a pipe holds */

static char dir[] = "/tmp/check-fifo.XXXXXX"; /* for mkdtemp(3) */
static char *path;                            /* path of the FIFO */
static int from;   /* read end of the FIFO; -1: closed */
static int end[2]; /* pipe that hangs up to signal the end of the data; -1: closed */
static int file;   /* an empty regular file */

static void close_now(int *fd)
{
	util_close_p(fd);
	*fd = -1;
}

static void setup(void)
{
	/* An earlier test may have run in this process. */
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(from, 0);
	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
	file = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ck_assert_int_ge(file, 0);
}

static void teardown(void)
{
	close_now(&from);
	close_now(&end[0]);
	close_now(&end[1]);
	close_now(&file);
	(void)unlink(path);
	(void)rmdir(dir);
	free(path);
}

/* Returns byte i of the written data. */
static char byte_at(size_t i)
{
	return (char)(i % 251);
}

/*
 * Forks a writer, which writes `len` bytes and then keeps the FIFO open for `ms` milliseconds.  It
 * exits with 0 if all bytes could be written, 1 on EPIPE.
 */
static pid_t writer(size_t len, int ms)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC); /* does not block: `from` is a reader */
	pid_t pid = fork();

	if (pid == 0) {
		int rc = 0;

		close_now(&from);
		(void)signal(SIGPIPE, SIG_IGN);
		for (size_t i = 0; rc == 0 && i < len; i++) {
			static char chunk[4096];
			size_t at = i % sizeof(chunk);

			chunk[at] = byte_at(i);
			if (at == sizeof(chunk) - 1 || i == len - 1)
				rc = io_write_all(fd, chunk, at + 1, deadline_in_ms(10000));
		}
		(void)poll(NULL, 0, ms);
		_exit(rc == 0 ? 0 : rc == -EPIPE ? 1 : 2);
	}
	ck_assert_int_gt(pid, 0);
	(void)close(fd);
	return pid;
}

/* Waits for the process, which must exit normally; returns its exit status. */
static int exit_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The following tests relay to a file. */

static int first_writer;

static void check_file(size_t len)
{
	char *data = xmalloc(len + 1);

	ck_assert_int_eq(pread(file, data, len + 1, 0), (ssize_t)len);
	for (size_t i = 0; i < len; i++) {
		if (data[i] != byte_at(i))
			ck_abort_msg("byte %zu is wrong", i);
	}
	free(data);
}

START_TEST(file_receives_all_bytes)
{
	pid_t pid = writer(LARGE, 0);

	ck_assert_int_eq(fifo_relay_to_file(from, file, end[0], NULL, 0, NULL), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	check_file(LARGE);
}
END_TEST

START_TEST(file_of_a_writer_without_data_is_empty)
{
	pid_t pid = writer(0, 0);

	ck_assert_int_eq(fifo_relay_to_file(from, file, end[0], NULL, 0, NULL), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	check_file(0);
}
END_TEST

START_TEST(file_without_writer_is_empty)
{
	close_now(&end[1]);
	ck_assert_int_eq(fifo_relay_to_file(from, file, end[0], NULL, 0, NULL), 0);
	check_file(0);
}
END_TEST

/* Bytes that are written before the end is signalled are not lost. */
START_TEST(file_receives_bytes_written_before_the_end)
{
	int keeps_open = open(path, O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(10000, 0);

	ck_assert_int_eq(exit_of(pid), 0);
	close_now(&end[1]);
	ck_assert_int_eq(fifo_relay_to_file(from, file, end[0], NULL, 0, NULL), 0);
	check_file(10000);
	(void)close(keeps_open);
}
END_TEST

static bool fork_fails;

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
	if (!fork_fails)
		return __real_fork();
	errno = EAGAIN;
	return -1;
}

/* Without a fork, the relay runs in this process.  The FIFO can hold more than one chunk. */
START_TEST(file_receives_all_bytes_when_fork_fails)
{
	pid_t pid;

	(void)fcntl(from, F_SETPIPE_SZ, 1 << 20);
	pid = writer(LARGE, 0);
	fork_fails = true;
	ck_assert_int_eq(fifo_relay_to_file(from, file, end[0], NULL, 0, NULL), 0);
	fork_fails = false;
	ck_assert_int_eq(exit_of(pid), 0);
	check_file(LARGE);
}
END_TEST

struct seen {
	size_t bytes, max;
};

static int look(void *arg, const void *data, size_t len)
{
	struct seen *seen = arg;
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++) {
		if (p[i] != (unsigned char)byte_at(seen->bytes + i))
			return -EILSEQ;
	}
	seen->bytes += len;
	return seen->bytes > seen->max ? -EBADMSG : 0;
}

START_TEST(check_sees_all_bytes_in_order_and_can_stop)
{
	static const struct {
		size_t max;
		int rc;
	} cases[] = { { LARGE, 0 }, { 100, -EBADMSG } };
	struct seen seen = { 0, cases[_i].max };
	const struct fifo_relay_check check = { look, &seen };
	pid_t pid = writer(LARGE, 0);
	struct stat st;

	ck_assert_int_eq(fifo_relay_to_file(from, file, end[0], NULL, 0, &check), cases[_i].rc);
	ck_assert_int_eq(fstat(file, &st), 0);
	if (cases[_i].rc == 0)
		check_file(LARGE);
	else
		ck_assert_int_lt(st.st_size, 1 << 20);
	close_now(&from);
	ck_assert_int_eq(exit_of(pid), cases[_i].rc == 0 ? 0 : 1);
}
END_TEST

/* The writer has the FIFO open and writes no more. */
START_TEST(file_is_given_up_at_the_time_limit)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(io_write_all(fd, "x", 1, deadline_in_ms(10000)), 0);
	ck_assert_int_eq(fifo_relay_to_file(from, file, end[0], NULL, 50, NULL), -ETIMEDOUT);
	(void)close(fd);
}
END_TEST

START_TEST(full_disk_is_reported)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(LARGE, 0);

	ck_assert_int_ge(full, 0);
	ck_assert_int_eq(fifo_relay_to_file(from, full, end[0], NULL, 0, NULL), -ENOSPC);
	close_now(&from);
	ck_assert_int_eq(exit_of(pid), 1);
	(void)close(full);
}
END_TEST

/*
 * Forks a process that relays to the file.  Returns when the file has the first byte;
 * first_writer stays open.
 */
static pid_t to_file_in_child(void)
{
	int fd;
	pid_t pid = fork();
	struct stat st;

	if (pid == 0)
		_exit(fifo_relay_to_file(from, file, end[0], NULL, 0, NULL) == 0 ? 0 : 1);
	ck_assert_int_gt(pid, 0);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(io_write_all(fd, "", 1, deadline_in_ms(10000)), 0);
	do
		ck_assert_int_eq(fstat(file, &st), 0);
	while (st.st_size == 0);
	first_writer = fd;
	close_now(&from);
	return pid;
}

START_TEST(file_is_written_while_the_caller_is_stopped)
{
	pid_t pid = to_file_in_child(), other_writer = writer(LARGE, 0);
	int status;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(exit_of(other_writer), 0);
	(void)close(first_writer);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	ck_assert_int_eq(lseek(file, 0, SEEK_END), 1 + LARGE);
}
END_TEST

/* The writer is faster than the relay, so bytes are left in the FIFO. */
START_TEST(relay_to_file_ends_when_the_caller_is_killed)
{
	pid_t pid = to_file_in_child(), other_writer = writer(100 * LARGE, 0);
	int status;

	close_now(&end[1]);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(exit_of(other_writer), 1);
	(void)close(first_writer);
}
END_TEST

/* The following tests relay to a reader. */

static const struct fifo_relay_limits large_limits = { 1u << 30, 0, 0 };

static struct fifo_relay start(const struct fifo_relay_limits *limits)
{
	struct fifo_relay r;

	ck_assert_int_eq(fifo_relay_start(&r, from, end[0], limits), 0);
	close_now(&from);
	return r;
}

/* Reads to the end of file, and compares the bytes with those written. */
static void check_bytes(const struct fifo_relay *r, size_t len)
{
	static char data[65536];
	size_t at = 0;
	ssize_t n;

	while ((n = io_read(r->out, data, sizeof(data))) > 0) {
		for (size_t i = 0; i < (size_t)n; i++, at++) {
			if (data[i] != byte_at(at))
				ck_abort_msg("byte %zu is wrong", at);
		}
	}
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(at, len);
}

static const size_t lens[] = { 0, 1, 4096, 1u << 20, LARGE, 20 * LARGE };

START_TEST(reader_receives_all_bytes)
{
	pid_t pid = writer(lens[_i], 0);
	struct fifo_relay r = start(&large_limits);

	check_bytes(&r, lens[_i]);
	ck_assert_int_eq(fifo_relay_end(&r), 0);
	ck_assert_int_eq(exit_of(pid), 0);
}
END_TEST

/* The writer exits before the first byte is read. */
START_TEST(slow_reader_does_not_block_the_writer)
{
	pid_t pid = writer(20 * LARGE, 0);
	struct fifo_relay r = start(&large_limits);

	ck_assert_int_eq(exit_of(pid), 0);
	check_bytes(&r, 20 * LARGE);
	ck_assert_int_eq(fifo_relay_end(&r), 0);
}
END_TEST

START_TEST(reader_without_writer_receives_nothing)
{
	struct fifo_relay r = start(&large_limits);

	close_now(&end[1]);
	check_bytes(&r, 0);
	ck_assert_int_eq(fifo_relay_end(&r), 0);
}
END_TEST

/* Bytes that are written before the end is signalled are not lost. */
START_TEST(reader_receives_bytes_written_before_the_end)
{
	int keeps_open = open(path, O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(10000, 0);
	struct fifo_relay r;

	ck_assert_int_eq(exit_of(pid), 0);
	close_now(&end[1]);
	r = start(&large_limits);
	check_bytes(&r, 10000);
	ck_assert_int_eq(fifo_relay_end(&r), 0);
	(void)close(keeps_open);
}
END_TEST

/* While the FIFO has a name, the writer can write everything; without a name, it gets EPIPE. */
static const struct {
	bool named;
	int writer;
} names[] = { { true, 0 }, { false, 1 } };

START_TEST(relay_stops_at_the_memory_limit)
{
	const struct fifo_relay_limits small_memory = { 1u << 20, 0, 0 };
	pid_t pid = writer(50 * LARGE, 0);
	struct fifo_relay r;

	if (!names[_i].named)
		ck_assert_int_eq(unlink(path), 0);
	r = start(&small_memory);
	ck_assert_int_eq(exit_of(pid), names[_i].writer);
	ck_assert_int_eq(fifo_relay_end(&r), -EFBIG);
}
END_TEST

START_TEST(writer_waits_at_the_memory_limit)
{
	const struct fifo_relay_limits patient = { 1u << 20, 10000, 0 };
	pid_t pid = writer(10 * LARGE, 0);
	struct fifo_relay r = start(&patient);

	(void)poll(NULL, 0, 300); /* the reader begins late */
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	check_bytes(&r, 10 * LARGE);
	ck_assert_int_eq(fifo_relay_end(&r), 0);
	ck_assert_int_eq(exit_of(pid), 0);
}
END_TEST

START_TEST(writer_does_not_wait_for_ever)
{
	const struct fifo_relay_limits patient = { 1u << 20, 300, 0 };
	pid_t pid = writer(50 * LARGE, 0);
	struct fifo_relay r;

	if (!names[_i].named)
		ck_assert_int_eq(unlink(path), 0);
	r = start(&patient);
	ck_assert_int_eq(exit_of(pid), names[_i].writer);
	ck_assert_int_eq(fifo_relay_end(&r), -ENOBUFS);
}
END_TEST

START_TEST(relay_stops_at_the_time_limit)
{
	const struct fifo_relay_limits short_time = { 1u << 30, 0, 500 };
	pid_t pid = writer(LARGE, 1500);
	struct fifo_relay r = start(&short_time);

	check_bytes(&r, LARGE);
	ck_assert_int_eq(kill(pid, 0), 0);
	(void)unlink(path);
	ck_assert_int_eq(fifo_relay_end(&r), -ETIMEDOUT);
	ck_assert_int_eq(exit_of(pid), 0);
}
END_TEST

START_TEST(time_limit_starts_with_the_first_byte)
{
	const struct fifo_relay_limits short_time = { 1u << 30, 0, 2000 };
	pid_t pid = fork();
	struct fifo_relay r;

	if (pid == 0) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		(void)poll(NULL, 0, 100);
		_exit(write(fd, "\0", 1) == 1 ? 0 : 1);
	}
	r = start(&short_time);
	check_bytes(&r, 1);
	ck_assert_int_eq(fifo_relay_end(&r), 0);
	ck_assert_int_eq(exit_of(pid), 0);
}
END_TEST

START_TEST(closed_reader_is_reported)
{
	pid_t pid = writer(50 * LARGE, 0);
	struct fifo_relay r;

	if (!names[_i].named)
		ck_assert_int_eq(unlink(path), 0);
	r = start(&large_limits);
	ck_assert_int_eq(fifo_relay_end(&r), -EPIPE);
	ck_assert_int_eq(exit_of(pid), names[_i].writer);
}
END_TEST

/* Forks a process that starts a relay and reads one byte from it; returns after that byte. */
static pid_t starter(const struct fifo_relay_limits *limits)
{
	int began[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe2(began, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct fifo_relay r = start(limits);

		_exit(io_read(r.out, &byte, 1) == 1 && write(began[1], "", 1) == 1 ?
			      pause() : 1);
	}
	(void)close(began[1]);
	close_now(&from);
	ck_assert_int_eq(io_read(began[0], &byte, 1), 1);
	(void)close(began[0]);
	return pid;
}

START_TEST(writer_continues_while_the_caller_is_stopped)
{
	pid_t other_writer = writer(20 * LARGE, 0), pid = starter(&large_limits);

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(exit_of(other_writer), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(writer_receives_epipe_when_the_caller_is_killed)
{
	pid_t other_writer = writer(20000 * (size_t)LARGE, 0), pid = starter(&large_limits);

	(void)unlink(path);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(exit_of(other_writer), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fileio/fifo_relay");
	TCase *tc = tcase_create("fileio/fifo_relay");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, file_receives_all_bytes);
	tcase_add_test(tc, file_of_a_writer_without_data_is_empty);
	tcase_add_test(tc, file_without_writer_is_empty);
	tcase_add_test(tc, file_receives_bytes_written_before_the_end);
	tcase_add_test(tc, file_receives_all_bytes_when_fork_fails);
	tcase_add_loop_test(tc, check_sees_all_bytes_in_order_and_can_stop, 0, 2);
	tcase_add_test(tc, file_is_given_up_at_the_time_limit);
	tcase_add_test(tc, full_disk_is_reported);
	tcase_add_test(tc, file_is_written_while_the_caller_is_stopped);
	tcase_add_test(tc, relay_to_file_ends_when_the_caller_is_killed);
	tcase_add_loop_test(tc, reader_receives_all_bytes, 0, ARRAY_SIZE(lens));
	tcase_add_test(tc, slow_reader_does_not_block_the_writer);
	tcase_add_test(tc, reader_without_writer_receives_nothing);
	tcase_add_test(tc, reader_receives_bytes_written_before_the_end);
	tcase_add_loop_test(tc, relay_stops_at_the_memory_limit, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, writer_waits_at_the_memory_limit);
	tcase_add_loop_test(tc, writer_does_not_wait_for_ever, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, relay_stops_at_the_time_limit);
	tcase_add_test(tc, time_limit_starts_with_the_first_byte);
	tcase_add_loop_test(tc, closed_reader_is_reported, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, writer_continues_while_the_caller_is_stopped);
	tcase_add_test(tc, writer_receives_epipe_when_the_caller_is_killed);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
