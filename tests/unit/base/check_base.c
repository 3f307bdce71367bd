#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "fileio/io.h"
#include "fileio/spool.h"
#include "base/verbose.h"
#include "base/xalloc.h"

static void on_signal(int sig)
{
	(void)sig;
}

/* Installs the handler without SA_RESTART, so that system calls fail with EINTR. */
static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	ck_assert_int_eq(sigaction(SIGUSR1, &act, NULL), 0);
}

START_TEST(buf_grows_and_stays_nul_terminated)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	ck_assert_str_eq(buf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_addf(&b, "%03d", i);
	ck_assert_uint_eq(b.len, 3000);
	ck_assert_uint_eq(strlen(b.data), 3000);
	ck_assert_str_eq(b.data + 2997, "999");
	buf_reset(&b);
	ck_assert_str_eq(buf_str(&b), "");
	buf_add(&b, "a\0b", 3);
	buf_addc(&b, 'c');
	ck_assert_mem_eq(b.data, "a\0bc", 5);
}
END_TEST

START_TEST(buf_take_leaves_an_empty_buffer)
{
	struct buf b = BUF_INIT;
	char *empty = buf_take(&b), *full;

	ck_assert_str_eq(empty, "");
	buf_adds(&b, "text");
	full = buf_take(&b);
	ck_assert_str_eq(full, "text");
	ck_assert_ptr_null(b.data);
	ck_assert_uint_eq(b.len, 0);
	free(empty);
	free(full);
}
END_TEST

START_TEST(buf_reserve_returns_space_after_the_content)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char *room;

	buf_adds(&b, "12");
	room = buf_reserve(&b, 100000);
	memset(room, 'x', 100000);
	b.len += 100000;
	buf_adds(&b, "end");
	ck_assert_uint_eq(b.len, 100005);
	ck_assert_mem_eq(b.data, "12xx", 4);
	ck_assert_str_eq(b.data + 100001, "xend");
}
END_TEST

START_TEST(err_keeps_the_first_error_on_one_line)
{
	struct err err = { .code = EXIT_DONE };

	err_prefix(&err, "none");
	ck_assert_str_eq(err.text, "");
	ck_assert_int_eq(err_set(&err, EXIT_TARGET, "pid %d: %s", 7, "a\nb\tc\x1b[2J\xc2\x9b"), -1);
	ck_assert_str_eq(err.text, "pid 7: a b c\\x1B[2J\\xC2\\x9B");
	ck_assert_int_eq(err_set(&err, EXIT_AGENT, "later"), -1);
	ck_assert_int_eq(err.code, EXIT_TARGET);
	err_prefix(&err, "attach\n%d", 1);
	ck_assert_str_eq(err.text, "attach 1: pid 7: a b c\\x1B[2J\\xC2\\x9B");
}
END_TEST

START_TEST(err_text_is_truncated_to_its_size)
{
	struct err err = { .code = EXIT_DONE };
	char long_text[3000];

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	(void)err_set(&err, EXIT_ANSWER, "%s", long_text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	err_prefix(&err, "%s", "before");
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert_int_eq(strncmp(err.text, "before: xxx", 11), 0);
	err_prefix(&err, "%s", long_text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}
END_TEST

START_TEST(xgrow_doubles_the_capacity_and_keeps_the_content)
{
	int *array = NULL;
	size_t cap = 0, moves = 0;

	for (size_t i = 0; i < 10000; i++) {
		size_t before = cap;

		array = xgrow(array, i, &cap, sizeof(*array));
		ck_assert_uint_gt(cap, i);
		moves += cap != before;
		array[i] = (int)i;
	}
	ck_assert_uint_lt(moves, 20);
	for (size_t i = 0; i < 10000; i++)
		ck_assert_int_eq(array[i], (int)i);
	free(array);
}
END_TEST

START_TEST(xalloc_functions_return_copies)
{
	char *cut = xstrndup("abcdef", 3), *all = xstrndup("ab", 10);
	char *printed = xasprintf("%s-%d", all, 5);
	void *empty = xmalloc(0);

	ck_assert_str_eq(cut, "abc");
	ck_assert_str_eq(all, "ab");
	ck_assert_str_eq(printed, "ab-5");
	ck_assert_ptr_nonnull(empty);
	free(cut);
	free(all);
	free(printed);
	free(empty);
}
END_TEST

/* The next test needs an allocator that returns NULL; AddressSanitizer aborts by default. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* A failed allocation ends the process with the exit code of a partial result. */
START_TEST(xreallocarray_overflow_exits_with_partial)
{
	void *p = xreallocarray(NULL, SIZE_MAX / 2, 3);

	free(p);
}
END_TEST

START_TEST(deadline_counts_down_to_zero)
{
	struct deadline past = { monotonic_ns() - 1 }, far = { INT64_MAX };
	struct deadline soon = deadline_in_ms(60000);

	ck_assert(deadline_passed(past));
	ck_assert_int_eq(deadline_left_ms(past), 0);
	ck_assert(!deadline_passed(far));
	ck_assert_int_eq(deadline_left_ms(far), INT32_MAX);
	ck_assert_int_gt(deadline_left_ms(soon), 50000);
	ck_assert_int_le(deadline_left_ms(soon), 60000);
}
END_TEST

START_TEST(io_wait_times_out_and_reports_end_of_file)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(io_wait(fds[0], POLLIN, deadline_in_ms(1)), -ETIMEDOUT);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	ck_assert_int_eq(io_wait(fds[0], POLLIN, deadline_in_ms(5000)), 0);
	close(fds[1]);
	ck_assert_int_eq(io_wait(fds[0], POLLIN, deadline_in_ms(5000)), 0);
	close(fds[0]);
}
END_TEST

START_TEST(io_read_full_and_exact_return_the_requested_bytes)
{
	struct deadline d = deadline_in_ms(5000);
	char data[8];
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(io_write_all(fds[1], "abcdefg", 7, d), 0);
	ck_assert_int_eq(io_read_exact(fds[0], data, 4, d), 0);
	ck_assert_mem_eq(data, "abcd", 4);
	ck_assert_int_eq(io_read_exact(fds[0], data, 4, deadline_in_ms(1)), -ETIMEDOUT);
	ck_assert_int_eq(io_write_all(fds[1], "hi", 2, d), 0);
	close(fds[1]);
	ck_assert_int_eq(io_read_full(fds[0], data, sizeof(data)), 2);
	ck_assert_int_eq(io_read_exact(fds[0], data, 1, d), -EPIPE);
	close(fds[0]);
	ck_assert_int_eq(io_read_full(-1, data, 1), -EBADF);
}
END_TEST

START_TEST(io_write_to_a_closed_socket_returns_epipe_without_a_signal)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	close(fds[0]);
	(void)signal(SIGPIPE, SIG_DFL);
	ck_assert_int_eq(io_write_all(fds[1], "x", 1, deadline_in_ms(5000)), -EPIPE);
	close(fds[1]);
}
END_TEST

START_TEST(io_write_to_a_full_socket_times_out)
{
	static char data[1 << 20];
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_int_eq(io_write_all(fds[1], data, sizeof(data), deadline_in_ms(20)), -ETIMEDOUT);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* A child writes byte by byte and interrupts the reader with signals. */
START_TEST(io_reads_continue_after_signals)
{
	int fds[2], status;
	char data[500];
	pid_t child;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 500; i++) {
			(void)kill(getppid(), SIGUSR1);
			if (write(fds[1], "x", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	ck_assert_int_eq(io_read_exact(fds[0], data, 400, deadline_in_ms(10000)), 0);
	ck_assert_int_eq(io_read_full(fds[0], data, sizeof(data)), 100);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(fds[0]);
}
END_TEST

static int file_with(size_t len)
{
	char path[] = "/tmp/check_base.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	for (size_t i = 0; i < len; i++)
		ck_assert_int_eq(write(fd, "x", 1), 1);
	ck_assert_int_eq((int)lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

START_TEST(io_slurp_reads_a_complete_file_up_to_its_limit)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int fd = file_with(10000);

	buf_adds(&b, "before:");
	ck_assert_int_eq(io_slurp(fd, &b, 10000), 0);
	ck_assert_uint_eq(b.len, 10007);
	ck_assert_int_eq((int)lseek(fd, 0, SEEK_SET), 0);
	buf_reset(&b);
	ck_assert_int_eq(io_slurp(fd, &b, 9999), -EFBIG);
	ck_assert_uint_eq(b.len, 9999);
	ck_assert_uint_eq(strlen(b.data), 9999);
	close(fd);
	ck_assert_int_eq(io_slurp(fd, &b, 1), -EBADF);
}
END_TEST

START_TEST(spool_returns_every_byte_in_order)
{
	struct spool s = SPOOL_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t step = SPOOL_MEMORY_MAX / 4 + 1;
	char *piece = xmalloc(step);

	for (int i = 0; i < 6; i++) {
		memset(piece, 'a' + i, step);
		ck_assert_int_eq(spool_add(&s, piece, step), 0);
	}
	ck_assert_uint_eq(spool_len(&s), 6 * step);
	ck_assert_int_ge(s.file, 0);
	ck_assert_int_eq(spool_text(&s, &text, 6 * step - 1), -EFBIG);
	ck_assert_int_eq(spool_text(&s, &text, 6 * step), 0);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_int_eq(text.data[i * step], 'a' + (int)i);
		ck_assert_int_eq(text.data[(i + 1) * step - 1], 'a' + (int)i);
	}
	spool_skip(&s, 3);
	ck_assert_uint_eq(spool_len(&s), 6 * step - 3);
	spool_release(&s);
	free(piece);
}
END_TEST

START_TEST(spool_writes_to_a_descriptor)
{
	struct spool s = SPOOL_INIT;
	char data[16] = "";
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(spool_add(&s, "0\nanswer", 8), 0);
	spool_skip(&s, 2);
	ck_assert_int_eq(spool_write(&s, fds[1]), 0);
	close(fds[1]);
	ck_assert_int_eq(io_read_full(fds[0], data, sizeof(data)), 6);
	ck_assert_str_eq(data, "answer");
	close(fds[0]);
	spool_release(&s);
}
END_TEST

START_TEST(verbose_step_prints_only_with_verbose)
{
	struct verbose verbose = { monotonic_ns() };
	char data[256] = "";
	int fds[2], saved = dup(STDERR_FILENO);

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_ge(dup2(fds[1], STDERR_FILENO), 0);
	verbose_step(NULL, "never %s", "shown");
	verbose_step(&verbose, "step %d\x1b", 1);
	ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
	close(saved);
	close(fds[1]);
	ck_assert_int_gt(io_read_full(fds[0], data, sizeof(data) - 1), 0);
	close(fds[0]);
	ck_assert_ptr_null(strstr(data, "never"));
	ck_assert_ptr_nonnull(strstr(data, " ms  step 1\\x1B\n"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *tc = tcase_create("base");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, catch_signals, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, buf_grows_and_stays_nul_terminated);
	tcase_add_test(tc, buf_take_leaves_an_empty_buffer);
	tcase_add_test(tc, buf_reserve_returns_space_after_the_content);
	tcase_add_test(tc, err_keeps_the_first_error_on_one_line);
	tcase_add_test(tc, err_text_is_truncated_to_its_size);
	tcase_add_test(tc, xgrow_doubles_the_capacity_and_keeps_the_content);
	tcase_add_test(tc, xalloc_functions_return_copies);
	tcase_add_exit_test(tc, xreallocarray_overflow_exits_with_partial, EXIT_PARTIAL);
	tcase_add_test(tc, deadline_counts_down_to_zero);
	tcase_add_test(tc, io_wait_times_out_and_reports_end_of_file);
	tcase_add_test(tc, io_read_full_and_exact_return_the_requested_bytes);
	tcase_add_test(tc, io_write_to_a_closed_socket_returns_epipe_without_a_signal);
	tcase_add_test(tc, io_write_to_a_full_socket_times_out);
	tcase_add_test(tc, io_reads_continue_after_signals);
	tcase_add_test(tc, io_slurp_reads_a_complete_file_up_to_its_limit);
	tcase_add_test(tc, spool_returns_every_byte_in_order);
	tcase_add_test(tc, spool_writes_to_a_descriptor);
	tcase_add_test(tc, verbose_step_prints_only_with_verbose);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
