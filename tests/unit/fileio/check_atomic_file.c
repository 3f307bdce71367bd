/* Output files appear when they are complete, or not at all. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "fileio/io.h"
#include "fileio/atomic_file.h"
#include "base/xalloc.h"

#define CONTENT "all of it"
#define OTHER_UID 12345

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static char dir[] = "/tmp/check_outfile.XXXXXX";

/* Kinds of file systems, each with fewer features than the one before. */
static enum {
	MODERN,
	NAMES_ONLY, /* no O_TMPFILE */
	LINKS_ONLY, /* neither O_TMPFILE nor RENAME_NOREPLACE, as on NFS */
	N_KINDS,
} kind;

int __real_openat(int dir_fd, const char *path, int flags, ...);
int __wrap_openat(int dir_fd, const char *path, int flags, ...);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	long arg[5];
	va_list args;

	if (kind == LINKS_ONLY && number == SYS_renameat2) {
		errno = EINVAL;
		return -1;
	}
	va_start(args, number);
	for (size_t i = 0; i < ARRAY_SIZE(arg); i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4]);
}

int __wrap_openat(int dir_fd, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	if (kind != MODERN && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return __real_openat(dir_fd, path, flags, mode);
}

int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
static int hold_at; /* > 0: descriptor to which renameat() writes a byte before it blocks */

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (hold_at > 0 && write(hold_at, "", 1) == 1)
		(void)pause();
	return __real_renameat(from_fd, from, to_fd, to);
}

/* Returns a path in the tests' directory.  It is valid until the fourth call after this one. */
static const char *in_dir(const char *name)
{
	static char paths[4][128];
	static int i;

	i = (i + 1) % 4;
	(void)snprintf(paths[i], sizeof(paths[i]), "%s/%s", dir, name);
	return paths[i];
}

static int count(void)
{
	DIR *d = opendir(dir);
	int n = -2; /* does not count . and .. */

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

static void make_dir(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)umask(022);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
}

static void remove_dir(void)
{
	(void)unlink(in_dir("file"));
	(void)unlink(in_dir("link"));
	ck_assert_int_eq(rmdir(dir), 0); /* fails if a file is left */
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	_cleanup_close_ int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, text, strlen(text), deadline_in_ms(1000)), 0);
}

static void assert_text(int fd, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_slurp(fd, &text, 65536), 0);
	ck_assert_str_eq(buf_str(&text), expected);
}

static void assert_file(const char *name, const char *expected, mode_t mode)
{
	_cleanup_close_ int fd = open(in_dir(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	assert_text(fd, expected);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
	ck_assert_uint_eq(st.st_nlink, 1);
	ck_assert_uint_eq(st.st_uid, geteuid());
}

static struct atomic_file begin(const char *path, int flags, mode_t mode)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;

	ck_assert_msg(atomic_file_open(&f, path, flags, mode, &err) == 0, "%s", err.text);
	ck_assert_int_eq(
		io_write_all(f.fd, CONTENT, strlen(CONTENT), deadline_in_ms(1000)), 0);
	return f;
}

static void finish(struct atomic_file *f)
{
	struct err err = { .code = EXIT_DONE };
	uint64_t size = 0;

	ck_assert_msg(atomic_file_commit(f, &size, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(size, strlen(CONTENT));
	atomic_file_release(f);
}

static void assert_refused(const char *path, int flags, enum exit_code code, const char *reason)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;
	int before = count();

	ck_assert_int_eq(atomic_file_open(&f, path, flags, 0600, &err), -1);
	ck_assert_int_eq(err.code, code);
	ck_assert_msg(strstr(err.text, reason) != NULL, "%s", err.text);
	ck_assert_int_eq(count(), before);
}

START_TEST(new_file_appears_at_the_commit)
{
	struct atomic_file f;

	kind = _i;
	f = begin(in_dir("file"), ATOMIC_FILE_NEW, 0600);
	ck_assert_int_eq(count(), kind == MODERN ? 0 : 1);
	ck_assert_int_eq(access(in_dir("file"), F_OK), -1);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	ck_assert_int_eq(count(), 1);
	ck_assert_int_eq(unlink(in_dir("file")), 0);
	f = begin(in_dir("file"), ATOMIC_FILE_REPLACE, 0666);
	finish(&f);
	assert_file("file", CONTENT, 0644);
	ck_assert_int_eq(count(), 1);
}
END_TEST

START_TEST(uncommitted_file_is_removed)
{
	struct atomic_file f;

	kind = _i;
	f = begin(in_dir("file"), ATOMIC_FILE_NEW, 0600);
	atomic_file_release(&f);
	ck_assert_int_eq(count(), 0);
	write_file("file", "old", 0600);
	f = begin(in_dir("file"), ATOMIC_FILE_REPLACE, 0600);
	atomic_file_release(&f);
	assert_file("file", "old", 0600);
	ck_assert_int_eq(count(), 1);
}
END_TEST

START_TEST(replacement_keeps_the_mode_of_the_old_file)
{
	struct atomic_file f;

	kind = _i;
	write_file("file", "something longer", 0640);
	assert_refused(in_dir("file"), ATOMIC_FILE_NEW, EXIT_USAGE,
		       "/file': file exists; use --force");
	f = begin(in_dir("file"), ATOMIC_FILE_REPLACE, 0666);
	assert_file("file", "something longer", 0640);
	finish(&f);
	assert_file("file", CONTENT, 0640);
	ck_assert_int_eq(count(), 1);
}
END_TEST

/* Root replaces a file of another user.  The new file does not get the mode of the old one. */
START_TEST(mode_of_another_users_file_is_restricted)
{
	struct atomic_file f;

	write_file("file", "trap", 0600);
	ck_assert_int_eq(chown(in_dir("file"), OTHER_UID, OTHER_UID), 0);
	ck_assert_int_eq(chmod(in_dir("file"), 04664), 0);
	f = begin(in_dir("file"), ATOMIC_FILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
}
END_TEST

START_TEST(file_created_meanwhile_is_not_replaced)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;

	kind = _i;
	f = begin(in_dir("file"), ATOMIC_FILE_NEW, 0600);
	write_file("file", "newer", 0600);
	ck_assert_int_eq(atomic_file_commit(&f, NULL, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "File exists") != NULL, "%s", err.text);
	atomic_file_release(&f);
	assert_file("file", "newer", 0600);
	ck_assert_int_eq(count(), 1);
	f = begin(in_dir("file"), ATOMIC_FILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
}
END_TEST

static const char *const link_targets[] = { "file", NULL }; /* NULL: the absolute path of "file" */

/* The link stays a link, whether or not its target exists. */
START_TEST(replacing_a_link_replaces_its_target)
{
	const char *target = link_targets[_i] ? link_targets[_i] : in_dir("file");
	struct atomic_file f;
	struct stat st;

	ck_assert_int_eq(symlink(target, in_dir("link")), 0);
	assert_refused(in_dir("link"), ATOMIC_FILE_NEW, EXIT_USAGE,
		       "/link': file exists; use --force");
	f = begin(in_dir("link"), ATOMIC_FILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	f = begin(in_dir("link"), ATOMIC_FILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	ck_assert_int_eq(lstat(in_dir("link"), &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(count(), 2);
}
END_TEST

START_TEST(link_of_another_user_is_refused)
{
	write_file("file", "precious", 0600);
	ck_assert_int_eq(symlink("file", in_dir("link")), 0);
	ck_assert_int_eq(lchown(in_dir("link"), OTHER_UID, OTHER_UID), 0);
	assert_refused(in_dir("link"), ATOMIC_FILE_REPLACE, EXIT_PARTIAL,
		       "another user's symbolic link");
	assert_file("file", "precious", 0600);
}
END_TEST

START_TEST(unusable_paths_are_refused_by_open)
{
	assert_refused(dir, ATOMIC_FILE_REPLACE, EXIT_USAGE, "is a directory");
	assert_refused(in_dir("none/file"), ATOMIC_FILE_NEW, EXIT_PARTIAL, "No such file");
	assert_refused(in_dir("file/"), ATOMIC_FILE_NEW, EXIT_PARTIAL, "Is a directory");
	assert_refused("", ATOMIC_FILE_NEW, EXIT_PARTIAL, "No such file");
	assert_refused("/proc/file", ATOMIC_FILE_NEW, EXIT_PARTIAL, "cannot write '/proc/file'");
	ck_assert_int_eq(symlink("link", in_dir("link")), 0);
	assert_refused(in_dir("link"), ATOMIC_FILE_REPLACE, EXIT_PARTIAL, "symbolic links");
}
END_TEST

START_TEST(unwritable_directory_is_refused)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(chmod(dir, 0755), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct err err = { .code = EXIT_DONE };
		struct atomic_file f;

		if (setuid(OTHER_UID) < 0 ||
		    atomic_file_open(&f, in_dir("file"), ATOMIC_FILE_NEW, 0600, &err) == 0)
			_exit(1);
		_exit(err.code == EXIT_PARTIAL && strstr(err.text, "Permission denied") ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* A path without a slash is in the working directory. */
START_TEST(name_without_directory_is_relative)
{
	struct atomic_file f;

	ck_assert_int_eq(chdir(dir), 0);
	f = begin("file", ATOMIC_FILE_NEW, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(stdout_receives_the_data_at_the_commit)
{
	int saved = dup(STDOUT_FILENO), ends[2];
	struct atomic_file f;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	(void)close(ends[1]);
	f = begin("-", ATOMIC_FILE_NEW, 0600);
	ck_assert_int_eq(io_wait(ends[0], POLLIN, deadline_in_ms(0)), -ETIMEDOUT);
	finish(&f);
	ck_assert_int_eq(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	(void)close(saved);
	assert_text(ends[0], CONTENT);
	(void)close(ends[0]);
}
END_TEST

START_TEST(a_pipe_receives_what_is_sent_before_the_commit)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;
	uint64_t size;
	char path[64], text[8];
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	ck_assert_int_eq(atomic_file_open(&f, path, ATOMIC_FILE_NEW, 0600, &err), 0);
	ck_assert_int_eq(atomic_file_send(&f, &err), 0);
	ck_assert_int_eq(write(f.fd, "one", 3), 3);
	ck_assert_int_eq(atomic_file_send(&f, &err), 0);
	ck_assert_int_eq(io_read(ends[0], text, sizeof(text)), 3);
	ck_assert_int_eq(write(f.fd, "four", 4), 4);
	ck_assert_int_eq(atomic_file_commit(&f, &size, &err), 0);
	ck_assert_uint_eq(size, 7);
	ck_assert_int_eq(io_read(ends[0], text, sizeof(text)), 4);
	ck_assert_int_eq(memcmp(text, "four", 4), 0);
	atomic_file_release(&f);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

START_TEST(a_file_is_not_sent)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f = begin(in_dir("file"), ATOMIC_FILE_NEW, 0600);

	ck_assert_int_eq(atomic_file_send(&f, &err), 0);
	ck_assert_int_eq(access(in_dir("file"), F_OK), -1);
	finish(&f);
	assert_file("file", CONTENT, 0600);
}
END_TEST

START_TEST(devices_and_pipes_receive_the_data)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;
	struct stat st;
	char path[64];
	int ends[2];

	f = begin("/dev/null", ATOMIC_FILE_NEW, 0600);
	finish(&f);
	ck_assert_int_eq(lstat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	f = begin(path, ATOMIC_FILE_NEW, 0600);
	finish(&f);
	(void)close(ends[1]);
	assert_text(ends[0], CONTENT);
	(void)close(ends[0]);
	f = begin("/dev/full", ATOMIC_FILE_NEW, 0600);
	ck_assert_int_eq(atomic_file_commit(&f, NULL, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_str_eq(err.text, "cannot write '/dev/full': No space left on device");
	atomic_file_release(&f);
	ck_assert_int_eq(mkfifo(in_dir("link"), 0600), 0);
	ends[0] = open(in_dir("link"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	f = begin(in_dir("link"), ATOMIC_FILE_NEW, 0600);
	(void)close(ends[0]);
	err.code = EXIT_DONE;
	ck_assert_int_eq(atomic_file_commit(&f, NULL, &err), -1);
	ck_assert_msg(strstr(err.text, "Broken pipe") != NULL, "%s", err.text);
	atomic_file_release(&f);
}
END_TEST

START_TEST(failed_write_is_reported_with_its_reason)
{
	const struct rlimit small = { 4, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;
	int rc;

	ck_assert_int_eq(atomic_file_open(&f, in_dir("file"), ATOMIC_FILE_NEW, 0600, &err), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc = io_write_all(f.fd, CONTENT, strlen(CONTENT), deadline_in_ms(1000));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert_int_eq(rc, -EFBIG);
	ck_assert_int_eq(atomic_file_failed(&f, rc, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "/file': File too large") != NULL, "%s", err.text);
	atomic_file_release(&f);
	ck_assert_int_eq(count(), 0);
}
END_TEST

/* The unfinished file is removed on every kind of file system. */
START_TEST(killed_writer_leaves_no_file)
{
	struct deadline deadline = deadline_in_ms(5000);
	int ready[2];
	char byte;
	pid_t pid;

	kind = _i;
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct atomic_file f = begin(in_dir("file"), ATOMIC_FILE_NEW, 0600);

		if (f.fd >= 0 && write(ready[1], "", 1) == 1)
			(void)pause();
		_exit(1);
	}
	ck_assert_int_eq(io_read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(count(), kind == MODERN ? 0 : 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	while (count() > 0 && !deadline_passed(deadline))
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(count(), 0);
	(void)close(ready[0]);
	(void)close(ready[1]);
}
END_TEST

/* The process is killed in renameat(), when the new file is complete but has no final name. */
START_TEST(killed_replacement_leaves_the_old_file)
{
	struct deadline deadline = deadline_in_ms(5000);
	int ready[2];
	char byte;
	pid_t pid;

	kind = _i;
	write_file("file", "old", 0600);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct atomic_file f = begin(in_dir("file"), ATOMIC_FILE_REPLACE, 0600);
		struct err err = { .code = EXIT_DONE };

		hold_at = ready[1];
		_exit(atomic_file_commit(&f, NULL, &err) == 0); /* never reached */
	}
	ck_assert_int_eq(io_read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(count(), 2);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	while (count() > 1 && !deadline_passed(deadline))
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(count(), 1);
	assert_file("file", "old", 0600);
	(void)close(ready[0]);
	(void)close(ready[1]);
}
END_TEST

static const int all_flags[] = { ATOMIC_FILE_NEW, ATOMIC_FILE_REPLACE };

static void give_away(const char *path)
{
	ck_assert_int_eq(lchown(path, OTHER_UID, OTHER_UID), 0);
}

/* Calls `act` in a child process of the other user, and checks that it returns true. */
static void as_other_user(bool (*act)(void))
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(setgid(OTHER_UID) == 0 && setuid(OTHER_UID) == 0 && act() ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(pipe_of_another_user_is_refused)
{
	_cleanup_close_ int reader = -1;
	char byte;

	ck_assert_int_eq(mkfifo(in_dir("file"), 0600), 0);
	give_away(in_dir("file"));
	reader = open(in_dir("file"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_eq(symlink("file", in_dir("link")), 0);
	for (int sticky = 0; sticky < 2; sticky++) {
		ck_assert_int_eq(chmod(dir, sticky ? 01777 : 0700), 0);
		assert_refused(in_dir("file"), all_flags[_i], EXIT_PARTIAL,
			       "/file': another user's pipe");
		assert_refused(in_dir("link"), all_flags[_i], EXIT_PARTIAL,
			       "/link': another user's pipe");
	}
	ck_assert_int_eq(read(reader, &byte, 1), 0); /* never opened for writing */
}
END_TEST

static bool cannot_use_roots_pipe(void)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;

	return atomic_file_open(&f, in_dir("file"), ATOMIC_FILE_REPLACE, 0600, &err) < 0 &&
	       err.code == EXIT_PARTIAL && strstr(err.text, "another user's pipe");
}

static bool can_use_roots_pipe(void)
{
	struct err err = { .code = EXIT_DONE };
	struct atomic_file f;

	if (atomic_file_open(&f, in_dir("file"), ATOMIC_FILE_NEW, 0600, &err) < 0)
		return false;
	atomic_file_release(&f);
	return true;
}

/* Where others can write, somebody may have moved or linked a pipe of root's to this name. */
START_TEST(pipe_of_root_is_refused_in_a_shared_directory)
{
	_cleanup_close_ int reader = -1;

	ck_assert_int_eq(mkfifo(in_dir("file"), 0600), 0);
	ck_assert_int_eq(chmod(in_dir("file"), 0622), 0);
	reader = open(in_dir("file"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(reader, 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	as_other_user(can_use_roots_pipe);
	ck_assert_int_eq(chmod(dir, 01777), 0);
	as_other_user(cannot_use_roots_pipe);
	ck_assert_int_eq(chown(dir, OTHER_UID + 1, 0), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	as_other_user(cannot_use_roots_pipe);
}
END_TEST

START_TEST(link_of_another_user_to_a_device_is_refused)
{
	ck_assert_int_eq(symlink("/dev/null", in_dir("link")), 0);
	give_away(in_dir("link"));
	assert_refused(in_dir("link"), all_flags[_i], EXIT_PARTIAL,
		       "/link': another user's symbolic link");
}
END_TEST

/* The link is a directory of the path, or a directory in the target of a link of ours. */
START_TEST(link_of_another_user_to_a_directory_is_refused)
{
	ck_assert_int_eq(symlink(dir, in_dir("link")), 0);
	give_away(in_dir("link"));
	assert_refused(in_dir("link/new"), all_flags[_i], EXIT_PARTIAL,
		       "another user's symbolic link");
	ck_assert_int_eq(symlink("link/new", in_dir("file")), 0);
	assert_refused(in_dir("file"), all_flags[_i], EXIT_PARTIAL,
		       "another user's symbolic link");
}
END_TEST

START_TEST(device_of_another_user_is_refused)
{
	const dev_t none = makedev(240, 99); /* a major number for local use: no driver */

	ck_assert_int_eq(mknod(in_dir("file"), S_IFCHR | 0666, none), 0);
	assert_refused(in_dir("file"), all_flags[_i], EXIT_PARTIAL, "No such device");
	give_away(in_dir("file"));
	assert_refused(in_dir("file"), all_flags[_i], EXIT_PARTIAL,
		       "/file': another user's device");
	ck_assert_int_eq(unlink(in_dir("file")), 0);
	ck_assert_int_eq(mknod(in_dir("file"), S_IFBLK | 0666, none), 0);
	give_away(in_dir("file"));
	assert_refused(in_dir("file"), all_flags[_i], EXIT_PARTIAL,
		       "/file': another user's device");
}
END_TEST

START_TEST(disk_is_overwritten_only_on_request)
{
	ck_assert_int_eq(mknod(in_dir("file"), S_IFBLK | 0600, makedev(240, 99)), 0);
	assert_refused(in_dir("file"), ATOMIC_FILE_NEW, EXIT_USAGE,
		       "/file': it is a block device; use --force");
	assert_refused(in_dir("file"), ATOMIC_FILE_REPLACE, EXIT_PARTIAL, "No such device");
}
END_TEST

/* In a container, /dev/null may belong to a user of the host. */
START_TEST(null_device_of_anybody_is_accepted)
{
	struct atomic_file f;

	ck_assert_int_eq(mknod(in_dir("file"), S_IFCHR | 0666, makedev(1, 3)), 0);
	give_away(in_dir("file"));
	f = begin(in_dir("file"), ATOMIC_FILE_NEW, 0600);
	finish(&f);
}
END_TEST

START_TEST(socket_is_refused)
{
	ck_assert_int_eq(mknod(in_dir("file"), S_IFSOCK | 0600, 0), 0);
	assert_refused(in_dir("file"), all_flags[_i], EXIT_PARTIAL, "/file': is a socket");
}
END_TEST

static char swapped[2][128]; /* two names, which the other user exchanges all the time */

static void _noreturn_ swap_forever(void)
{
	for (;;)
		(void)__real_syscall(SYS_renameat2, AT_FDCWD, swapped[0], AT_FDCWD, swapped[1],
				     RENAME_EXCHANGE);
}

/* Another user replaces the name by a link to a file of ours, and by a pipe, all the time. */
START_TEST(swapped_names_lead_to_no_other_file)
{
	_cleanup_close_ int reader = -1;
	pid_t swapper;
	char byte;

	write_file("file", "precious", 0600);
	ck_assert_int_eq(mkdir(in_dir("theirs"), 0755), 0);
	give_away(in_dir("theirs"));
	(void)snprintf(swapped[0], sizeof(swapped[0]), "%s/theirs/a", dir);
	(void)snprintf(swapped[1], sizeof(swapped[1]), "%s/theirs/b", dir);
	ck_assert_int_eq(mkfifo(swapped[0], 0666), 0);
	give_away(swapped[0]);
	reader = open(swapped[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_eq(symlink("../file", swapped[1]), 0);
	give_away(swapped[1]);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	swapper = fork();
	ck_assert_int_ge(swapper, 0);
	if (swapper == 0) {
		if (setuid(OTHER_UID) < 0)
			_exit(1);
		swap_forever();
	}
	for (int i = 0; i < 3000; i++) {
		struct err err = { .code = EXIT_DONE };
		struct atomic_file f;

		if (atomic_file_open(&f, swapped[0], all_flags[_i], 0600, &err) < 0)
			continue;
		if (io_write_all(f.fd, CONTENT, strlen(CONTENT), DEADLINE_NEVER) == 0)
			(void)!atomic_file_commit(&f, NULL, &err);
		atomic_file_release(&f);
	}
	ck_assert_int_eq(kill(swapper, SIGKILL), 0);
	ck_assert_int_eq(waitpid(swapper, NULL, 0), swapper);
	ck_assert_int_le(read(reader, &byte, 1), 0);
	assert_file("file", "precious", 0600);
	ck_assert_int_eq(unlink(swapped[0]), 0);
	ck_assert_int_eq(unlink(swapped[1]), 0);
	ck_assert_int_eq(rmdir(in_dir("theirs")), 0);
}
END_TEST

/* If the pipe were opened twice, the first close(2) would end the reader's input. */
START_TEST(own_pipe_waits_for_its_reader_and_is_opened_once)
{
	const char *path = in_dir("file");
	struct atomic_file f;
	int status;
	pid_t pid;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		_cleanup_close_ int fd = -1;
		char text[64];

		(void)poll(NULL, 0, 200); /* the reader is late */
		fd = open(path, O_RDONLY | O_CLOEXEC);
		_exit(io_read_full(fd, text, sizeof(text)) == strlen(CONTENT) ? 0 : 1);
	}
	f = begin(path, ATOMIC_FILE_NEW, 0600);
	finish(&f);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(pipe_without_a_reader_is_refused_after_a_while)
{
	ck_assert_int_eq(mkfifo(in_dir("file"), 0600), 0);
	assert_refused(in_dir("file"), all_flags[_i], EXIT_PARTIAL,
		       "/file': no process reads from this pipe");
}
END_TEST

static void add_tests_with_two_users(TCase *tc)
{
	const int n = ARRAY_SIZE(all_flags);

	tcase_add_test(tc, mode_of_another_users_file_is_restricted);
	tcase_add_test(tc, link_of_another_user_is_refused);
	tcase_add_test(tc, unwritable_directory_is_refused);
	tcase_add_loop_test(tc, pipe_of_another_user_is_refused, 0, n);
	tcase_add_test(tc, pipe_of_root_is_refused_in_a_shared_directory);
	tcase_add_loop_test(tc, link_of_another_user_to_a_device_is_refused, 0, n);
	tcase_add_loop_test(tc, link_of_another_user_to_a_directory_is_refused, 0, n);
	tcase_add_loop_test(tc, device_of_another_user_is_refused, 0, n);
	tcase_add_test(tc, disk_is_overwritten_only_on_request);
	tcase_add_test(tc, null_device_of_anybody_is_accepted);
	tcase_add_loop_test(tc, swapped_names_lead_to_no_other_file, 0, n);
}

int main(void)
{
	Suite *suite = suite_create("fileio/atomic_file");
	TCase *tc = tcase_create("fileio/atomic_file");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_loop_test(tc, new_file_appears_at_the_commit, 0, N_KINDS);
	tcase_add_loop_test(tc, uncommitted_file_is_removed, 0, N_KINDS);
	tcase_add_loop_test(tc, replacement_keeps_the_mode_of_the_old_file, 0, N_KINDS);
	tcase_add_loop_test(tc, file_created_meanwhile_is_not_replaced, 0, N_KINDS);
	tcase_add_loop_test(tc, replacing_a_link_replaces_its_target, 0, ARRAY_SIZE(link_targets));
	tcase_add_test(tc, unusable_paths_are_refused_by_open);
	tcase_add_test(tc, name_without_directory_is_relative);
	tcase_add_test(tc, stdout_receives_the_data_at_the_commit);
	tcase_add_test(tc, a_pipe_receives_what_is_sent_before_the_commit);
	tcase_add_test(tc, a_file_is_not_sent);
	tcase_add_test(tc, devices_and_pipes_receive_the_data);
	tcase_add_test(tc, failed_write_is_reported_with_its_reason);
	tcase_add_loop_test(tc, killed_writer_leaves_no_file, 0, N_KINDS);
	tcase_add_loop_test(tc, killed_replacement_leaves_the_old_file, 0, N_KINDS);
	tcase_add_loop_test(tc, socket_is_refused, 0, ARRAY_SIZE(all_flags));
	tcase_add_test(tc, own_pipe_waits_for_its_reader_and_is_opened_once);
	tcase_add_loop_test(tc, pipe_without_a_reader_is_refused_after_a_while, 0,
			    ARRAY_SIZE(all_flags));
	if (geteuid() == 0)
		add_tests_with_two_users(tc);
	else
		puts("SKIP: tests with two users and with devices need root");
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
