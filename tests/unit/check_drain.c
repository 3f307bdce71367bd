/* Taking what comes through a FIFO: all of it, from writers that come, go, or never come. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/drain.h"
#include "fifo.h"

static int file, first_writer;

static void setup(void)
{
	make_fifo();
	file = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ck_assert_int_ge(file, 0);
}

static void teardown(void)
{
	(void)close(file);
	remove_fifo();
}

static void check_file(size_t len)
{
	char *data = xmalloc(len + 1);

	ck_assert_int_eq(pread(file, data, len + 1, 0), (ssize_t)len);
	for (size_t i = 0; i < len; i++) {
		if (data[i] != written_at(i))
			ck_abort_msg("byte %zu is wrong", i);
	}
	free(data);
}

START_TEST(all_of_it)
{
	pid_t pid = writer(MUCH, 0);

	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	check_file(MUCH);
}
END_TEST

START_TEST(writer_without_a_word)
{
	pid_t pid = writer(0, 0);

	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	ck_assert_int_eq(exit_of(pid), 0);
	check_file(0);
}
END_TEST

START_TEST(nobody_came)
{
	close_now(&end[1]);
	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	check_file(0);
}
END_TEST

/* What was written before the end was told is not lost. */
START_TEST(end_before_the_last_bytes)
{
	int keeps_open = open(path, O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(10000, 0);

	ck_assert_int_eq(exit_of(pid), 0);
	close_now(&end[1]);
	ck_assert_int_eq(drain_fifo(from, file, end[0], NULL), 0);
	check_file(10000);
	(void)close(keeps_open);
}
END_TEST

START_TEST(full_disk)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(MUCH, 0);

	ck_assert_int_ge(full, 0);
	ck_assert_int_eq(drain_fifo(from, full, end[0], NULL), -ENOSPC);
	close_now(&from);
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
	close_now(&from);
	return pid;
}

START_TEST(stopped)
{
	pid_t pid = drainer(), rest = writer(MUCH, 0);
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
	pid_t pid = drainer(), rest = writer(100 * MUCH, 0);
	int status;

	close_now(&end[1]);
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
