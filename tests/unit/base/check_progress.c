/* Progress is one line on a terminal; nothing is printed elsewhere. */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "fileio/io.h"
#include "base/progress.h"
#include "base/terminal.h"

static int screen, saved_stderr;

static void setup(void)
{
	int terminal;

	screen = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(screen, 0);
	ck_assert_int_eq(grantpt(screen), 0);
	ck_assert_int_eq(unlockpt(screen), 0);
	terminal = open(ptsname(screen), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(terminal, 0);
	saved_stderr = dup(STDERR_FILENO);
	ck_assert_int_eq(dup2(terminal, STDERR_FILENO), STDERR_FILENO);
	(void)close(terminal);
}

static void teardown(void)
{
	(void)dup2(saved_stderr, STDERR_FILENO);
	(void)close(saved_stderr);
	(void)close(screen);
}

/* Compares the terminal's output so far; polls, since the kernel delivers it asynchronously. */
static void check_screen(const char *expected)
{
	char text[256] = "";
	size_t len = 0;
	struct pollfd pfd = { .fd = screen, .events = POLLIN };

	while (poll(&pfd, 1, len < strlen(expected) ? 5000 : 0) > 0) {
		ssize_t n = read(screen, text + len, sizeof(text) - 1 - len);

		ck_assert_int_gt(n, 0);
		len += (size_t)n;
	}
	ck_assert_str_eq(text, expected);
}

/* Sets the next due time, so that no test depends on the clock.  Returns progress_due(). */
static bool is_due_at(struct progress *p, int64_t next_ns)
{
	p->next_ns = next_ns;
	return progress_due(p);
}

START_TEST(progress_rewrites_one_line)
{
	struct progress p;
	int64_t before = monotonic_ns();

	progress_begin(&p);
	ck_assert_int_ge(p.next_ns, before + PROGRESS_MS * INT64_C(1000000));
	ck_assert(!is_due_at(&p, INT64_MAX));
	ck_assert(is_due_at(&p, 0));
	ck_assert_int_ge(p.next_ns, before + PROGRESS_MS * INT64_C(1000000));
	progress_show(&p, "%d of 7", 3);
	progress_show(&p, "4");
	progress_end(&p);
	progress_end(&p);
	check_screen("\r\033[K3 of 7\r\033[K4\r\033[K");
}
END_TEST

START_TEST(wait_says_for_what_and_how_long)
{
	struct progress p;

	progress_begin(&p);
	progress_wait(&p, "the answer", 4711, 0); /* not due yet */
	check_screen("");
	p.next_ns = 0;
	progress_wait(&p, "the answer", 4711, monotonic_ns() - INT64_C(3500000000));
	progress_end(&p);
	check_screen("\r\033[Kwaiting for the answer of JVM 4711 for 3 s\r\033[K");
}
END_TEST

START_TEST(progress_without_output_leaves_the_screen_empty)
{
	struct progress p;

	progress_begin(&p);
	progress_end(&p);
	check_screen("");
}
END_TEST

START_TEST(progress_is_not_due_on_a_stopped_terminal)
{
	struct progress p;

	progress_begin(&p);
	ck_assert_int_eq(tcflow(STDERR_FILENO, TCOOFF), 0);
	ck_assert(!is_due_at(&p, 0));
	ck_assert_int_eq(tcflow(STDERR_FILENO, TCOON), 0);
	ck_assert(is_due_at(&p, 0));
}
END_TEST

START_TEST(progress_without_a_terminal_prints_nothing)
{
	struct progress p;
	int pipes[2];
	char byte;

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(pipes[1], STDERR_FILENO), STDERR_FILENO);
	(void)close(pipes[1]);
	progress_begin(&p);
	ck_assert(!is_due_at(&p, 0));
	progress_show(&p, "x");
	progress_end(&p);
	(void)dup2(saved_stderr, STDERR_FILENO);
	ck_assert_int_eq(read(pipes[0], &byte, 1), 0);
	(void)close(pipes[0]);
}
END_TEST

/* A terminal without a size counts as 24 rows of 80 columns. */
START_TEST(terminal_size_is_read_or_defaults_to_80x24)
{
	struct winsize size = { .ws_row = 33, .ws_col = 101 };
	struct terminal terminal;
	int pipes[2];

	ck_assert(terminal_size(STDERR_FILENO, &terminal));
	ck_assert_uint_eq(terminal.rows, 24);
	ck_assert_uint_eq(terminal.columns, 80);
	ck_assert_int_eq(ioctl(screen, TIOCSWINSZ, &size), 0);
	ck_assert(terminal_size(STDERR_FILENO, &terminal));
	ck_assert_uint_eq(terminal.rows, 33);
	ck_assert_uint_eq(terminal.columns, 101);
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert(!terminal_size(pipes[1], &terminal));
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base/progress");
	TCase *tc = tcase_create("base/progress");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, progress_rewrites_one_line);
	tcase_add_test(tc, wait_says_for_what_and_how_long);
	tcase_add_test(tc, progress_without_output_leaves_the_screen_empty);
	tcase_add_test(tc, progress_is_not_due_on_a_stopped_terminal);
	tcase_add_test(tc, progress_without_a_terminal_prints_nothing);
	tcase_add_test(tc, terminal_size_is_read_or_defaults_to_80x24);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
