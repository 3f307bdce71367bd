#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/aside.h"
#include "base/io.h"
#include "target/ns.h"

static const struct deadline never = { INT64_MAX };

/* A child that does nothing until it is killed. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static struct jvm describe(pid_t pid)
{
	struct procfs proc;
	struct proc_status status;

	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	return (struct jvm){
		.pid = pid,
		.nspid = status.nspid,
		.uid = status.euid,
		.gid = status.egid,
		.start_ticks = status.start_ticks,
	};
}

static struct ns open_ns(const struct jvm *jvm)
{
	struct err err = { .code = EXIT_DONE };
	struct ns ns;

	ck_assert_msg(ns_open(jvm, &ns, &err) == 0, "%s", err.text);
	return ns;
}

START_TEST(a_process_of_ours_is_opened_as_it_is)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct ns ns = open_ns(&jvm);
	struct proc_status status;
	int fd = ns_opendir(&ns, "/proc");

	ck_assert(ns_is_ours(&ns));
	ck_assert(ns.same_userns);
	ck_assert_int_eq(ns_become(&ns), 0);
	ck_assert_int_eq(ns_status(&ns, &status), 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ns_opendir(&ns, "/proc/self/nothing-like-this"), -ENOENT);
	close(fd);
	ns_close(&ns);
	end_child(pid);
}
END_TEST

START_TEST(another_process_under_the_same_pid_is_not_taken)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct err err = { .code = EXIT_DONE };
	struct ns ns;

	jvm.start_ticks++;
	ck_assert_int_eq(ns_open(&jvm, &ns, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	end_child(pid);
}
END_TEST

START_TEST(a_dead_process_is_gone_even_unreaped)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct ns ns = open_ns(&jvm);
	struct proc_status status;
	siginfo_t info;

	ck_assert_int_eq(ns_alive(&ns), 0);
	ck_assert_int_eq(ns_kill(&ns, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(ns_alive(&ns), -ESRCH);
	ck_assert_int_eq(ns_status(&ns, &status), -ESRCH);
	/* The same without a pidfd, as on old kernels. */
	close(ns.pid_fd);
	ns.pid_fd = -1;
	ck_assert_int_eq(ns_alive(&ns), -ESRCH);
	ck_assert_int_eq(ns_kill(&ns, SIGTERM), -ESRCH);
	ns_close(&ns);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(signals_reach_it_with_and_without_pidfd)
{
	for (int with_pidfd = 0; with_pidfd < 2; with_pidfd++) {
		pid_t pid = start_child();
		struct jvm jvm = describe(pid);
		struct ns ns = open_ns(&jvm);
		int status;

		if (!with_pidfd && ns.pid_fd >= 0) {
			close(ns.pid_fd);
			ns.pid_fd = -1;
		}
		ck_assert_int_eq(ns_kill(&ns, SIGUSR1), 0); /* SIGTERM has a handler of Check's */
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
		ns_close(&ns);
	}
}
END_TEST

/* A directory below `top` whose path is longer than sun_path. */
static int make_deep_dir(char *top, const char *name)
{
	int fd, deep;

	ck_assert_ptr_nonnull(mkdtemp(top));
	fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(mkdirat(fd, name, 0700), 0);
	deep = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(deep, 0);
	close(fd);
	return deep;
}

START_TEST(sockets_bind_and_connect_whatever_the_path_is_long)
{
	char top[] = "/tmp/check_ns.XXXXXX", name[201] = "", path[256];
	int dir = make_deep_dir(top, memset(name, 'd', sizeof(name) - 1));
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(ns_connect(client, dir, ".java_pid1"), -ENOENT);
	ck_assert_int_eq(ns_bind(listener, dir, ".java_pid1"), 0);
	ck_assert_int_eq(ns_connect(client, dir, ".java_pid1"), -ECONNREFUSED);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(ns_connect(client, dir, ".java_pid1"), 0);
	ck_assert_int_eq(ns_bind(client, dir, name), -ENAMETOOLONG);
	close(client);
	close(listener);
	ck_assert_int_eq(unlinkat(dir, ".java_pid1", 0), 0);
	close(dir);
	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

START_TEST(a_file_is_told_from_another_of_its_name)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct ns ns = open_ns(&jvm);
	char path[] = "/tmp/check_ns.XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(ns_can_read(&ns, path, &st, false));
	st.st_ino++;
	ck_assert(!ns_can_read(&ns, path, &st, false));
	ck_assert_int_eq(unlink(path), 0);
	st.st_ino--;
	ck_assert(!ns_can_read(&ns, path, &st, false));
	close(fd);
	ns_close(&ns);
	end_child(pid);
}
END_TEST

static int take_kept(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 ? 'k' : 'c';
}

START_TEST(a_process_aside_keeps_only_what_it_is_given)
{
	int report[2], other[2];
	char seen[4] = "";
	pid_t pid;

	ck_assert_int_eq(pipe(report), 0);
	ck_assert_int_eq(pipe(other), 0);
	pid = aside_fork((const int[]){ -1, report[1] }, 2);
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		seen[0] = (char)take_kept(report[1]);
		seen[1] = (char)take_kept(other[1]);
		seen[2] = (char)(getsid(0) == getpid() ? 's' : 'n');
		(void)raise(SIGTERM);
		_exit(write(report[1], seen, 3) == 3 ? 0 : 1);
	}
	close(report[1]);
	close(other[1]);
	/* Nobody else holds the writing end: it ends at once, though the child may still live. */
	ck_assert_int_eq(io_wait(other[0], POLLIN, deadline_in_ms(10000)), 0);
	ck_assert_int_eq(io_read_exact(report[0], seen, 3, never), 0);
	ck_assert_str_eq(seen, "kcs");
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(report[0]);
	close(other[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ns");
	TCase *tc = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, a_process_of_ours_is_opened_as_it_is);
	tcase_add_test(tc, another_process_under_the_same_pid_is_not_taken);
	tcase_add_test(tc, a_dead_process_is_gone_even_unreaped);
	tcase_add_test(tc, signals_reach_it_with_and_without_pidfd);
	tcase_add_test(tc, sockets_bind_and_connect_whatever_the_path_is_long);
	tcase_add_test(tc, a_file_is_told_from_another_of_its_name);
	tcase_add_test(tc, a_process_aside_keeps_only_what_it_is_given);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
