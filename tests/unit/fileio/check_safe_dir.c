/* base/outdir: whatever a name is, and whatever lies in the directory, nothing leaves it. */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/outdir.h"
#include "shell.h"

static struct outdir d;
static struct err err;
static const char *why;
static char *path; /* of the directory that is written to */

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir in outside && echo mine >outside/file");
	path = xasprintf("%s/in", dir);
	err = (struct err){ EXIT_DONE, "" };
	why = NULL;
	ck_assert_int_eq(outdir_open(&d, path, &err), 0);
}

/* What lay outside is as it was, whatever the test did. */
static void teardown(void)
{
	outdir_close(&d);
	shell("test $(ls | wc -l) = 2 && test $(ls -A outside) = file && "
	      "grep -qx mine outside/file");
	shell("rm -rf in outside");
	ck_assert_int_eq(rmdir(dir), 0);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	free(path);
}

static int put(const char *name, const char *text)
{
	return outdir_write(&d, name, text, strlen(text), &why, &err);
}

static char *component(const char *text, size_t len)
{
	struct buf name = BUF_INIT;

	outdir_add(&name, text, len, ".class");
	return buf_take(&name);
}

static const struct {
	const char *text, *want;
} components[] = {
	{ "C", "C.class" },
	{ "C$D", "C$D.class" },
	{ "a b", "a b.class" },
	{ "\xc3\xa4", "\xc3\xa4.class" },
	{ "", "%.class" },
	{ ".", "%2E.class" },
	{ "..", "%2E..class" },
	{ ".hidden", "%2Ehidden.class" },
	{ "-rf", "%2Drf.class" },
	{ "a-b.c", "a-b.c.class" },
	{ "a/b", "a%2Fb.class" },
	{ "../x", "%2E.%2Fx.class" },
	{ "a\\b", "a%5Cb.class" },
	{ "100%", "100%25.class" },
	{ "%2E", "%252E.class" },
	{ "a\nb\x7f\x1b", "a%0Ab%7F%1B.class" },
	{ "\xc0\x80", "%C0%80.class" },           /* modified UTF-8's NUL */
	{ "\xed\xa0\x81", "%ED%A0%81.class" },    /* half a surrogate pair */
	{ "\xe2\x80\xae", "%E2%80%AE.class" },    /* RIGHT-TO-LEFT OVERRIDE */
};

START_TEST(makes_safe_components)
{
	_cleanup_free_ char *got = component(components[_i].text, strlen(components[_i].text));

	ck_assert_str_eq(got, components[_i].want);
	ck_assert_int_eq(put(got, "x"), 0);
	shell("test $(ls -A in | wc -l) = 1");
}
END_TEST

START_TEST(knows_a_nul)
{
	_cleanup_free_ char *got = component("a\0b", 3);

	ck_assert_str_eq(got, "a%00b.class");
}
END_TEST

/* Of each length around the limit; in the middle of a character nothing is cut. */
START_TEST(cuts_long_components)
{
	_cleanup_free_ char *before = NULL;

	for (size_t n = 60; n < 200; n++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		char *got;

		for (size_t i = 0; i < n; i++)
			buf_adds(&text, _i ? "\n" : "\xc3\xa4");
		got = component(text.data, text.len);
		ck_assert_uint_le(strlen(got), NAME_MAX);
		ck_assert(before == NULL || strcmp(before, got) != 0);
		ck_assert_int_eq(put(got, "x"), 0);
		for (const char *at = got; *at; at++)
			ck_assert((uint8_t)*at != 0xc3 || (uint8_t)at[1] == 0xa4);
		free(before);
		before = got;
	}
}
END_TEST

/* With the same beginning they are still told apart. */
START_TEST(tells_long_components_apart)
{
	char text[1000];
	_cleanup_free_ char *a = NULL, *b = NULL;

	memset(text, 'x', sizeof(text));
	a = component(text, sizeof(text));
	text[sizeof(text) - 1] = 'y';
	b = component(text, sizeof(text));
	ck_assert_uint_eq(strlen(a), strlen(b));
	ck_assert_str_ne(a, b);
}
END_TEST

/* One after the other, and nothing hidden remains. */
START_TEST(replaces_many)
{
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(put("a/C", i % 2 ? "odd" : "even"), 0);
		ck_assert_int_eq(put("b", "x"), 0);
	}
	shell("cd in && grep -qx odd a/C && test $(find . | wc -l) = 4");
}
END_TEST

START_TEST(writes_into_folders)
{
	ck_assert_int_eq(put("a/b/C.class", "one"), 0);
	ck_assert_int_eq(put("a/b/D.class", "two"), 0);
	ck_assert_int_eq(put("E.class", ""), 0);
	shell("cd in && test $(cat a/b/C.class) = one && test $(cat a/b/D.class) = two &&"
	      "test -e E.class && test ! -s E.class && test $(find . | wc -l) = 6");
}
END_TEST

START_TEST(replaces_files_whole)
{
	shell("mkdir in/a && echo a longer one >in/a/C && ln in/a/C in/other && chmod 640 in/a/C");
	ck_assert_int_eq(put("a/C", "short"), 0);
	shell("cd in && test $(cat a/C) = short && test $(stat -c %%a a/C) = 640 &&"
	      "grep -qx 'a longer one' other && test $(ls -A a | wc -l) = 1");
}
END_TEST

static const struct {
	const char *before; /* a shell's command */
	const char *name;
} attacks[] = {
	{ "ln -s ../outside in/a", "a/file" },
	{ "ln -s ../outside in/a", "a/b/c" },
	{ "mkdir in/a && ln -s ../../outside in/a/b", "a/b/file" },
	{ "ln -s ../outside/file in/a", "a" },
	{ "ln -s ../outside/new in/a", "a" },
	{ "ln -s . in/a", "a/file" },
	{ "ln -s a in/a", "a/file" },
	{ "ln -s a in/a", "a" },
	{ "echo >in/a", "a/file" },
	{ "mkfifo in/a", "a" },
	{ "mkdir in/a", "a" },
	{ "mkfifo in/a", "a/file" },
	{ "true", "../outside/file" },
	{ "true", "../new" },
	{ "true", "a/../../outside/file" },
	{ "true", ".." },
	{ "true", "." },
	{ "true", "" },
	{ "true", "a/" },
	{ "true", "/etc/a" },
	{ "true", "a//b" },
	{ "true", "./a" },
};

START_TEST(refuses_attacks)
{
	shell("%s", attacks[_i].before);
	ck_assert_int_eq(put(attacks[_i].name, "theirs"), 1);
	ck_assert_ptr_nonnull(why);
	ck_assert_int_eq(err.code, EXIT_DONE);
	shell("! grep -rq theirs in");
	ck_assert_int_eq(put("other/file", "theirs"), 0); /* and goes on */
}
END_TEST

START_TEST(refuses_great_depth)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	for (int i = 0; i < 1000; i++)
		outdir_add(&name, "a", 1, "");
	ck_assert_int_eq(put(buf_str(&name), "x"), 1);
}
END_TEST

/* A place where nobody can make a file. */
START_TEST(ends_when_nothing_can_be_written)
{
	struct outdir proc;

	ck_assert_int_eq(outdir_open(&proc, "/proc/self", &err), 0);
	ck_assert_int_eq(outdir_write(&proc, "new", "x", 1, &why, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	outdir_close(&proc);
}
END_TEST

START_TEST(makes_the_directory)
{
	_cleanup_free_ char *new = xasprintf("%s/in/new", dir);
	struct outdir other;

	ck_assert_int_eq(outdir_open(&other, new, &err), 0);
	shell("test -d in/new");
	outdir_close(&other); /* nothing came of it */
	shell("test ! -e in/new");
	ck_assert_int_eq(outdir_open(&other, new, &err), 0);
	ck_assert_int_eq(outdir_write(&other, "a/b", "x", 1, &why, &err), 0);
	outdir_close(&other);
	shell("test -e in/new/a/b");
}
END_TEST

START_TEST(refuses_what_is_no_directory)
{
	_cleanup_free_ char *file = xasprintf("%s/outside/file", dir);
	_cleanup_free_ char *deep = xasprintf("%s/no/such", dir);
	struct outdir other;

	ck_assert_int_eq(outdir_open(&other, file, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	err = (struct err){ EXIT_DONE, "" };
	ck_assert_int_eq(outdir_open(&other, deep, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
}
END_TEST

START_TEST(tells_paths)
{
	const struct outdir here = { .path = "." }, there = { .path = "x/y" };
	const struct outdir root = { .path = "/" };
	_cleanup_free_ char *a = outdir_path(&here, "p/C.class");
	_cleanup_free_ char *b = outdir_path(&there, "p/C.class");
	_cleanup_free_ char *c = outdir_path(&root, "p/C.class");

	ck_assert_str_eq(a, "p/C.class");
	ck_assert_str_eq(b, "x/y/p/C.class");
	ck_assert_str_eq(c, "/p/C.class");
}
END_TEST

START_TEST(knows_that_case_counts)
{
	ck_assert(!outdir_folds_case(&d));
	shell("test $(ls -A in | wc -l) = 0");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outdir");
	TCase *tc = tcase_create("outdir");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, makes_safe_components, 0, ARRAY_SIZE(components));
	tcase_add_test(tc, knows_a_nul);
	tcase_add_loop_test(tc, cuts_long_components, 0, 2);
	tcase_add_test(tc, tells_long_components_apart);
	tcase_add_test(tc, writes_into_folders);
	tcase_add_test(tc, replaces_many);
	tcase_add_test(tc, replaces_files_whole);
	tcase_add_loop_test(tc, refuses_attacks, 0, ARRAY_SIZE(attacks));
	tcase_add_test(tc, refuses_great_depth);
	tcase_add_test(tc, ends_when_nothing_can_be_written);
	tcase_add_test(tc, makes_the_directory);
	tcase_add_test(tc, refuses_what_is_no_directory);
	tcase_add_test(tc, tells_paths);
	tcase_add_test(tc, knows_that_case_counts);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
