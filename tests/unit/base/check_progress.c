/* One line on a terminal, and nothing elsewhere. */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/io.h"
#include "base/progress.h"
#include "base/terminal.h"

static int screen, former;

static void setup(void)
{
	int terminal;

	screen = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(screen, 0);
	ck_assert_int_eq(grantpt(screen), 0);
	ck_assert_int_eq(unlockpt(screen), 0);
	terminal = open(ptsname(screen), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(terminal, 0);
	former = dup(STDERR_FILENO);
	ck_assert_int_eq(dup2(terminal, STDERR_FILENO), STDERR_FILENO);
	(void)close(terminal);
}

static void teardown(void)
{
	(void)dup2(former, STDERR_FILENO);
	(void)close(former);
	(void)close(screen);
}

/* What is on the screen so far: the kernel brings it there by and by. */
static void check_screen(const char *wanted)
{
	char text[256] = "";
	size_t len = 0;
	struct pollfd pfd = { .fd = screen, .events = POLLIN };

	while (poll(&pfd, 1, len < strlen(wanted) ? 5000 : 0) > 0) {
		ssize_t n = read(screen, text + len, sizeof(text) - 1 - len);

		ck_assert_int_gt(n, 0);
		len += (size_t)n;
	}
	ck_assert_str_eq(text, wanted);
}

/* So that no test has to wait, nor fails because it was made to. */
static bool is_due_at(struct progress *p, int64_t next_ns)
{
	p->next_ns = next_ns;
	return progress_due(p);
}

START_TEST(one_line)
{
	struct progress p;
	int64_t before = io_now_ns();

	progress_begin(&p);
	ck_assert_int_ge(p.next_ns, before + PROGRESS_MS * INT64_C(1000000));
	ck_assert(!is_due_at(&p, INT64_MAX));
	ck_assert(is_due_at(&p, 0));
	ck_assert_int_ge(p.next_ns, before + PROGRESS_MS * INT64_C(1000000));
	progress_tell(&p, "%d of 7", 3);
	progress_tell(&p, "4");
	progress_end(&p);
	progress_end(&p);
	check_screen("\r\033[K3 of 7\r\033[K4\r\033[K");
}
END_TEST

START_TEST(what_was_not_begun_needs_no_end)
{
	struct progress p;

	progress_begin(&p);
	progress_end(&p);
	check_screen("");
}
END_TEST

START_TEST(stopped_terminal)
{
	struct progress p;

	progress_begin(&p);
	ck_assert_int_eq(tcflow(STDERR_FILENO, TCOOFF), 0);
	ck_assert(!is_due_at(&p, 0));
	ck_assert_int_eq(tcflow(STDERR_FILENO, TCOON), 0);
	ck_assert(is_due_at(&p, 0));
}
END_TEST

START_TEST(no_terminal)
{
	struct progress p;
	int pipes[2];
	char byte;

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(pipes[1], STDERR_FILENO), STDERR_FILENO);
	(void)close(pipes[1]);
	progress_begin(&p);
	ck_assert(!is_due_at(&p, 0));
	progress_tell(&p, "x");
	progress_end(&p);
	(void)dup2(former, STDERR_FILENO);
	ck_assert_int_eq(read(pipes[0], &byte, 1), 0);
	(void)close(pipes[0]);
}
END_TEST

/* One that nobody gave a size to has that of terminals when they were made of glass. */
START_TEST(sizes)
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
	Suite *s = suite_create("progress");
	TCase *tc = tcase_create("progress");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, one_line);
	tcase_add_test(tc, what_was_not_begun_needs_no_end);
	tcase_add_test(tc, stopped_terminal);
	tcase_add_test(tc, no_terminal);
	tcase_add_test(tc, sizes);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
