/* What comes through a FIFO is taken at once and passed on in full, within limits. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/relay.h"
#include "fifo.h"

static const struct relay_limits plenty = { 1u << 30, 0 };

static struct relay start(const struct relay_limits *limits)
{
	struct relay r;

	ck_assert_int_eq(relay_start(&r, from, end[0], limits), 0);
	close_now(&from);
	return r;
}

/* Read to the end, all as it was written. */
static void check_bytes(const struct relay *r, size_t len)
{
	static char data[65536];
	size_t at = 0;
	ssize_t n;

	while ((n = io_read(r->out, data, sizeof(data))) > 0) {
		for (size_t i = 0; i < (size_t)n; i++, at++) {
			if (data[i] != written_at(at))
				ck_abort_msg("byte %zu is wrong", at);
		}
	}
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(at, len);
}

static const size_t lens[] = { 0, 1, 4096, 1u << 20, MUCH, 20 * MUCH };

START_TEST(all_of_it)
{
	pid_t pid = writer(lens[_i], 0);
	struct relay r = start(&plenty);

	check_bytes(&r, lens[_i]);
	ck_assert_int_eq(relay_end(&r), 0);
	ck_assert_int_eq(exit_of(pid), 0);
}
END_TEST

/* The writer is done before a byte is read. */
START_TEST(reader_is_slow)
{
	pid_t pid = writer(20 * MUCH, 0);
	struct relay r = start(&plenty);

	ck_assert_int_eq(exit_of(pid), 0);
	check_bytes(&r, 20 * MUCH);
	ck_assert_int_eq(relay_end(&r), 0);
}
END_TEST

START_TEST(nobody_came)
{
	struct relay r = start(&plenty);

	close_now(&end[1]);
	check_bytes(&r, 0);
	ck_assert_int_eq(relay_end(&r), 0);
}
END_TEST

/* What was written before the end was told is not lost. */
START_TEST(end_before_the_last_bytes)
{
	int keeps_open = open(path, O_WRONLY | O_CLOEXEC);
	pid_t pid = writer(10000, 0);
	struct relay r;

	ck_assert_int_eq(exit_of(pid), 0);
	close_now(&end[1]);
	r = start(&plenty);
	check_bytes(&r, 10000);
	ck_assert_int_eq(relay_end(&r), 0);
	(void)close(keeps_open);
}
END_TEST

/* With a name, the writer is heard to his end; without one the pipe breaks. */
static const struct {
	bool named;
	int writer;
} names[] = { { true, 0 }, { false, 1 } };

START_TEST(too_much_waits)
{
	const struct relay_limits little = { 1u << 20, 0 };
	pid_t pid = writer(50 * MUCH, 0);
	struct relay r;

	if (!names[_i].named)
		ck_assert_int_eq(unlink(path), 0);
	r = start(&little);
	ck_assert_int_eq(exit_of(pid), names[_i].writer);
	ck_assert_int_eq(relay_end(&r), -EFBIG);
}
END_TEST

START_TEST(it_takes_too_long)
{
	const struct relay_limits hurry = { 1u << 30, 500 };
	pid_t pid = writer(MUCH, 1500);
	struct relay r = start(&hurry);

	check_bytes(&r, MUCH);
	ck_assert_int_eq(kill(pid, 0), 0);
	(void)unlink(path);
	ck_assert_int_eq(relay_end(&r), -ETIMEDOUT);
	ck_assert_int_eq(exit_of(pid), 0);
}
END_TEST

/* The clock runs from the first byte. */
START_TEST(it_begins_late)
{
	const struct relay_limits hurry = { 1u << 30, 2000 };
	pid_t pid = fork();
	struct relay r;

	if (pid == 0) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		(void)poll(NULL, 0, 100);
		_exit(write(fd, "\0", 1) == 1 ? 0 : 1);
	}
	r = start(&hurry);
	check_bytes(&r, 1);
	ck_assert_int_eq(relay_end(&r), 0);
	ck_assert_int_eq(exit_of(pid), 0);
}
END_TEST

START_TEST(nobody_reads)
{
	pid_t pid = writer(50 * MUCH, 0);
	struct relay r;

	if (!names[_i].named)
		ck_assert_int_eq(unlink(path), 0);
	r = start(&plenty);
	ck_assert_int_eq(relay_end(&r), -EPIPE);
	ck_assert_int_eq(exit_of(pid), names[_i].writer);
}
END_TEST

/* Who starts it, in a process to be hurt; its pipe, to see that it began. */
static pid_t starter(const struct relay_limits *limits)
{
	int told[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe2(told, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct relay r = start(limits);

		_exit(io_read(r.out, &byte, 1) == 1 && write(told[1], "", 1) == 1 ?
			      pause() : 1);
	}
	(void)close(told[1]);
	close_now(&from);
	ck_assert_int_eq(io_read(told[0], &byte, 1), 1);
	(void)close(told[0]);
	return pid;
}

START_TEST(stopped)
{
	pid_t rest = writer(20 * MUCH, 0), pid = starter(&plenty);

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(exit_of(rest), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(killed)
{
	pid_t rest = writer(20000 * (size_t)MUCH, 0), pid = starter(&plenty);

	(void)unlink(path);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(exit_of(rest), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("relay");
	TCase *tc = tcase_create("relay");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, make_fifo, remove_fifo);
	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, all_of_it, 0, ARRAY_SIZE(lens));
	tcase_add_test(tc, reader_is_slow);
	tcase_add_test(tc, nobody_came);
	tcase_add_test(tc, end_before_the_last_bytes);
	tcase_add_loop_test(tc, too_much_waits, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, it_takes_too_long);
	tcase_add_test(tc, it_begins_late);
	tcase_add_loop_test(tc, nobody_reads, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, stopped);
	tcase_add_test(tc, killed);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
