#include <check.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fileio/child.h"

static pid_t start(int exit_code, int sig)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (sig)
			(void)raise(sig);
		_exit(exit_code);
	}
	return pid;
}

START_TEST(status_of_an_ended_child_is_returned)
{
	int status = -1;

	ck_assert_int_eq(child_wait(start(7, 0), &status, deadline_in_ms(10000)), 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	ck_assert_int_eq(child_wait(start(0, SIGKILL), &status, deadline_in_ms(10000)), 0);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(child_wait(getpid(), &status, deadline_in_ms(10000)), -ECHILD);
}
END_TEST

START_TEST(exit_status_is_an_errno)
{
	ck_assert_int_eq(child_wait_errno(start(0, 0), deadline_in_ms(10000)), 0);
	ck_assert_int_eq(child_wait_errno(start(EACCES, 0), deadline_in_ms(10000)), -EACCES);
	ck_assert_int_eq(child_wait_errno(start(0, SIGKILL), deadline_in_ms(10000)), -ECHILD);
	ck_assert_int_eq(child_wait_errno(start(0, SIGSTOP), deadline_in_ms(50)), -ETIMEDOUT);
}
END_TEST

/* A child may have the ids of the target's user, who can then stop it. */
START_TEST(stopped_child_is_killed_at_the_deadline)
{
	pid_t pid = start(0, SIGSTOP);
	int64_t begin = monotonic_ns();
	int status;

	ck_assert_int_eq(child_wait(pid, &status, deadline_in_ms(200)), -ETIMEDOUT);
	ck_assert_int_ge((monotonic_ns() - begin) / 1000000, 199);
	ck_assert_int_lt((monotonic_ns() - begin) / 1000000, 5000);
	ck_assert_int_eq(kill(pid, 0), -1);
	ck_assert_int_eq(errno, ESRCH);
}
END_TEST

START_TEST(killed_child_is_reaped)
{
	pid_t pid = start(0, SIGSTOP);

	child_kill(pid);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fileio/child");
	TCase *tc = tcase_create("fileio/child");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, status_of_an_ended_child_is_returned);
	tcase_add_test(tc, exit_status_is_an_errno);
	tcase_add_test(tc, stopped_child_is_killed_at_the_deadline);
	tcase_add_test(tc, killed_child_is_reaped);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
