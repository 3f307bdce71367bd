/* The options after -agentpath:…=, and the file of a report. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "startup/report_file.h"
#include "startup/startup_options.h"

static struct ag_startup_options options;
static const char *what, *why;

static int parse(const char *text)
{
	what = why = NULL;
	return ag_startup_parse(&options, text, 4294967295, &what, &why);
}

START_TEST(defaults_are_set)
{
	ck_assert_int_eq(parse("alloc,file=out"), 0);
	ck_assert_str_eq(options.path, "out");
	ck_assert_uint_eq(options.wanted.flags, 0);
	ck_assert_uint_eq(options.wanted.interval, 512 << 10);
	ck_assert_uint_eq(options.wanted.depth, 64);
	ck_assert_uint_eq(options.wanted.memory, 64 << 20);
	ck_assert_uint_eq(options.wanted.n_globs, 0);
	ck_assert_uint_eq(options.sites, 0);
}
END_TEST

START_TEST(every_option_is_parsed)
{
	ck_assert_int_eq(parse("depth=3,alloc,memory=2G,exact,n=7,age=9,"
			       "classes=a.b.*:int[]:C,file=/d/%p-%%.txt"), 0);
	ck_assert_str_eq(options.path, "/d/4294967295-%.txt");
	ck_assert_uint_eq(options.wanted.flags, WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE);
	ck_assert_uint_eq(options.wanted.depth, 3);
	ck_assert_uint_eq(options.wanted.age, 9);
	ck_assert_uint_eq(options.wanted.memory, (size_t)2 << 30);
	ck_assert_uint_eq(options.sites, 7);
	ck_assert_uint_eq(options.wanted.n_globs, 3);
	ck_assert_str_eq(options.wanted.globs[0], "a.b.*");
	ck_assert_str_eq(options.wanted.globs[1], "int[]");
	ck_assert_str_eq(options.wanted.globs[2], "C");
	ck_assert_int_eq(parse("alloc,file=f,interval=2147483647,memory=4294967296"), 0);
	ck_assert_uint_eq(options.wanted.interval, INT32_MAX);
	ck_assert_uint_eq(options.wanted.memory, (size_t)4 << 30);
	ck_assert_int_eq(parse("alloc,live,interval=64K,file=f"), 0);
	ck_assert_uint_eq(options.wanted.flags, WIRE_ALLOC_LIVE);
	ck_assert_uint_eq(options.wanted.interval, 65536);
	ck_assert_uint_eq(options.wanted.n_globs, 0);
}
END_TEST

static const struct {
	const char *text, *what;
} wrong[] = {
	{ NULL, "options" },
	{ "", "options" },
	{ "alloc", "options" },
	{ "file=x", "options" },
	{ "alloc,", "" },
	{ "alloc,,file=x", "" },
	{ "alloc,file=", "file=" },
	{ "alloc,file=d/", "file=d/" },
	{ "alloc,file=%q", "file=%q" },
	{ "alloc,file=%", "file=%" },
	{ "alloc,file", "file" },
	{ "alloc,file=a,file=b", "file=b" },
	{ "alloc=1,file=x", "alloc=1" },
	{ "alloc,file=x,foo", "foo" },
	{ "alloc,file=x,liv", "liv" },
	{ "alloc,file=x,lives", "lives" },
	{ "alloc,file=x,live=1", "live=1" },
	{ "alloc,file=x,interval=0", "interval=0" },
	{ "alloc,file=x,interval=", "interval=" },
	{ "alloc,file=x,interval=-1", "interval=-1" },
	{ "alloc,file=x,interval=1kb", "interval=1kb" },
	{ "alloc,file=x,interval=2g", "interval=2g" },
	{ "alloc,file=x,interval=2147483648", "interval=2147483648" },
	{ "alloc,file=x,memory=17179869184g", "memory=17179869184g" },
	{ "alloc,file=x,interval=99999999999999999999", "interval=99999999999999999999" },
	{ "alloc,file=x,interval=1k,exact", "interval" },
	{ "alloc,file=x,depth=0", "depth=0" },
	{ "alloc,file=x,depth=65", "depth=65" },
	{ "alloc,file=x,depth=4294967297", "depth=4294967297" },
	{ "alloc,file=x,depth=1k", "depth=1k" },
	{ "alloc,file=x,age=1001", "age=1001" },
	{ "alloc,file=x,memory=1", "memory=1" },
	{ "alloc,file=x,memory=5g", "memory=5g" },
	{ "alloc,file=x,n=x", "n=x" },
	{ "alloc,file=x,classes=a", "classes" },
	{ "alloc,file=x,exact,classes=", "classes=" },
	{ "alloc,file=x,exact,classes=a::b", "classes=a" },
};

START_TEST(wrong_options_are_rejected)
{
	ck_assert_int_eq(parse(wrong[_i].text), -1);
	ck_assert_ptr_nonnull(why);
	ck_assert_str_eq(what, wrong[_i].what);
}
END_TEST

START_TEST(long_options_are_rejected)
{
	char text[AG_STARTUP_MAX + 2];

	memset(text, 'a', sizeof(text));
	memcpy(text, "alloc,file=", 11);
	text[AG_STARTUP_MAX + 1] = '\0';
	ck_assert_int_eq(parse(text), -1);
	ck_assert_str_eq(what, "options");
	text[AG_STARTUP_MAX] = '\0';
	ck_assert_int_eq(parse(text), -1); /* a path is not that long */
	text[4000] = '\0';
	ck_assert_int_eq(parse(text), 0);
	memset(text, ':', sizeof(text));
	memcpy(text, "alloc,exact,classes=", 20);
	for (int i = 20; i < AG_STARTUP_MAX; i += 2)
		text[i] = 'c';
	text[20 + 2 * WIRE_ALLOC_GLOBS_MAX + 1] = '\0';
	ck_assert_int_eq(parse(text), -1);
}
END_TEST

/* Files */

static char directory[] = "/tmp/check_startup.XXXXXX";
static char path[100];

static void in_directory(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/out", directory);
}

static void nothing_is_left(void)
{
	(void)unlink(path);
	ck_assert_int_eq(rmdir(directory), 0);
}

/* The old file remains until the new one is complete, and a link is not followed. */
START_TEST(file_takes_its_place)
{
	static struct ag_report_file file;
	static char chunk[7000];
	struct stat st;

	ck_assert_int_eq(symlink("/nonexistent", path), 0);
	ck_assert_int_eq(ag_report_file_open(&file, path, 1), 0);
	memset(chunk, 'x', sizeof(chunk));
	for (int i = 0; i < 10; i++)
		ag_report_file_put(&file, chunk, sizeof(chunk));
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(ag_report_file_finish(&file, path), 0);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(st.st_size, 70000);
	nothing_is_left();
}
END_TEST

START_TEST(failed_file_is_reported)
{
	static struct ag_report_file file, other;

	ck_assert_int_eq(ag_report_file_open(&file, directory, 1), -1);
	ck_assert_str_eq(ag_report_file_why(file.error), "it is a directory");
	ck_assert_int_eq(mkfifo(path, 0600), 0); /* refused like a device */
	ck_assert_int_eq(ag_report_file_open(&file, path, 1), -1);
	ck_assert_ptr_nonnull(strstr(ag_report_file_why(file.error), "not a regular file"));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(ag_report_file_open(&file, "/nonexistent/x", 1), -1);
	ck_assert_str_eq(ag_report_file_why(file.error), "no such directory");
	/* A temporary file of another process with this pid is not changed. */
	ck_assert_int_eq(ag_report_file_open(&other, path, 1), 0);
	ck_assert_int_eq(ag_report_file_open(&file, path, 1), 0);
	ck_assert_str_ne(file.temporary, other.temporary);
	ag_report_file_drop(&other);
	/* The report cannot replace a directory that was created meanwhile. */
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(ag_report_file_finish(&file, path), -1);
	ck_assert_int_eq(rmdir(path), 0);
	nothing_is_left();
}
END_TEST

START_TEST(no_space_is_left)
{
	static struct ag_report_file file;
	static char chunk[sizeof(file.data) + 1];

	ck_assert_int_eq(ag_report_file_open(&file, path, 1), 0);
	(void)close(file.fd);
	file.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(file.fd, 0);
	ag_report_file_put(&file, chunk, _i ? sizeof(chunk) : 1);
	ck_assert_int_eq(ag_report_file_finish(&file, path), -1);
	ck_assert_str_eq(ag_report_file_why(file.error), "no space left on device");
	ck_assert_int_ne(access(path, F_OK), 0);
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/startup/startup_options");
	TCase *tc = tcase_create("options"), *files = tcase_create("files");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, defaults_are_set);
	tcase_add_test(tc, every_option_is_parsed);
	tcase_add_loop_test(tc, wrong_options_are_rejected, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(tc, long_options_are_rejected);
	tcase_add_checked_fixture(files, in_directory, NULL);
	tcase_add_test(files, file_takes_its_place);
	tcase_add_test(files, failed_file_is_reported);
	tcase_add_loop_test(files, no_space_is_left, 0, 2);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, files);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
