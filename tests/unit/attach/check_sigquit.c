/*
 * SIGQUIT is sent only while the trigger file exists, and not twice to a slow JVM.  The target
 * catches SIGQUIT as a JVM does, and reports whether it finds the file.
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

#include "fileio/io.h"
#include "base/xalloc.h"
#include "attach/sigquit.h"

static char tmp[] = "/tmp/check_sigquit.XXXXXX";
static char file[64];
static struct jvm target;
static struct attach_socket point;
static int report[2]; /* pipe from the target: 'y' or 'n' for each SIGQUIT */

static void report_file(int sig)
{
	(void)sig;
	if (write(report[1], access(file, F_OK) == 0 ? "y" : "n", 1) != 1)
		_exit(1);
}

static void _noreturn_ be_target(void)
{
	struct sigaction act = { .sa_handler = report_file };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(file, sizeof(file), "%s/.attach_pid%d", tmp, (int)getpid());
	if (sigaction(SIGQUIT, &act, NULL) < 0 || write(report[1], "r", 1) != 1)
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
	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		be_target();
	ck_assert_int_eq(io_read_exact(report[0], &ready, 1, deadline_in_ms(5000)), 0);
	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	target = (struct jvm){ .pid = pid, .nspid = pid, .uid = geteuid(), .gid = getegid(),
			       .start_ticks = status.start_ticks, .tmp = tmp };
	ck_assert_int_eq(attach_socket_open(&target, &point, &err), 0);
	(void)snprintf(file, sizeof(file), "%s/.attach_pid%d", tmp, (int)pid);
}

/* The process that guards the trigger file deletes it soon after the target exits. */
static void teardown(void)
{
	struct deadline d = deadline_in_ms(5000);

	ck_assert_int_eq(kill(target.pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
	while (rmdir(tmp) < 0 && !deadline_passed(d))
		(void)poll(NULL, 0, 1);
	ck_assert_int_lt(access(tmp, F_OK), 0);
	attach_socket_close(&point);
}

/* Returns the target's next report, or 0 if none arrives within `ms`. */
static char next_report(unsigned ms)
{
	char letter;

	return io_read_exact(report[0], &letter, 1, deadline_in_ms(ms)) == 0 ? letter : 0;
}

/* A JVM that is short of CPU handles the first signal late; a second one prints a thread dump. */
START_TEST(slow_jvm_gets_one_signal)
{
	static const unsigned timeout_ms[] = { 10, 3000 };
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(sigquit_wake(&point, timeout_ms[_i], NULL, &err), -1);
	ck_assert_int_eq(err.code, EXIT_ATTACH);
	ck_assert_int_eq(next_report(5000), 'y');
	ck_assert_int_eq(next_report(200), 0);
	ck_assert_int_eq(access(file, F_OK), 0); /* a slow JVM still needs the file */
}
END_TEST

/* In a full heap there is no room for the thread of the attach listener. */
START_TEST(full_heap_is_named)
{
	static const struct {
		int64_t used, max;
		const char *words;
	} heaps[] = {
		{ 95, 100, "use what does not attach: jtool info, stat and memory --no-attach" },
		{ 94, 100, "it is in a long pause" },
		{ -1, -1, "it is in a long pause" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(heaps); i++) {
		struct err err = { .code = EXIT_DONE };

		target.heap_used = heaps[i].used;
		target.heap_max = heaps[i].max;
		/*
		 * Long enough for a target that is emulated or short of CPU to receive the signal,
		 * which is sent after OTHER_TOOL_MS if the file of the wake before it is left.
		 */
		ck_assert_int_eq(sigquit_wake(&point, 2000, NULL, &err), -1);
		(void)next_report(5000); /* the target handles the signal */
		ck_assert_msg(strstr(err.text, heaps[i].words) != NULL, "%s", err.text);
	}
}
END_TEST

/* The other tool gives up: it deletes the trigger file before its signal reaches the JVM. */
START_TEST(signal_follows_when_another_tools_trigger_file_disappears)
{
	struct err err = { .code = EXIT_DONE };
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	ck_assert_int_eq(sigquit_wake(&point, 10, NULL, &err), -1);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(next_report(5000), 'y');
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attach/trigger");
	TCase *tc = tcase_create("attach/trigger");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, full_heap_is_named);
	tcase_add_loop_test(tc, slow_jvm_gets_one_signal, 0, 2);
	tcase_add_test(tc, signal_follows_when_another_tools_trigger_file_disappears);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
