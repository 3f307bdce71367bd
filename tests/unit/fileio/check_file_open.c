/* The type and identity of a file are checked before it is opened. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/sysmacros.h>

#include "fileio/file_open.h"
#include "unit/support/shell.h"

static int dir_fd;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir_fd, 0);
}

static void teardown(void)
{
	(void)close(dir_fd);
	shell("rm -rf ./* .[!.]*");
	ck_assert_int_eq(rmdir(dir), 0);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

static const struct {
	const char *make;
	int error; /* 0: it is opened */
} kinds[] = {
	{ "echo >file", 0 },
	{ "mkfifo file", -EINVAL },
	{ "mkdir file", -EINVAL },
	{ "ln -s /etc/passwd file", -ELOOP },
	{ "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"file\")'", -EINVAL },
	{ "true", -ENOENT },
};

START_TEST(only_regular_files_are_opened)
{
	_cleanup_close_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd = -1;
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	struct stat st;

	shell("%s", kinds[_i].make);
	ck_assert_int_ge(inotify_add_watch(watch, dir, IN_OPEN), 0);
	fd = file_open_regular(dir_fd, "file", O_NOFOLLOW, &st);
	ck_assert_int_eq(fd < 0 ? fd : 0, kinds[_i].error);
	ck_assert_int_eq(read(watch, event, sizeof(event)) > 0, fd >= 0);
	if (fd < 0)
		return;
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}
END_TEST

/* A descriptor still leads to its file when another file has got the file's name. */
START_TEST(reopened_file_is_the_one_that_was_seen)
{
	_cleanup_close_ int path_fd = -1, fd = -1;
	struct stat st, other;
	char text[8] = "";

	shell("echo one >file; echo two >other");
	path_fd = file_open_path(dir_fd, "file", O_NOFOLLOW);
	ck_assert_int_eq(fstat(path_fd, &st), 0);
	shell("mv other file");
	fd = file_reopen(path_fd, O_RDONLY, &st);
	ck_assert_int_eq(read(fd, text, sizeof(text) - 1), 4);
	ck_assert_str_eq(text, "one\n");
	ck_assert_int_eq(fstatat(dir_fd, "file", &other, 0), 0);
	ck_assert_int_eq(file_reopen(path_fd, O_RDONLY, &other), -ESTALE);
	st.st_uid++;
	ck_assert_int_eq(file_reopen(path_fd, O_RDONLY, &st), -ESTALE);
}
END_TEST

START_TEST(directories_are_opened_unless_they_are_links)
{
	_cleanup_close_ int fd = -1;

	shell("mkdir d; ln -s d link; mkfifo fifo");
	fd = file_open_dir(dir_fd, "link", 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_open_dir(dir_fd, "link", O_NOFOLLOW), -ENOTDIR);
	ck_assert_int_eq(file_open_dir(dir_fd, "fifo", 0), -ENOTDIR);
}
END_TEST

START_TEST(creation_never_uses_an_existing_name)
{
	_cleanup_close_ int fd = file_create(dir_fd, "file", 0600);

	ck_assert_int_ge(fd, 0);
	shell("ln -s nowhere link; mkfifo fifo");
	ck_assert_int_eq(file_create(dir_fd, "file", 0600), -EEXIST);
	ck_assert_int_eq(file_create(dir_fd, "link", 0600), -EEXIST);
	ck_assert_int_eq(file_create(dir_fd, "fifo", 0600), -EEXIST);
	shell("test ! -e nowhere");
}
END_TEST

START_TEST(null_device_is_opened)
{
	_cleanup_close_ int fd = file_open_null(O_RDWR);
	struct stat st;
	char byte;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_rdev, makedev(1, 3));
	ck_assert_int_eq(read(fd, &byte, 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fileio/file_open");
	TCase *tc = tcase_create("fileio/file_open");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, only_regular_files_are_opened, 0, ARRAY_SIZE(kinds));
	tcase_add_test(tc, reopened_file_is_the_one_that_was_seen);
	tcase_add_test(tc, directories_are_opened_unless_they_are_links);
	tcase_add_test(tc, creation_never_uses_an_existing_name);
	tcase_add_test(tc, null_device_is_opened);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
