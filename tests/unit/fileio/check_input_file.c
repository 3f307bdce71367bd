/* Files that the caller names as input. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "fileio/input_file.h"
#include "fileio/io.h"
#include "unit/support/shell.h"

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	shell("rm -rf ./*");
	ck_assert_int_eq(rmdir(dir), 0);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

static const struct {
	const char *make;
	int kinds;
	const char *why; /* NULL: it is opened */
} files[] = {
	{ "echo >file", INPUT_FILE_REGULAR, NULL },
	{ "echo >file", INPUT_FILE_PIPE, NULL },
	{ "ln -s /etc/passwd file", INPUT_FILE_REGULAR, NULL },
	{ "true", INPUT_FILE_REGULAR, "No such file" },
	{ "mkdir file", INPUT_FILE_REGULAR, "not a regular file" },
	{ "mkdir file", INPUT_FILE_PIPE, "not a regular file" },
	{ "mkfifo file", INPUT_FILE_REGULAR, "not a regular file" },
	{ "ln -s /dev/zero file", INPUT_FILE_PIPE, "not a regular file" },
};

START_TEST(missing_and_special_files_are_usage_errors)
{
	_cleanup_free_ char *path = xasprintf("%s/file", dir);
	struct err err = { .code = EXIT_DONE };
	_cleanup_close_ int fd = -1;
	struct stat st;

	shell("%s", files[_i].make);
	fd = input_file_open(path, files[_i].kinds, &st, &err);
	ck_assert_int_eq(fd < 0, files[_i].why != NULL);
	ck_assert_int_eq(err.code, fd < 0 ? EXIT_USAGE : EXIT_DONE);
	if (fd < 0) {
		ck_assert_msg(strstr(err.text, files[_i].why) != NULL, "%s", err.text);
		ck_assert_msg(strncmp(err.text, "cannot read '/", 14) == 0, "%s", err.text);
	}
}
END_TEST

static void assert_reads(const char *path, const char *expected)
{
	struct err err = { .code = EXIT_DONE };
	struct stat st;
	_cleanup_close_ int fd = input_file_open(path, INPUT_FILE_PIPE, &st, &err);
	_cleanup_buf_ struct buf text = BUF_INIT;

	ck_assert_msg(fd >= 0, "%s", err.text);
	ck_assert_int_eq(io_slurp(fd, &text, 100), 0);
	ck_assert_str_eq(buf_str(&text), expected);
}

/* A FIFO that the user names, and a pipe as a shell passes it for <(command). */
START_TEST(pipes_of_the_caller_are_read)
{
	_cleanup_free_ char *path = xasprintf("%s/fifo", dir);
	char name[32];
	int ends[2];

	shell("mkfifo fifo; (sleep 0.1; echo late >fifo) &");
	assert_reads(path, "late\n");
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(write(ends[1], "text", 4), 4);
	(void)close(ends[1]);
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	assert_reads(name, "text");
	(void)close(ends[0]);
}
END_TEST

/* The caller passes a descriptor on purpose, but the pipe of a name may be another user's trap. */
START_TEST(pipe_of_another_user_is_read_only_by_descriptor)
{
	_cleanup_free_ char *path = xasprintf("%s/fifo", dir);
	struct err err = { .code = EXIT_DONE };
	struct stat st;
	char name[32];
	int ends[2];

	shell("mkfifo fifo; chown 12345 fifo");
	ck_assert_int_eq(input_file_open(path, INPUT_FILE_PIPE, &st, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_msg(strstr(err.text, "another user's pipe") != NULL, "%s", err.text);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(fchown(ends[0], 12345, 12345), 0);
	(void)close(ends[1]);
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	assert_reads(name, "");
	(void)close(ends[0]);
}
END_TEST

START_TEST(file_without_read_permission_is_a_permission_error)
{
	_cleanup_free_ char *path = xasprintf("%s/file", dir);
	int status;
	pid_t pid;

	shell("echo >file; chmod 600 file; chmod 755 .");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct err err = { .code = EXIT_DONE };
		struct stat st;

		if (setuid(12345) < 0 || input_file_open(path, 0, &st, &err) >= 0)
			_exit(1);
		_exit(err.code == EXIT_PERMISSION && strstr(err.text, "Permission") ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fileio/input_file");
	TCase *tc = tcase_create("fileio/input_file");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, missing_and_special_files_are_usage_errors, 0, ARRAY_SIZE(files));
	tcase_add_test(tc, pipes_of_the_caller_are_read);
	if (geteuid() == 0) {
		tcase_add_test(tc, pipe_of_another_user_is_read_only_by_descriptor);
		tcase_add_test(tc, file_without_read_permission_is_a_permission_error);
	} else {
		puts("SKIP: tests with two users need root");
	}
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
