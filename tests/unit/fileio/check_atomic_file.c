/* base/outfile: a result appears whole or not at all. */
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
#include <sys/wait.h>

#include "base/io.h"
#include "base/outfile.h"
#include "base/xalloc.h"

#define CONTENT "all of it"
#define OTHER_UID 12345

static char dir[] = "/tmp/check_outfile.XXXXXX";

/* File systems that can do less and less. */
static enum {
	MODERN,
	NAMES_ONLY, /* no O_TMPFILE */
	LINKS_ONLY, /* and no RENAME_NOREPLACE, as NFS */
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
static int hold_at; /* a descriptor to tell by that a rename is to be made, and never is */

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (hold_at > 0 && write(hold_at, "", 1) == 1)
		(void)pause();
	return __real_renameat(from_fd, from, to_fd, to);
}

/* A path in the tests' directory, until the fourth from now. */
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
	int n = -2; /* . and .. */

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
	ck_assert_int_eq(rmdir(dir), 0); /* and so nothing else was left in it */
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	_cleanup_close_ int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, text, strlen(text), deadline_in_ms(1000)), 0);
}

static void assert_text(int fd, const char *want)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_slurp(fd, &text, 65536), 0);
	ck_assert_str_eq(buf_str(&text), want);
}

static void assert_file(const char *name, const char *want, mode_t mode)
{
	_cleanup_close_ int fd = open(in_dir(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	assert_text(fd, want);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
	ck_assert_uint_eq(st.st_nlink, 1);
	ck_assert_uint_eq(st.st_uid, geteuid());
}

static struct outfile begin(const char *path, int flags, mode_t mode)
{
	struct err err = { .code = EXIT_DONE };
	struct outfile f;

	ck_assert_msg(outfile_open(&f, path, flags, mode, &err) == 0, "%s", err.text);
	ck_assert_int_eq(
		io_write_all(f.fd, CONTENT, strlen(CONTENT), deadline_in_ms(1000)), 0);
	return f;
}

static void finish(struct outfile *f)
{
	struct err err = { .code = EXIT_DONE };
	uint64_t size = 0;

	ck_assert_msg(outfile_commit(f, &size, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(size, strlen(CONTENT));
	outfile_release(f);
}

static void assert_refused(const char *path, int flags, enum exit_code code, const char *why)
{
	struct err err = { .code = EXIT_DONE };
	struct outfile f;
	int before = count();

	ck_assert_int_eq(outfile_open(&f, path, flags, 0600, &err), -1);
	ck_assert_int_eq(err.code, code);
	ck_assert_msg(strstr(err.text, why) != NULL, "%s", err.text);
	ck_assert_int_eq(count(), before);
}

START_TEST(makes_a_new_file)
{
	struct outfile f;

	kind = _i;
	f = begin(in_dir("file"), OUTFILE_NEW, 0600);
	ck_assert_int_eq(count(), kind == MODERN ? 0 : 1);
	ck_assert_int_eq(access(in_dir("file"), F_OK), -1);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	ck_assert_int_eq(count(), 1);
	ck_assert_int_eq(unlink(in_dir("file")), 0);
	f = begin(in_dir("file"), OUTFILE_REPLACE, 0666);
	finish(&f);
	assert_file("file", CONTENT, 0644);
	ck_assert_int_eq(count(), 1);
}
END_TEST

START_TEST(leaves_nothing_of_what_is_not_whole)
{
	struct outfile f;

	kind = _i;
	f = begin(in_dir("file"), OUTFILE_NEW, 0600);
	outfile_release(&f);
	ck_assert_int_eq(count(), 0);
	write_file("file", "old", 0600);
	f = begin(in_dir("file"), OUTFILE_REPLACE, 0600);
	outfile_release(&f);
	assert_file("file", "old", 0600);
	ck_assert_int_eq(count(), 1);
}
END_TEST

START_TEST(replaces_and_keeps_the_mode)
{
	struct outfile f;

	kind = _i;
	write_file("file", "something longer", 0640);
	assert_refused(in_dir("file"), OUTFILE_NEW, EXIT_USAGE, "/file exists");
	f = begin(in_dir("file"), OUTFILE_REPLACE, 0666);
	assert_file("file", "something longer", 0640);
	finish(&f);
	assert_file("file", CONTENT, 0640);
	ck_assert_int_eq(count(), 1);
}
END_TEST

/* Somebody else made it, for all to read, before a privileged caller came. */
START_TEST(does_not_take_another_users_mode)
{
	struct outfile f;

	if (geteuid() != 0)
		return;
	write_file("file", "trap", 0600);
	ck_assert_int_eq(chown(in_dir("file"), OTHER_UID, OTHER_UID), 0);
	ck_assert_int_eq(chmod(in_dir("file"), 04664), 0);
	f = begin(in_dir("file"), OUTFILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
}
END_TEST

START_TEST(spares_what_came_meanwhile)
{
	struct err err = { .code = EXIT_DONE };
	struct outfile f;

	kind = _i;
	f = begin(in_dir("file"), OUTFILE_NEW, 0600);
	write_file("file", "newer", 0600);
	ck_assert_int_eq(outfile_commit(&f, NULL, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "File exists") != NULL, "%s", err.text);
	outfile_release(&f);
	assert_file("file", "newer", 0600);
	ck_assert_int_eq(count(), 1);
	f = begin(in_dir("file"), OUTFILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
}
END_TEST

static const char *const link_targets[] = { "file", NULL }; /* NULL: its absolute path */

/* It stays a link, whether or not there is something where it leads. */
START_TEST(goes_where_links_lead)
{
	const char *target = link_targets[_i] ? link_targets[_i] : in_dir("file");
	struct outfile f;
	struct stat st;

	ck_assert_int_eq(symlink(target, in_dir("link")), 0);
	assert_refused(in_dir("link"), OUTFILE_NEW, EXIT_USAGE, "/link exists");
	f = begin(in_dir("link"), OUTFILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	f = begin(in_dir("link"), OUTFILE_REPLACE, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	ck_assert_int_eq(lstat(in_dir("link"), &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(count(), 2);
}
END_TEST

START_TEST(does_not_go_where_another_user_leads)
{
	if (geteuid() != 0)
		return;
	write_file("file", "precious", 0600);
	ck_assert_int_eq(symlink("file", in_dir("link")), 0);
	ck_assert_int_eq(lchown(in_dir("link"), OTHER_UID, OTHER_UID), 0);
	assert_refused(in_dir("link"), OUTFILE_REPLACE, EXIT_PARTIAL, "another user's link");
	assert_file("file", "precious", 0600);
}
END_TEST

START_TEST(refuses_at_the_beginning)
{
	assert_refused(dir, OUTFILE_REPLACE, EXIT_USAGE, "is a directory");
	assert_refused(in_dir("none/file"), OUTFILE_NEW, EXIT_PARTIAL, "No such file");
	assert_refused(in_dir("file/"), OUTFILE_NEW, EXIT_PARTIAL, "Is a directory");
	assert_refused("", OUTFILE_NEW, EXIT_PARTIAL, "Is a directory");
	assert_refused("/proc/file", OUTFILE_NEW, EXIT_PARTIAL, "cannot be written");
	ck_assert_int_eq(symlink("link", in_dir("link")), 0);
	assert_refused(in_dir("link"), OUTFILE_REPLACE, EXIT_PARTIAL, "symbolic links");
}
END_TEST

START_TEST(refuses_a_directory_of_others)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chmod(dir, 0755), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct err err = { .code = EXIT_DONE };
		struct outfile f;

		if (setuid(OTHER_UID) < 0 ||
		    outfile_open(&f, in_dir("file"), OUTFILE_NEW, 0600, &err) == 0)
			_exit(1);
		_exit(err.code == EXIT_PARTIAL && strstr(err.text, "Permission denied") ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* In the working directory, where a path has no slash. */
START_TEST(takes_a_bare_name)
{
	struct outfile f;

	ck_assert_int_eq(chdir(dir), 0);
	f = begin("file", OUTFILE_NEW, 0600);
	finish(&f);
	assert_file("file", CONTENT, 0600);
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(sends_to_stdout)
{
	int saved = dup(STDOUT_FILENO), ends[2];
	struct outfile f;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	(void)close(ends[1]);
	f = begin("-", OUTFILE_NEW, 0600);
	ck_assert_int_eq(io_wait(ends[0], POLLIN, deadline_in_ms(0)), -ETIMEDOUT);
	finish(&f);
	ck_assert_int_eq(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	(void)close(saved);
	assert_text(ends[0], CONTENT);
	(void)close(ends[0]);
}
END_TEST

START_TEST(sends_to_what_is_no_file)
{
	struct err err = { .code = EXIT_DONE };
	struct outfile f;
	struct stat st;
	char path[64];
	int ends[2];

	f = begin("/dev/null", OUTFILE_NEW, 0600);
	finish(&f);
	ck_assert_int_eq(lstat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	f = begin(path, OUTFILE_NEW, 0600);
	finish(&f);
	(void)close(ends[1]);
	assert_text(ends[0], CONTENT);
	(void)close(ends[0]);
	f = begin("/dev/full", OUTFILE_NEW, 0600);
	ck_assert_int_eq(outfile_commit(&f, NULL, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_str_eq(err.text, "/dev/full could not be written: No space left on device");
	outfile_release(&f);
	ck_assert_int_eq(mkfifo(in_dir("link"), 0600), 0);
	ends[0] = open(in_dir("link"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	f = begin(in_dir("link"), OUTFILE_NEW, 0600);
	(void)close(ends[0]);
	err.code = EXIT_DONE;
	ck_assert_int_eq(outfile_commit(&f, NULL, &err), -1);
	ck_assert_msg(strstr(err.text, "Broken pipe") != NULL, "%s", err.text);
	outfile_release(&f);
}
END_TEST

START_TEST(tells_that_there_is_no_room)
{
	const struct rlimit small = { 4, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
	struct err err = { .code = EXIT_DONE };
	struct outfile f;
	int rc;

	ck_assert_int_eq(outfile_open(&f, in_dir("file"), OUTFILE_NEW, 0600, &err), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc = io_write_all(f.fd, CONTENT, strlen(CONTENT), deadline_in_ms(1000));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert_int_eq(rc, -EFBIG);
	ck_assert_int_eq(outfile_failed(&f, rc, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "/file could not be written: File too large") != NULL, "%s",
		      err.text);
	outfile_release(&f);
	ck_assert_int_eq(count(), 0);
}
END_TEST

/* Whatever there is at that moment goes. */
START_TEST(leaves_nothing_when_killed)
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
		struct outfile f = begin(in_dir("file"), OUTFILE_NEW, 0600);

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

/* Between the two steps of replacing a file. */
START_TEST(leaves_nothing_when_killed_in_replacing)
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
		struct outfile f = begin(in_dir("file"), OUTFILE_REPLACE, 0600);
		struct err err = { .code = EXIT_DONE };

		hold_at = ready[1];
		_exit(outfile_commit(&f, NULL, &err) == 0); /* never reached */
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

int main(void)
{
	Suite *suite = suite_create("outfile");
	TCase *tc = tcase_create("outfile");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_loop_test(tc, makes_a_new_file, 0, N_KINDS);
	tcase_add_loop_test(tc, leaves_nothing_of_what_is_not_whole, 0, N_KINDS);
	tcase_add_loop_test(tc, replaces_and_keeps_the_mode, 0, N_KINDS);
	tcase_add_test(tc, does_not_take_another_users_mode);
	tcase_add_loop_test(tc, spares_what_came_meanwhile, 0, N_KINDS);
	tcase_add_loop_test(tc, goes_where_links_lead, 0, ARRAY_SIZE(link_targets));
	tcase_add_test(tc, does_not_go_where_another_user_leads);
	tcase_add_test(tc, refuses_at_the_beginning);
	tcase_add_test(tc, refuses_a_directory_of_others);
	tcase_add_test(tc, takes_a_bare_name);
	tcase_add_test(tc, sends_to_stdout);
	tcase_add_test(tc, sends_to_what_is_no_file);
	tcase_add_test(tc, tells_that_there_is_no_room);
	tcase_add_loop_test(tc, leaves_nothing_when_killed, 0, N_KINDS);
	tcase_add_loop_test(tc, leaves_nothing_when_killed_in_replacing, 0, N_KINDS);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
