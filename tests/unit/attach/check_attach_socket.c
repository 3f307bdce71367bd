/* Connects only to a private socket of the target, which is a child process of the same user. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "attach/attach_socket.h"
#include "proc/procfs.h"
#include "unit/support/shell.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static struct jvm jvm;
static struct attach_socket asock;
static char *socket_path;

static void setup(void)
{
	struct err err = { .code = EXIT_DONE };
	struct proc_status status;
	struct procfs proc;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	jvm = (struct jvm){
		.pid = pid,
		.nspid = pid,
		.uid = geteuid(),
		.gid = getegid(),
		.start_ticks = status.start_ticks,
		.tmp = dir,
	};
	socket_path = xasprintf("%s/.java_pid%d", dir, (int)pid);
	ck_assert_msg(attach_socket_open(&jvm, &asock, &err) == 0, "%s", err.text);
}

static void teardown(void)
{
	attach_socket_close(&asock);
	(void)kill(jvm.pid, SIGKILL);
	(void)waitpid(jvm.pid, NULL, 0);
	free(socket_path);
	shell("rm -rf ./* .java*");
	ck_assert_int_eq(rmdir(dir), 0);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

static int listen_at(const char *path, mode_t mode)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	return fd;
}

static void assert_refused(const char *why)
{
	struct err err = { .code = EXIT_DONE };
	int fd = -1;

	ck_assert_int_eq(attach_socket_connect(&asock, deadline_in_ms(1000), &fd, &err), -1);
	ck_assert_int_eq(err.code, EXIT_ATTACH);
	ck_assert_msg(strstr(err.text, why) != NULL, "%s", err.text);
}

START_TEST(only_a_private_socket_is_connected_to)
{
	struct err err = { .code = EXIT_DONE };
	_cleanup_close_ int listener = -1;
	int fd = -1;

	ck_assert_int_eq(attach_socket_connect(&asock, deadline_in_ms(1000), &fd, &err), 0);
	listener = listen_at(socket_path, 0600);
	assert_refused("is served by process"); /* known only after connect(2), see accept() */
	ck_assert_int_ge(fd = accept(listener, NULL, NULL), 0);
	(void)close(fd);
	for (mode_t bit = 04; bit < 0100; bit <<= 1) {
		if (bit == 010)
			continue;
		ck_assert_int_eq(chmod(socket_path, 0600 | bit), 0);
		assert_refused("a socket that other users may use");
	}
	ck_assert_int_eq(accept(listener, NULL, NULL), -1);
	ck_assert_int_eq(chmod(socket_path, 0600), 0);
	shell("mv %s moved; ln -s moved %s", socket_path, socket_path);
	assert_refused("a symbolic link");
	shell("rm %s; mkfifo %s", socket_path, socket_path);
	assert_refused("a file that is not a socket");
	ck_assert_int_eq(accept(listener, NULL, NULL), -1);
}
END_TEST

/* The target swaps its socket with a link to a socket that only the caller can reach. */
START_TEST(swapped_link_leads_to_no_other_socket)
{
	_cleanup_free_ char *link = xasprintf("%s/link", dir), *host = xasprintf("%s/host", dir);
	_cleanup_close_ int own = -1, outside = listen_at(host, 0600);
	const struct deadline deadline = deadline_in_ms(1000);
	pid_t swapper;

	own = listen_at(socket_path, 0600);
	ck_assert_int_eq(symlink("host", link), 0);
	swapper = fork();
	ck_assert_int_ge(swapper, 0);
	if (swapper == 0) {
		for (;;)
			(void)syscall(SYS_renameat2, AT_FDCWD, socket_path, AT_FDCWD, link,
				      RENAME_EXCHANGE);
	}
	while (!deadline_passed(deadline)) {
		struct err err = { .code = EXIT_DONE };
		int fd = -1;

		ck_assert_int_eq(attach_socket_connect(&asock, deadline_in_ms(100), &fd, &err), -1);
		fd = accept(own, NULL, NULL);
		util_close_p(&fd);
	}
	ck_assert_int_eq(kill(swapper, SIGKILL), 0);
	ck_assert_int_eq(waitpid(swapper, NULL, 0), swapper);
	ck_assert_int_eq(accept(outside, NULL, NULL), -1);
	ck_assert_int_eq(errno, EAGAIN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attach/attach_socket");
	TCase *tc = tcase_create("attach/attach_socket");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, only_a_private_socket_is_connected_to);
	tcase_add_test(tc, swapped_link_leads_to_no_other_socket);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
