/*
 * Signals are sent only where a JVM would find a trigger file, and not twice to one that is slow.
 * The target catches SIGQUIT as a JVM does, and says whether the file is there then.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "target/trigger.h"

static char tmp[] = "/tmp/check_trigger.XXXXXX";
static char file[64];
static struct jvm target;
static struct point point;
static int told[2]; /* by the target: 'y' or 'n' for each SIGQUIT */

static void on_quit(int sig)
{
	(void)sig;
	if (write(told[1], access(file, F_OK) == 0 ? "y" : "n", 1) != 1)
		_exit(1);
}

static void _noreturn_ be_target(void)
{
	struct sigaction act = { .sa_handler = on_quit };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(file, sizeof(file), "%s/.attach_pid%d", tmp, (int)getpid());
	if (sigaction(SIGQUIT, &act, NULL) < 0 || write(told[1], "r", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

static void setup(void)
{
	struct err err = { .code = EXIT_DONE };
	struct procfs proc;
	struct proc_status status;
	char ready;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(tmp));
	ck_assert_int_eq(pipe2(told, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		be_target();
	ck_assert_int_eq(io_read_exact(told[0], &ready, 1, deadline_in_ms(5000)), 0);
	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	target = (struct jvm){ .pid = pid, .nspid = pid, .uid = geteuid(), .gid = getegid(),
			       .start_ticks = status.start_ticks, .tmp = tmp };
	ck_assert_int_eq(point_open(&target, &point, &err), 0);
	(void)snprintf(file, sizeof(file), "%s/.attach_pid%d", tmp, (int)pid);
}

/* What the trigger's keeper has left goes soon after its target. */
static void teardown(void)
{
	struct deadline d = deadline_in_ms(5000);

	ck_assert_int_eq(kill(target.pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
	while (rmdir(tmp) < 0 && !deadline_passed(d))
		(void)poll(NULL, 0, 1);
	ck_assert_int_lt(access(tmp, F_OK), 0);
	point_close(&point);
}

/* The next of the target's letters, 0 when there is none in time. */
static char heard(unsigned ms)
{
	char letter;

	return io_read_exact(told[0], &letter, 1, deadline_in_ms(ms)) == 0 ? letter : 0;
}

START_TEST(a_short_time_brings_one_signal)
{
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(trigger_pull(&point, 10, NULL, &err), -1);
	ck_assert_int_eq(err.code, EXIT_ATTACH);
	ck_assert_int_eq(heard(5000), 'y');
	ck_assert_int_eq(heard(200), 0);
	ck_assert_int_eq(access(file, F_OK), 0); /* for a JVM that is late */
}
END_TEST

/* The other tool gives up while its signal is waited for. */
START_TEST(a_file_of_another_tool_is_not_relied_on)
{
	struct err err = { .code = EXIT_DONE };
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	ck_assert_int_eq(trigger_pull(&point, 10, NULL, &err), -1);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(heard(5000), 'y');
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trigger");
	TCase *tc = tcase_create("trigger");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_short_time_brings_one_signal);
	tcase_add_test(tc, a_file_of_another_tool_is_not_relied_on);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
