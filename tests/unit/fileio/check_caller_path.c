/* Paths for output: the links that are followed, and the file to which they lead. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "fileio/caller_path.h"
#include "unit/support/shell.h"

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir -p a/b; echo >a/b/file");
}

static void teardown(void)
{
	shell("rm -rf ./*");
	ck_assert_int_eq(rmdir(dir), 0);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

/* Opens a path below the directory. */
static int find(struct caller_path *p, const char *path)
{
	_cleanup_free_ char *full = xasprintf("%s/%s", dir, path);

	return caller_path_open(p, full);
}

static const struct {
	const char *make, *path;
	int error;        /* 0: the path is valid */
	const char *same; /* the file that a valid path names; NULL: it does not exist */
	bool was_link;
} paths[] = {
	{ "", "a/b/file", 0, "a/b/file", false },
	{ "", "a//b/./../b/file", 0, "a/b/file", false },
	{ "", "a/b", 0, "a/b", false },
	{ "", "a/b/", 0, "a/b", false },
	{ "", "a/b/new", 0, NULL, false },
	{ "", "a/c/new", -ENOENT, NULL, false },
	{ "", "a/b/file/new", -ENOTDIR, NULL, false },
	{ "ln -s a/b/file l", "l", 0, "a/b/file", true },
	{ "ln -s b/file a/l; ln -s a/l l", "l", 0, "a/b/file", true },
	{ "ln -s ../a a/l", "a/l/l/l/b/file", 0, "a/b/file", false },
	{ "ln -s $PWD/a/b l", "l/file", 0, "a/b/file", false },
	{ "ln -s $PWD/a/b/new l", "l", 0, NULL, true },
	{ "ln -s a/b/ l", "l/file", 0, "a/b/file", false },
	{ "ln -s l l", "l", -ELOOP, NULL, false },
	{ "ln -s l/x l", "l/x", -ELOOP, NULL, false },
	{ "mkfifo f; ln -s f l", "l", 0, "f", true },
};

START_TEST(own_links_are_followed)
{
	struct caller_path p;
	struct stat st;

	shell("true; %s", paths[_i].make);
	ck_assert_int_eq(find(&p, paths[_i].path), paths[_i].error);
	if (paths[_i].error == 0) {
		ck_assert_int_eq(p.was_link, paths[_i].was_link);
		ck_assert_int_eq(p.fd >= 0, paths[_i].same != NULL);
	}
	if (p.fd >= 0) {
		_cleanup_free_ char *same = xasprintf("%s/%s", dir, paths[_i].same);

		ck_assert_int_eq(stat(same, &st), 0);
		ck_assert_uint_eq(st.st_ino, p.st.st_ino);
		ck_assert_int_eq(fstatat(p.dir_fd, p.name, &st, AT_SYMLINK_NOFOLLOW), 0);
		ck_assert_uint_eq(st.st_ino, p.st.st_ino);
	}
	caller_path_release(&p);
}
END_TEST

static const char *const foreign[] = { "l/file", "l", "ours", "deep/file", "a/../l/file" };

START_TEST(links_of_another_user_are_refused)
{
	_cleanup_free_ char *full = xasprintf("%s/%s", dir, foreign[_i]);
	struct caller_path p;

	shell("ln -s a/b l; chown -h 12345 l; ln -s l ours; ln -s ours/../b deep");
	ck_assert_int_eq(find(&p, foreign[_i]), -ENOTUNIQ);
	if (!strstr(foreign[_i], "file"))
		ck_assert_int_eq(caller_path_open_dir(full), -ENOTUNIQ);
	ck_assert_ptr_nonnull(strstr(caller_path_error(-ENOTUNIQ), "another user"));
}
END_TEST

/* Links in /proc/PID belong to the user of the process, but the kernel chooses their targets. */
START_TEST(links_of_proc_are_followed)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/root%s/a/b/file", dir);
	_cleanup_free_ char *pipe_path = NULL;
	struct caller_path p;
	struct stat st;
	int ends[2];

	ck_assert_int_eq(caller_path_open(&p, path), 0);
	ck_assert_int_ge(p.fd, 0);
	caller_path_release(&p);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pipe_path = xasprintf("/proc/%d/fd/%d", (int)getpid(), ends[1]);
	ck_assert_int_eq(caller_path_open(&p, pipe_path), 0);
	ck_assert_int_eq(fstat(ends[1], &st), 0);
	ck_assert_uint_eq(st.st_ino, p.st.st_ino);
	caller_path_release(&p);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

START_TEST(root_and_empty_paths_are_no_files)
{
	struct caller_path p;

	ck_assert_int_eq(caller_path_open(&p, "/"), -EISDIR);
	ck_assert_int_eq(caller_path_open(&p, ""), -ENOENT);
	ck_assert_int_eq(caller_path_open_dir(""), -ENOENT);
}
END_TEST

static const struct {
	const char *path;
	int number;
} descriptors[] = {
	{ "/dev/stdin", 0 },        { "/dev/stdout", 1 },          { "/dev/stderr", 2 },
	{ "/dev/fd/63", 63 },       { "/proc/self/fd/7", 7 },      { "/dev/fd/", -1 },
	{ "/dev/fd/1x", -1 },       { "/dev/fd/-1", -1 },          { "/dev/fd/99999999999", -1 },
	{ "/dev/stdouts", -1 },     { "dev/stdout", -1 },          { "-", -1 },
};

START_TEST(names_of_descriptors_are_recognised)
{
	ck_assert_int_eq(caller_path_descriptor(descriptors[_i].path), descriptors[_i].number);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fileio/caller_path");
	TCase *tc = tcase_create("fileio/caller_path");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, own_links_are_followed, 0, ARRAY_SIZE(paths));
	if (geteuid() == 0)
		tcase_add_loop_test(tc, links_of_another_user_are_refused, 0, ARRAY_SIZE(foreign));
	else
		puts("SKIP: tests with two users need root");
	tcase_add_test(tc, links_of_proc_are_followed);
	tcase_add_test(tc, root_and_empty_paths_are_no_files);
	tcase_add_loop_test(tc, names_of_descriptors_are_recognised, 0, ARRAY_SIZE(descriptors));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
