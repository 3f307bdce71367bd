/* Nothing is written outside the directory, whatever it contains and whatever name is given. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fileio/safe_dir.h"
#include "unit/support/shell.h"

static struct safe_dir d;
static struct err err;
static const char *reason;
static char *path; /* the directory that the tests write to */

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir in outside && echo mine >outside/file");
	path = xasprintf("%s/in", dir);
	err = (struct err){ .code = EXIT_DONE };
	reason = NULL;
	ck_assert_int_eq(safe_dir_open(&d, path, &err), 0);
}

/* Checks that no test changed a file outside the directory. */
static void teardown(void)
{
	safe_dir_close(&d);
	shell("test $(ls | wc -l) = 2 && test $(ls -A outside) = file && "
	      "grep -qx mine outside/file");
	shell("rm -rf in outside");
	ck_assert_int_eq(rmdir(dir), 0);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	free(path);
}

static int put(const char *name, const char *text)
{
	return safe_dir_write(&d, name, text, strlen(text), &reason, &err);
}

static char *component(const char *text, size_t len)
{
	struct buf name = BUF_INIT;

	safe_dir_add(&name, text, len, ".class");
	return buf_take(&name);
}

static const struct {
	const char *text, *expected;
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
	{ "\xc0\x80", "%C0%80.class" },           /* NUL in modified UTF-8 */
	{ "\xed\xa0\x81", "%ED%A0%81.class" },    /* half a surrogate pair */
	{ "\xe2\x80\xae", "%E2%80%AE.class" },    /* RIGHT-TO-LEFT OVERRIDE */
};

START_TEST(unsafe_bytes_of_components_are_escaped)
{
	_cleanup_free_ char *got = component(components[_i].text, strlen(components[_i].text));

	ck_assert_str_eq(got, components[_i].expected);
	ck_assert_int_eq(put(got, "x"), 0);
	shell("test $(ls -A in | wc -l) = 1");
}
END_TEST

START_TEST(nul_is_escaped)
{
	_cleanup_free_ char *got = component("a\0b", 3);

	ck_assert_str_eq(got, "a%00b.class");
}
END_TEST

/* Lengths around the limit are tried; no name ends within a character. */
START_TEST(long_components_are_truncated_between_characters)
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

/* Long components with the same beginning have different names. */
START_TEST(truncated_components_differ_in_their_hash)
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

/* Each write replaces the previous one and removes its hidden file. */
START_TEST(repeated_writes_leave_no_hidden_files)
{
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(put("a/C", i % 2 ? "odd" : "even"), 0);
		ck_assert_int_eq(put("b", "x"), 0);
	}
	shell("cd in && grep -qx odd a/C && test $(find . | wc -l) = 4");
}
END_TEST

START_TEST(folders_are_created)
{
	ck_assert_int_eq(put("a/b/C.class", "one"), 0);
	ck_assert_int_eq(put("a/b/D.class", "two"), 0);
	ck_assert_int_eq(put("E.class", ""), 0);
	shell("cd in && test $(cat a/b/C.class) = one && test $(cat a/b/D.class) = two &&"
	      "test -e E.class && test ! -s E.class && test $(find . | wc -l) = 6");
}
END_TEST

START_TEST(replacement_is_a_new_file_with_the_old_mode)
{
	shell("mkdir in/a && echo a longer one >in/a/C && ln in/a/C in/other && chmod 640 in/a/C");
	ck_assert_int_eq(put("a/C", "short"), 0);
	shell("cd in && test $(cat a/C) = short && test $(stat -c %%a a/C) = 640 &&"
	      "grep -qx 'a longer one' other && test $(ls -A a | wc -l) = 1");
}
END_TEST

static const struct {
	const char *before; /* shell command */
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

START_TEST(hostile_names_and_links_are_refused)
{
	shell("%s", attacks[_i].before);
	ck_assert_int_eq(put(attacks[_i].name, "theirs"), 1);
	ck_assert_ptr_nonnull(reason);
	ck_assert_int_eq(err.code, EXIT_DONE);
	shell("! grep -rq theirs in");
	ck_assert_int_eq(put("other/file", "theirs"), 0); /* other names still work */
}
END_TEST

START_TEST(deep_names_are_refused)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	for (int i = 0; i < 1000; i++)
		safe_dir_add(&name, "a", 1, "");
	ck_assert_int_eq(put(buf_str(&name), "x"), 1);
}
END_TEST

/* No file can be created in /proc. */
START_TEST(unwritable_directory_is_an_error)
{
	struct safe_dir proc;

	ck_assert_int_eq(safe_dir_open(&proc, "/proc/self", &err), 0);
	ck_assert_int_eq(safe_dir_write(&proc, "new", "x", 1, &reason, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	safe_dir_close(&proc);
}
END_TEST

START_TEST(directory_is_created_and_removed_if_unused)
{
	_cleanup_free_ char *new = xasprintf("%s/in/new", dir);
	struct safe_dir other;

	ck_assert_int_eq(safe_dir_open(&other, new, &err), 0);
	shell("test -d in/new");
	safe_dir_close(&other); /* removes the directory, because it is empty */
	shell("test ! -e in/new");
	ck_assert_int_eq(safe_dir_open(&other, new, &err), 0);
	ck_assert_int_eq(safe_dir_write(&other, "a/b", "x", 1, &reason, &err), 0);
	safe_dir_close(&other);
	shell("test -e in/new/a/b");
}
END_TEST

START_TEST(path_that_is_not_a_directory_is_refused)
{
	_cleanup_free_ char *file = xasprintf("%s/outside/file", dir);
	_cleanup_free_ char *deep = xasprintf("%s/no/such", dir);
	struct safe_dir other;

	ck_assert_int_eq(safe_dir_open(&other, file, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	err = (struct err){ .code = EXIT_DONE };
	ck_assert_int_eq(safe_dir_open(&other, deep, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
}
END_TEST

/* The link is the last component of the path, or an earlier one. */
START_TEST(link_of_another_user_is_refused)
{
	static const char *const paths[] = {
		"link", "link/", "link/new", "ours/new", "new/../link",
	};
	_cleanup_free_ char *full = xasprintf("%s/in/%s", dir, paths[_i]);
	struct safe_dir other;

	shell("mkdir in/new; ln -s ../outside in/link; chown -h 12345 in/link; ln -s link in/ours");
	ck_assert_int_eq(safe_dir_open(&other, full, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_msg(strstr(err.text, "another user's symbolic link"), "%s", err.text);
	shell("test ! -e outside/new");
}
END_TEST

START_TEST(own_link_is_followed)
{
	_cleanup_free_ char *link = xasprintf("%s/in/link", dir);
	struct safe_dir other;

	shell("mkdir in/real; ln -s real in/link");
	ck_assert_msg(safe_dir_open(&other, link, &err) == 0, "%s", err.text);
	ck_assert_int_eq(safe_dir_write(&other, "file", "x", 1, &reason, &err), 0);
	safe_dir_close(&other);
	shell("test -e in/real/file");
}
END_TEST

START_TEST(paths_are_joined)
{
	const struct safe_dir here = { .path = "." }, there = { .path = "x/y" };
	const struct safe_dir root = { .path = "/" };
	_cleanup_free_ char *a = safe_dir_path(&here, "p/C.class");
	_cleanup_free_ char *b = safe_dir_path(&there, "p/C.class");
	_cleanup_free_ char *c = safe_dir_path(&root, "p/C.class");

	ck_assert_str_eq(a, "p/C.class");
	ck_assert_str_eq(b, "x/y/p/C.class");
	ck_assert_str_eq(c, "/p/C.class");
}
END_TEST

START_TEST(case_sensitive_directory_is_recognised)
{
	ck_assert(!safe_dir_folds_case(&d));
	shell("test $(ls -A in | wc -l) = 0");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fileio/safe_dir");
	TCase *tc = tcase_create("fileio/safe_dir");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, unsafe_bytes_of_components_are_escaped, 0, ARRAY_SIZE(components));
	tcase_add_test(tc, nul_is_escaped);
	tcase_add_loop_test(tc, long_components_are_truncated_between_characters, 0, 2);
	tcase_add_test(tc, truncated_components_differ_in_their_hash);
	tcase_add_test(tc, folders_are_created);
	tcase_add_test(tc, repeated_writes_leave_no_hidden_files);
	tcase_add_test(tc, replacement_is_a_new_file_with_the_old_mode);
	tcase_add_loop_test(tc, hostile_names_and_links_are_refused, 0, ARRAY_SIZE(attacks));
	tcase_add_test(tc, deep_names_are_refused);
	tcase_add_test(tc, unwritable_directory_is_an_error);
	tcase_add_test(tc, directory_is_created_and_removed_if_unused);
	tcase_add_test(tc, path_that_is_not_a_directory_is_refused);
	tcase_add_test(tc, own_link_is_followed);
	if (geteuid() == 0)
		tcase_add_loop_test(tc, link_of_another_user_is_refused, 0, 5);
	else
		puts("SKIP: tests with two users need root");
	tcase_add_test(tc, paths_are_joined);
	tcase_add_test(tc, case_sensitive_directory_is_recognised);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
