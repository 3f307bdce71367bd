#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fileio/detached_child.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "proc/capabilities.h"
#include "attach/target_ns.h"

static const struct deadline never = { INT64_MAX };

/* Forks a child that sleeps until it is killed. */
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

static void kill_child(pid_t pid)
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

static struct target_ns open_ns(const struct jvm *jvm)
{
	struct err err = { .code = EXIT_DONE };
	struct target_ns ns;

	ck_assert_msg(target_ns_open(jvm, &ns, &err) == 0, "%s", err.text);
	return ns;
}

/* Root of a rootless container's user namespace could trace a child that is dumpable. */
START_TEST(child_that_takes_ids_is_not_dumpable)
{
	pid_t pid = start_child(), child;
	struct jvm jvm = describe(pid);
	struct target_ns ns = open_ns(&jvm);
	int status;

	ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 1);
	child = fork();
	if (child == 0)
		_exit(target_ns_become(&ns) == 0 ? prctl(PR_GET_DUMPABLE) : 10);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	target_ns_close(&ns);
	kill_child(pid);
}
END_TEST

static const struct capability_sets few = {
	.permitted = 1 << CAP_CHOWN | 1 << CAP_KILL,
	.effective = 1 << CAP_KILL,
	.bounding = 1 << CAP_CHOWN | 1 << CAP_KILL | 1 << CAP_SETUID,
};

/* Starts a child that calls prepare(), and returns when prepare() has returned 0 in the child. */
static pid_t start_prepared_child(int (*prepare)(const void *arg), const void *arg)
{
	pid_t pid;
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (prepare(arg) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static int limit_capabilities(const void *sets)
{
	return capabilities_limit(sets);
}

static pid_t start_limited_child(void)
{
	return start_prepared_child(limit_capabilities, &few);
}

/* Takes the target's ids in a child.  Returns 0 if the child then has the capabilities `wanted`. */
static int sets_of_child(const struct target_ns *ns, const struct capability_sets *wanted)
{
	pid_t child = fork();
	struct proc_status own;
	int status;

	if (child == 0) {
		if (target_ns_become(ns) < 0)
			_exit(10);
		if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
			_exit(11);
		if (prctl(PR_GET_DUMPABLE) != 0)
			_exit(12);
		if (procfs_status(&ns->proc, getpid(), &own) < 0)
			_exit(13);
		_exit(memcmp(&own.caps, wanted, sizeof(*wanted)) == 0 ? 0 : 14);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Root of a container has fewer capabilities than root of the host. */
START_TEST(child_has_no_more_capabilities_than_the_target)
{
	static const struct capability_sets none;
	struct target_ns ns;
	struct jvm jvm;
	pid_t pid;

	if (!capabilities_has(CAP_SETPCAP))
		return;
	pid = start_limited_child();
	jvm = describe(pid);
	ns = open_ns(&jvm);
	ck_assert(target_ns_is_ours(&ns));
	ck_assert_int_eq(sets_of_child(&ns, &few), 0);
	/* The target of another user: the change of ids clears all sets except the bounding set. */
	jvm.uid = 12345;
	ck_assert_int_eq(sets_of_child(&ns, &(struct capability_sets){ .bounding = few.bounding }),
			 0);
	/* Capabilities in another user namespace are not capabilities in ours. */
	jvm.uid = geteuid();
	ns.same_userns = false;
	ns.opened.caps.bounding = 0;
	ck_assert_int_eq(sets_of_child(&ns, &none), 0);
	target_ns_close(&ns);
	kill_child(pid);
}
END_TEST

struct group_list {
	size_t n;
	gid_t groups[100];
};

static int take_groups(const void *list)
{
	const struct group_list *l = list;

	return setgroups(l->n, l->groups);
}

/* Starts a child with `n` supplementary groups: `first` and the following ids. */
static pid_t start_child_with_groups(gid_t first, size_t n)
{
	struct group_list list = { .n = n };

	for (size_t i = 0; i < n; i++)
		list.groups[i] = first + (gid_t)i;
	return start_prepared_child(take_groups, &list);
}

/* A directory of the target may be accessible only by one of its supplementary groups. */
START_TEST(child_has_the_supplementary_groups_of_the_target)
{
	static const struct {
		gid_t first;
		size_t n, taken;
	} cases[] = {
		{ 2000, 0, 0 }, { 2000, 2, 2 }, { 2000, 64, 64 }, { 2000, 65, 0 },
		{ 65534, 2, 1 }, /* 65534 may be a group that is not mapped */
	};
	pid_t pid, child;
	struct jvm jvm;
	struct target_ns ns;
	int status;

	if (!capabilities_has(CAP_SETGID))
		return;
	pid = start_child_with_groups(cases[_i].first, cases[_i].n);
	jvm = describe(pid);
	jvm.uid = 12345;
	ns = open_ns(&jvm);
	child = fork();
	if (child == 0) {
		gid_t groups[100] = { 0 };
		const size_t n = cases[_i].taken;

		if (setgroups(1, &(gid_t){ 1234 }) < 0 || target_ns_become(&ns) < 0)
			_exit(10);
		if (getgroups(100, groups) != (int)n)
			_exit(11);
		_exit(n > 0 && groups[n - 1] != cases[_i].first + cases[_i].n - 1 ? 12 : 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	target_ns_close(&ns);
	kill_child(pid);
}
END_TEST

START_TEST(process_in_own_namespaces_is_opened)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct target_ns ns = open_ns(&jvm);
	struct proc_status status;
	int fd = target_ns_opendir(&ns, "/proc");

	ck_assert(target_ns_is_ours(&ns));
	ck_assert(ns.same_userns);
	ck_assert_int_eq(target_ns_become(&ns), 0);
	ck_assert_int_eq(target_ns_status(&ns, &status), 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(target_ns_opendir(&ns, "/proc/self/nothing-like-this"), -ENOENT);
	close(fd);
	target_ns_close(&ns);
	kill_child(pid);
}
END_TEST

/* Returns how many of the first 100 descriptors are open. */
static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 100; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

START_TEST(reused_pid_is_refused)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct err err = { .code = EXIT_DONE };
	struct target_ns ns;
	int before = open_descriptors();

	jvm.start_ticks++;
	ck_assert_int_eq(target_ns_open(&jvm, &ns, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_int_eq(open_descriptors(), before);
	kill_child(pid);
}
END_TEST

START_TEST(zombie_counts_as_gone)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct target_ns ns = open_ns(&jvm);
	struct proc_status status;
	siginfo_t info;

	ck_assert_int_eq(target_ns_alive(&ns), 0);
	ck_assert_int_eq(target_ns_kill(&ns, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(target_ns_alive(&ns), -ESRCH);
	ck_assert_int_eq(target_ns_status(&ns, &status), -ESRCH);
	/* Old kernels have no pidfd: the results are the same without one. */
	close(ns.pid_fd);
	ns.pid_fd = -1;
	ck_assert_int_eq(target_ns_alive(&ns), -ESRCH);
	ck_assert_int_eq(target_ns_kill(&ns, SIGTERM), -ESRCH);
	target_ns_close(&ns);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(signals_are_sent_with_and_without_pidfd)
{
	for (int with_pidfd = 0; with_pidfd < 2; with_pidfd++) {
		pid_t pid = start_child();
		struct jvm jvm = describe(pid);
		struct target_ns ns = open_ns(&jvm);
		int status;

		if (!with_pidfd && ns.pid_fd >= 0) {
			close(ns.pid_fd);
			ns.pid_fd = -1;
		}
		/* Not SIGTERM: Check installs a handler for it. */
		ck_assert_int_eq(target_ns_kill(&ns, SIGUSR1), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
		target_ns_close(&ns);
	}
}
END_TEST

enum { REFUSED, OPENED, SKIPPED, BROKEN };

/* In a child: opens a process of this /proc. */
static int open_foreign(pid_t pid)
{
	struct jvm jvm = describe(pid);
	struct err err = { .code = EXIT_DONE };
	struct target_ns ns;

	if (target_ns_open_process(&jvm, &ns, &err) == 0)
		return OPENED;
	return err.code == EXIT_PERMISSION && strstr(err.text, "another pid namespace") ? REFUSED
											: BROKEN;
}

/* Has the /proc of an inner pid namespace, as after nsenter -m without -p. */
static int open_in_inner_proc(pid_t unused)
{
	int ready[2], rc = BROKEN;
	char byte = 0;
	pid_t pid;

	(void)unused;
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return SKIPPED;
	if (pipe(ready) < 0)
		return BROKEN;
	pid = fork();
	if (pid == 0) {
		byte = mount("proc", "/proc", "proc", 0, NULL) == 0;
		if (write(ready[1], &byte, 1) == 1)
			(void)poll(NULL, 0, -1);
		_exit(1);
	}
	if (read(ready[0], &byte, 1) == 1)
		rc = byte ? open_foreign(1) : SKIPPED;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return rc;
}

/* Is in an inner pid namespace with the /proc of the outer one, as after unshare -p -f. */
static int open_in_outer_proc(pid_t outer)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0)
		return SKIPPED;
	pid = fork();
	if (pid == 0)
		_exit(open_foreign(outer));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

static int in_child(int (*fn)(pid_t), pid_t arg)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(fn(arg));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		puts("SKIP: a pid namespace cannot be created here");
	return WEXITSTATUS(status) == SKIPPED ? REFUSED : WEXITSTATUS(status);
}

/* The pid of a process in this /proc is the pid of another process in our own namespace. */
START_TEST(proc_of_another_pid_namespace_is_refused)
{
	pid_t pid = start_child();

	ck_assert_int_eq(in_child(open_in_inner_proc, 0), REFUSED);
	ck_assert_int_eq(in_child(open_in_outer_proc, pid), REFUSED);
	kill_child(pid);
}
END_TEST

/* A child that is forked after unshare(CLONE_NEWPID) has the pid 1 in a namespace of its own. */
static int kill_in_new_namespace(pid_t init)
{
	struct jvm jvm = describe(init);
	struct err err = { .code = EXIT_DONE };
	struct target_ns ns;
	pid_t child;
	int status;

	if (target_ns_open_process(&jvm, &ns, &err) < 0)
		return BROKEN;
	util_close_p(&ns.pid_fd);
	ns.pid_fd = -1;
	if (unshare(CLONE_NEWPID) < 0)
		return SKIPPED;
	child = fork();
	if (child == 0) {
		(void)signal(SIGUSR1, SIG_IGN);
		_exit(target_ns_kill(&ns, SIGUSR1) == -ESRCH ? REFUSED : OPENED);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
									: BROKEN;
}

START_TEST(kill_is_not_called_in_another_pid_namespace)
{
	ck_assert_int_eq(in_child(kill_in_new_namespace, 1), REFUSED);
}
END_TEST

/* Creates a directory below `top` with a path longer than sun_path; returns its descriptor. */
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

START_TEST(sockets_bind_and_connect_under_paths_longer_than_sun_path)
{
	char top[] = "/tmp/check_ns.XXXXXX", name[201] = "", path[256];
	int dir = make_deep_dir(top, memset(name, 'd', sizeof(name) - 1));
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int file;

	ck_assert_int_eq(target_ns_bind(listener, dir, ".java_pid1"), 0);
	file = file_open_path(dir, ".java_pid1", O_NOFOLLOW);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(target_ns_connect(client, file), -ECONNREFUSED);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(target_ns_connect(client, file), 0);
	close(file);
	ck_assert_int_eq(target_ns_bind(client, dir, name), -ENAMETOOLONG);
	close(client);
	close(listener);
	ck_assert_int_eq(unlinkat(dir, ".java_pid1", 0), 0);
	close(dir);
	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

START_TEST(can_read_compares_inodes_not_only_names)
{
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct target_ns ns = open_ns(&jvm);
	char path[] = "/tmp/check_ns.XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(target_ns_can_read(&ns, path, &st, false));
	st.st_ino++;
	ck_assert(!target_ns_can_read(&ns, path, &st, false));
	ck_assert_int_eq(unlink(path), 0);
	st.st_ino--;
	ck_assert(!target_ns_can_read(&ns, path, &st, false));
	close(fd);
	target_ns_close(&ns);
	kill_child(pid);
}
END_TEST

/* The target has a pipe at the path where the caller has a library: the pipe is not opened. */
START_TEST(can_read_opens_no_other_file)
{
	_cleanup_close_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	char dir[] = "/tmp/check_ns.XXXXXX", path[64];
	pid_t pid = start_child();
	struct jvm jvm = describe(pid);
	struct target_ns ns = open_ns(&jvm);
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/agent.so", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, dir, IN_OPEN), 0);
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(!target_ns_can_read(&ns, path, &st, false));
	ck_assert_int_lt(read(watch, event, sizeof(event)), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	target_ns_close(&ns);
	kill_child(pid);
}
END_TEST

/* Returns 'k' if the descriptor is open (kept), 'c' if it is closed. */
static int fd_state(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 ? 'k' : 'c';
}

START_TEST(detached_child_inherits_only_the_given_descriptors)
{
	int report[2], other[2];
	char states[4] = "";
	pid_t pid;

	ck_assert_int_eq(pipe(report), 0);
	ck_assert_int_eq(pipe(other), 0);
	pid = detached_child_fork((const int[]){ -1, report[1] }, 2);
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		states[0] = (char)fd_state(report[1]);
		states[1] = (char)fd_state(other[1]);
		states[2] = (char)(getsid(0) == getpid() ? 's' : 'n');
		(void)raise(SIGTERM);
		_exit(write(report[1], states, 3) == 3 ? 0 : 1);
	}
	close(report[1]);
	close(other[1]);
	/* The child has no copy of other[1], so end of file arrives while the child still runs. */
	ck_assert_int_eq(io_wait(other[0], POLLIN, deadline_in_ms(10000)), 0);
	ck_assert_int_eq(io_read_exact(report[0], states, 3, never), 0);
	ck_assert_str_eq(states, "kcs");
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(report[0]);
	close(other[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attach/target_ns");
	TCase *tc = tcase_create("attach/target_ns");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, process_in_own_namespaces_is_opened);
	tcase_add_test(tc, child_that_takes_ids_is_not_dumpable);
	tcase_add_test(tc, child_has_no_more_capabilities_than_the_target);
	tcase_add_loop_test(tc, child_has_the_supplementary_groups_of_the_target, 0, 5);
	tcase_add_test(tc, reused_pid_is_refused);
	tcase_add_test(tc, zombie_counts_as_gone);
	tcase_add_test(tc, signals_are_sent_with_and_without_pidfd);
	tcase_add_test(tc, proc_of_another_pid_namespace_is_refused);
	tcase_add_test(tc, kill_is_not_called_in_another_pid_namespace);
	tcase_add_test(tc, sockets_bind_and_connect_under_paths_longer_than_sun_path);
	tcase_add_test(tc, can_read_compares_inodes_not_only_names);
	tcase_add_test(tc, can_read_opens_no_other_file);
	tcase_add_test(tc, detached_child_inherits_only_the_given_descriptors);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
