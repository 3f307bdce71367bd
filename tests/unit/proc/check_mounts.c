#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "proc/mounts.h"

static const char mountinfo[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw\n"
	"30 27 0:30 / /tmp rw - tmpfs none rw\n"
	"31 30 0:31 / /tmp/my\\040data rw - fuse.sshfs host: rw,user_id=0\n"
	"33 27 0:33 / /home/a rw - nfs4 server:/a rw\n"
	"34 27 0:34 / /home rw - tmpfs none rw\n" /* hides /home/a */
	"35 34 0:35 / /home/b rw - xfs /dev/b rw\n"
	"36 35 0:36 / /home/b rw - nfs4 server:/b rw\n"
	"37 35 0:37 / /home/b/c rw - xfs /dev/c rw\n"; /* hidden by the mount before */

START_TEST(mount_of_a_path_is_found)
{
	static const struct {
		const char *path, *point, *type;
	} cases[] = {
		{ "/", "/", "ext4" },
		{ "/etc/passwd", "/", "ext4" },
		{ "/process", "/", "ext4" },
		{ "/proc/1", "/proc", "proc" },
		{ "/tmp", "/tmp", "tmpfs" },
		{ "/tmp/x", "/tmp", "tmpfs" },
		{ "/tmp/my data/x", "/tmp/my data", "fuse.sshfs" },
		{ "/home/a/x", "/home", "tmpfs" },
		{ "/home/b", "/home/b", "nfs4" },
		{ "/home/b/c/x", "/home/b", "nfs4" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mount m;

		ck_assert(mount_find(mountinfo, cases[i].path, &m));
		ck_assert_str_eq(m.point, cases[i].point);
		ck_assert_str_eq(m.type, cases[i].type);
		mount_release(&m);
	}
}
END_TEST

START_TEST(mounts_are_found_below_a_root_that_is_not_a_mount)
{
	struct mount m;

	ck_assert(!mount_find("30 27 0:30 / /tmp rw - tmpfs none rw\n", "/home", &m));
	ck_assert(mount_find("29 27 0:29 / /tmp/a rw - nfs4 x rw\n"
			     "30 27 0:30 / /tmp rw - tmpfs none rw\n", "/tmp/a", &m));
	ck_assert_str_eq(m.type, "tmpfs");
	mount_release(&m);
}
END_TEST

/* A text that the kernel does not write: the search must end. */
START_TEST(mounts_on_each_other_do_not_loop)
{
	struct mount m;

	ck_assert(mount_find("1 1 0:1 / / rw - rootfs none rw\n"
			     "2 3 0:2 / / rw - xfs a rw\n3 2 0:3 / / rw - xfs b rw\n", "/", &m));
	mount_release(&m);
	ck_assert(mount_find("2 3 0:2 / / rw - xfs a rw\n3 2 0:3 / / rw - xfs b rw\n", "/", &m));
	mount_release(&m);
}
END_TEST

START_TEST(truncated_mountinfo_is_read_as_far_as_possible)
{
	for (size_t len = 0; len < sizeof(mountinfo); len++) {
		_cleanup_free_ char *text = strndup(mountinfo, len);
		struct mount m;

		if (mount_find(text, "/tmp/my data/x", &m)) {
			ck_assert(m.point && m.type && m.point[0] == '/');
			mount_release(&m);
		}
	}
}
END_TEST

START_TEST(types_that_need_a_server_are_known)
{
	ck_assert(mount_may_hang("fuse.sshfs") && mount_may_hang("nfs4") && mount_may_hang("9p"));
	ck_assert(!mount_may_hang("ext4") && !mount_may_hang("tmpfs"));
	ck_assert(mounts_need_no_server("30 27 0:30 / /tmp rw - tmpfs none rw\n"
					"27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n"));
	ck_assert(mounts_need_no_server(
		"30 27 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n"));
	ck_assert(!mounts_need_no_server(mountinfo));
	ck_assert(!mounts_need_no_server("27 1 254:0 / / rw - ext4 /dev/vda rw\n"
					 "30 27 0:30 / /mnt rw - nfs4 host: rw\n"));
	ck_assert(!mounts_need_no_server("30 27 0:30 / /mnt rw - fuse.x x rw\n"
					 "31 27 0:31 / /tmp rw - tmpfs none rw\n"));
	ck_assert(!mounts_need_no_server("30 27 0:30 / /home rw - autofs auto rw\n"));
	ck_assert(!mounts_need_no_server("30 27 0:30 / /mnt rw - ext x rw\n")); /* unknown */
	ck_assert(!mounts_need_no_server("30 27 0:30 / /mnt rw - ext44 x rw\n"));
	ck_assert(!mounts_need_no_server("30 27 0:30 / /mnt rw\n"));
	ck_assert(!mounts_need_no_server(" - ext4\n"));
	ck_assert(!mounts_need_no_server(""));
}
END_TEST

START_TEST(files_of_our_mounts_are_recognised)
{
	_cleanup_close_ int dir = open("/", O_PATH | O_CLOEXEC);
	struct procfs proc;
	int ends[2];

	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert(mounts_have_file(&proc, dir));
	ck_assert(!mounts_have_file(&proc, ends[0])); /* in a mount inside the kernel */
	ck_assert(!mounts_have_file(&proc, 1000));
	(void)close(ends[0]);
	(void)close(ends[1]);
	procfs_close(&proc);
}
END_TEST

START_TEST(same_mount_at_the_same_point_is_the_same_root)
{
	ck_assert(mounts_have_same_root(mountinfo, mountinfo));
	ck_assert(mounts_have_same_root("22 27 0:21 / /proc rw - proc proc rw\n",
					"22 27 0:21 / /proc ro - proc proc rw\nmore\n"));
	/* A copy of the mount in another namespace, or another root directory. */
	ck_assert(!mounts_have_same_root("22 27 0:21 / /proc rw - proc proc rw\n",
					 "23 27 0:21 / /proc rw - proc proc rw\n"));
	ck_assert(!mounts_have_same_root("22 27 0:21 / /proc rw - proc proc rw\n",
					 "22 27 0:21 / /jail/proc rw - proc proc rw\n"));
	ck_assert(!mounts_have_same_root("22 27 0:21 / /proc rw - proc proc rw\n",
					 "22 27 0:21 / /proc2 rw - proc proc rw\n"));
	ck_assert(!mounts_have_same_root("", ""));
	ck_assert(!mounts_have_same_root("22 27 0:21 /\n", "22 27 0:21 /\n"));
}
END_TEST

START_TEST(root_of_a_process_is_opened)
{
	struct procfs proc, copy = { .fd = -1, .root = "/nowhere" };
	struct stat here, there;
	int fd;

	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	fd = mounts_open_root(&proc, getpid());
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &there), 0);
	ck_assert_int_eq(stat("/", &here), 0);
	ck_assert(here.st_ino == there.st_ino && here.st_dev == there.st_dev);
	(void)close(fd);
	ck_assert_int_eq(mounts_open_root(&proc, INT_MAX), -ENOENT);
	ck_assert_int_lt(mounts_open_root(&copy, getpid()), 0);
	procfs_close(&proc);
}
END_TEST

/*
 * The files in /proc of a process that is not dumpable belong to root.  But the process has our ids
 * and our root directory.
 */
START_TEST(root_of_a_process_that_cannot_be_traced_is_ours)
{
	struct procfs proc;
	struct stat here, there;
	int ends[2], status, fd;
	pid_t pid, look;
	char byte;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		if ((geteuid() == 0 && (setresgid(12345, 12345, 12345) < 0 ||
					setresuid(12345, 12345, 12345) < 0)) ||
		    prctl(PR_SET_DUMPABLE, 0) < 0 || write(ends[1], "", 1) != 1)
			_exit(1);
		(void)pause();
	}
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	look = fork();
	if (look == 0) {
		if (geteuid() == 0 && (setgroups(0, NULL) < 0 ||
				       setresgid(12345, 12345, 12345) < 0 ||
				       setresuid(12345, 12345, 12345) < 0))
			_exit(1);
		if (procfs_open(&proc, "/proc") < 0 ||
		    procfs_openat(&proc, pid, "root", O_PATH) != -EACCES)
			_exit(2);
		fd = mounts_open_root(&proc, pid);
		_exit(fd < 0 || fstat(fd, &there) < 0 || stat("/", &here) < 0 ||
		      here.st_ino != there.st_ino || here.st_dev != there.st_dev ? 3 : 0);
	}
	ck_assert_int_eq(waitpid(look, &status, 0), look);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

static void *read_again_and_again(void *arg)
{
	const bool *is_over = arg;
	struct buf text = BUF_INIT; /* reused: a child forked during ASan's malloc(3) hangs */
	struct procfs proc;

	if (procfs_open(&proc, "/proc") < 0)
		return arg;
	while (!__atomic_load_n(is_over, __ATOMIC_RELAXED)) {
		buf_reset(&text);
		(void)!mounts_read_own(&proc, &text);
	}
	buf_release(&text);
	procfs_close(&proc);
	return NULL;
}

#define FORKS 30 /* the thread nearly always has the lock; with ASan, a fork takes 20 ms or more */

/* A child waits for no lock that a thread of its parent had at the moment of the fork. */
START_TEST(child_of_a_busy_process_reads_mounts)
{
	bool is_over = false;
	pthread_t thread;
	void *failed;

	ck_assert_int_eq(pthread_create(&thread, NULL, read_again_and_again, &is_over), 0);
	for (unsigned i = 0; i < FORKS; i++) {
		int status;
		pid_t child = fork();

		ck_assert_int_ge(child, 0);
		if (child == 0) {
			struct buf text = BUF_INIT;
			struct procfs proc;

			(void)alarm(20);
			if (procfs_open(&proc, "/proc") < 0 || mounts_read_own(&proc, &text) < 0)
				_exit(1);
			(void)mounts_of_ns_are_local(&proc, getpid());
			_exit(text.len > 0 ? 0 : 2);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status));
		ck_assert_int_eq(WEXITSTATUS(status), 0);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_join(thread, &failed), 0);
	ck_assert_ptr_null(failed);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc/mounts");
	TCase *tc = tcase_create("proc/mounts");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, mount_of_a_path_is_found);
	tcase_add_test(tc, mounts_are_found_below_a_root_that_is_not_a_mount);
	tcase_add_test(tc, mounts_on_each_other_do_not_loop);
	tcase_add_test(tc, truncated_mountinfo_is_read_as_far_as_possible);
	tcase_add_test(tc, types_that_need_a_server_are_known);
	tcase_add_test(tc, files_of_our_mounts_are_recognised);
	tcase_add_test(tc, same_mount_at_the_same_point_is_the_same_root);
	tcase_add_test(tc, root_of_a_process_is_opened);
	tcase_add_test(tc, root_of_a_process_that_cannot_be_traced_is_ours);
	tcase_add_test(tc, child_of_a_busy_process_reads_mounts);
	tcase_set_timeout(tc, 120);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
