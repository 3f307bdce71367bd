/* A target that is not a JVM: a child with another user and root directory.  Needs root. */
#ifndef JTOOL_TESTS_FAKE_TARGET_H
#define JTOOL_TESTS_FAKE_TARGET_H

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fileio/io.h"
#include "proc/procfs.h"
#include "discover/jvm.h"

#define OTHER_UID 12345
static char root[] = "/tmp/check_place.XXXXXX";
static struct jvm target;
static int to_target[2]; /* pipe to the target, which exits at end of file */

static inline const char *in_root(const char *path)
{
	static char full[512];

	(void)snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

static inline void make_dir(const char *path, mode_t mode)
{
	ck_assert_int_eq(mkdir(in_root(path), 0700), 0);
	ck_assert_int_eq(chmod(in_root(path), mode), 0);
}

static inline void _noreturn_ be_target(int ready)
{
	char byte;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close(to_target[1]);
	if (chroot(root) < 0 || chdir("/work") < 0 || setgid(OTHER_UID) < 0 ||
	    setuid(OTHER_UID) < 0 || write(ready, "", 1) != 1)
		_exit(1);
	while (io_read(to_target[0], &byte, 1) > 0)
		;
	_exit(0);
}

/* Sets `target` to the values that discover would find for the process. */
static inline void describe(pid_t pid)
{
	struct procfs proc;
	struct proc_status status;

	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	target = (struct jvm){
		.pid = pid,
		.nspid = pid,
		.uid = OTHER_UID,
		.gid = OTHER_UID,
		.start_ticks = status.start_ticks,
	};
}

static inline void start_target(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(chmod(root, 0755), 0);
	make_dir("/tmp", 01777);
	make_dir("/var", 0755);
	make_dir("/var/tmp", 01777);
	make_dir("/work", 0777);
	ck_assert_int_eq(pipe2(to_target, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		be_target(ready[1]);
	(void)close(ready[1]);
	ck_assert_int_eq(io_read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	describe(pid);
}

static inline void stop_target(void)
{
	(void)close(to_target[1]);
	(void)close(to_target[0]);
	(void)waitpid(target.pid, NULL, 0);
	(void)umount2(in_root("/tmp"), MNT_DETACH);
	ck_assert_int_eq(rmdir(in_root("/work")), 0); /* fails unless it is empty */
	ck_assert_int_eq(rmdir(in_root("/var/tmp")), 0);
	ck_assert_int_eq(rmdir(in_root("/var")), 0);
	ck_assert_int_eq(rmdir(in_root("/tmp")), 0);
	(void)unlink(in_root("/etc/passwd"));
	(void)rmdir(in_root("/etc"));
	ck_assert_int_eq(rmdir(root), 0);
	memcpy(root + sizeof(root) - 7, "XXXXXX", 6);
}

#endif
