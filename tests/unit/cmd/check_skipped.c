/* The report of skipped classes and methods. */
#include <check.h>
#include <stdarg.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/skipped.h"

static struct buf notices = BUF_INIT; /* one line each */

void cmd_print_notice(const struct cmd *cmd, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	(void)cmd;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_adds(&notices, text);
	buf_addc(&notices, '\n');
}

static const struct verbose *const is_verbose = (const void *)&notices; /* not NULL; never read */

static struct skipped skipped;

static void setup(void)
{
	skipped = (struct skipped){ 0 };
	buf_reset(&notices);
}

static void teardown(void)
{
	skipped_release(&skipped);
	buf_release(&notices);
}

static void add(const char *reason, int n)
{
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *name = xasprintf("p.C%d", i);

		skipped_add(&skipped, reason, name, "app");
	}
}

static void assert_notices(const struct verbose *verbose, const char *expected)
{
	const struct ctx ctx = { .steps = verbose };

	skipped_print(&ctx, &skipped);
	ck_assert_str_eq(buf_str(&notices), expected);
}

START_TEST(empty_list_prints_nothing)
{
	assert_notices(NULL, "");
}
END_TEST

START_TEST(items_are_counted_by_reason)
{
	add("is native", 1);
	add("an array", 5);
	skipped_add(&skipped, "is native", "p.D", NULL);
	ck_assert_uint_eq(skipped.n, 2);
	ck_assert_uint_eq(skipped.n_items, 7);
	assert_notices(NULL, "skipped: native (2), an array (5); -v lists them\n");
}
END_TEST

START_TEST(single_item_is_named)
{
	skipped.what = "not dumped";
	add("is hidden", 1);
	assert_notices(NULL, "not dumped: hidden: p.C0\n");
}
END_TEST

START_TEST(reasons_after_the_fourth_are_counted)
{
	const char *const reasons[] = { "a", "b", "c", "d", "e", "f" };

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		add(reasons[i], 1);
	assert_notices(NULL, "skipped: a (1), b (1), c (1), d (1), and more for 2 other reasons; "
			     "-v lists them\n");
}
END_TEST

START_TEST(verbose_prints_every_name)
{
	_cleanup_buf_ struct buf expected = BUF_INIT;

	skipped.what = "not dumped";
	add("is hidden", 3000);
	for (int i = 0; i < 3000; i++)
		buf_addf(&expected, "not dumped: hidden: p.C%d\n", i);
	assert_notices(is_verbose, buf_str(&expected));
}
END_TEST

START_TEST(line_with_the_longest_names_fits_into_an_error)
{
	char name[1000], reason[1000];

	skipped.what = "shown as in the class file, not as in memory";
	memset(name, 'n', sizeof(name));
	memset(reason, 'w', sizeof(reason));
	name[sizeof(name) - 1] = reason[sizeof(reason) - 1] = '\0';
	for (int i = 0; i < 9; i++) {
		reason[0] = (char)('a' + i);
		skipped_add(&skipped, reason, name, NULL);
	}
	skipped_print(&(struct ctx){ 0 }, &skipped);
	ck_assert_ptr_nonnull(strstr(buf_str(&notices), "(1), and more for 5 other reasons"));
	ck_assert_uint_le(notices.len, sizeof(((struct err *)0)->text)); /* newline, but no NUL */
}
END_TEST

START_TEST(json_lists_every_class)
{
	struct json *json;
	const struct json *item;

	add("hidden", 6);
	skipped_add(&skipped, "an array", "int[]", NULL);
	json = skipped_json(&skipped);
	ck_assert_uint_eq(json_length(json), 7);
	item = json_at(json, 5);
	ck_assert_str_eq(json_get_text(item, "class"), "p.C5");
	ck_assert_str_eq(json_get_text(item, "loader"), "app");
	ck_assert_str_eq(json_get_text(item, "reason"), "hidden");
	ck_assert_str_eq(json_get_text(json_at(json, 6), "class"), "int[]");
	ck_assert_ptr_null(json_get_text(json_at(json, 6), "loader"));
	json_free(json);
}
END_TEST

START_TEST(single_reason_is_part_of_the_error)
{
	struct err err = { 0 };

	add("is native", 2);
	ck_assert_int_eq(skipped_refuse(&(struct ctx){ 0 }, &skipped, "none", &err), -1);
	ck_assert_int_eq(err.code, EXIT_ANSWER);
	ck_assert_str_eq(err.text, "none: native: p.C0, p.C1");
	ck_assert_uint_eq(notices.len, 0);
}
END_TEST

START_TEST(several_reasons_are_printed_before_the_error)
{
	struct err err = { 0 };

	add("is native", 1);
	add("is abstract", 1);
	ck_assert_int_eq(skipped_refuse(&(struct ctx){ 0 }, &skipped, "none", &err), -1);
	ck_assert_str_eq(err.text, "none");
	ck_assert_str_eq(buf_str(&notices), "skipped: native (1), abstract (1); -v lists them\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cmd/skipped");
	TCase *tc = tcase_create("cmd/skipped");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, empty_list_prints_nothing);
	tcase_add_test(tc, items_are_counted_by_reason);
	tcase_add_test(tc, single_item_is_named);
	tcase_add_test(tc, reasons_after_the_fourth_are_counted);
	tcase_add_test(tc, verbose_prints_every_name);
	tcase_add_test(tc, line_with_the_longest_names_fits_into_an_error);
	tcase_add_test(tc, json_lists_every_class);
	tcase_add_test(tc, single_reason_is_part_of_the_error);
	tcase_add_test(tc, several_reasons_are_printed_before_the_error);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
