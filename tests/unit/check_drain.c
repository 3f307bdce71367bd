/* Taking what comes through a FIFO: all of it, from writers that come, go, or never come. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/drain.h"
#include "base/io.h"
#include "base/xalloc.h"

#define MUCH (5u * 1024 * 1024 + 123) /* more than any pipe holds */

static char dir[] = "/tmp/check-drain.XXXXXX";
static char *path;
static int from, file, end[2], first_writer;

static void setup(void)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6); /* again, where tests do not fork */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	file = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ck_assert_int_ge(from, 0);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
}

static void teardown(void)
{
	(void)close(from);
	(void)close(file);
	(void)close(end[0]);
	(void)close(end[1]);
	(void)unlink(path);
	(void)rmdir(dir);
	free(path);
}

/* A writer of `len` bytes: exit 0 when all were taken, 1 when the pipe broke. */
static pid_t writer(size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC); /* while there is a reader, or it would wait */
	pid_t pid = fork();

	if (pid == 0) {
		int rc = 0;

		(void)close(from);
		(void)signal(SIGPIPE, SIG_IGN);
		for (size_t i = 0; rc == 0 && i < len; i++) {
			static char piece[4096];
			size_t at = i % sizeof(piece);

			piece[at] = (char)(i % 251);
			if (at == sizeof(piece) - 1 || i == len - 1)
				rc = io_write_all(fd, piece, at + 1, deadline_in_ms(10000));
		}
		_exit(rc == 0 ? 0 : rc == -EPIPE ? 1 : 2);
	}
	ck_assert_int_gt(pid, 0);
	(void)close(fd);
	return pid;
}

static int exit_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void check_file(size_t len)
{
	char *data = xmalloc(len + 1);

	ck_assert_int_eq(pread(file, data, len + 1, 0), (ssize_t)len);
	for (size_t i = 0; i < len; i++) {
		if (data[i] != (char)(i % 251))
			ck_abort_msg("byte %zu is wrong", i);
	}
	free(data);
}

START_TEST(all_of_it)
{
	pid_t pid = writer(MUCH);

	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	check_file(MUCH);
}
END_TEST

START_TEST(writer_without_a_word)
{
	pid_t pid = writer(0);

	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	check_file(0);
}
END_TEST

START_TEST(nobody_came)
{
	(void)close(end[1]);
	end[1] = -1;
	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	check_file(0);
}
END_TEST

/* What was written before the end was told is not lost. */
START_TEST(end_before_the_last_bytes)
{
	int keeps_open = open(path, O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(10000);

	ck_assert_int_eq(exit_of(pid), 0);
	(void)close(end[1]);
	end[1] = -1;
	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	check_file(10000);
	(void)close(keeps_open);
}
END_TEST

START_TEST(full_disk)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(MUCH);

	ck_assert_int_ge(full, 0);
	ck_assert_int_eq(drain_fifo(from, full, end[0], NULL), -ENOSPC);
	(void)close(from);
	from = -1;
	ck_assert_int_eq(exit_of(pid), 1);
	(void)close(full);
}
END_TEST

/* A process that drains, when the first byte has been taken; somebody else writes the rest. */
static pid_t drainer(void)
{
	int fd;
	pid_t pid = fork();
	struct stat st;

	if (pid == 0)
		_exit(drain_fifo(from, file, end[0], NULL) == 0 ? 0 : 1);
	ck_assert_int_gt(pid, 0);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(io_write_all(fd, "", 1, deadline_in_ms(10000)), 0);
	do
		ck_assert_int_eq(fstat(file, &st), 0);
	while (st.st_size == 0);
	first_writer = fd;
	(void)close(from);
	from = -1;
	return pid;
}

START_TEST(stopped)
{
	pid_t pid = drainer(), rest = writer(MUCH);
	int status;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(exit_of(rest), 0);
	(void)close(first_writer);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	ck_assert_int_eq(lseek(file, 0, SEEK_END), 1 + MUCH);
}
END_TEST

/* Who writes faster than we read is not read to the end. */
START_TEST(killed)
{
	pid_t pid = drainer(), rest = writer(100 * MUCH);
	int status;

	(void)close(end[1]);
	end[1] = -1;
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(exit_of(rest), 1);
	(void)close(first_writer);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("drain");
	TCase *tc = tcase_create("drain");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, all_of_it);
	tcase_add_test(tc, writer_without_a_word);
	tcase_add_test(tc, nobody_came);
	tcase_add_test(tc, end_before_the_last_bytes);
	tcase_add_test(tc, full_disk);
	tcase_add_test(tc, stopped);
	tcase_add_test(tc, killed);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
