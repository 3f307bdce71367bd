#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "render/table.h"

enum { NAME, COUNT, SIZE, UP, TOOK, NOTE };

static const struct column columns[] = {
	[NAME] = { "NAME", "name", COL_TEXT, false, "what it is called" },
	[COUNT] = { "COUNT", "n", COL_NUMBER, false, "how many" },
	[SIZE] = { "SIZE", "size", COL_BYTES, false, "how large" },
	[UP] = { "UP", "uptime", COL_SECONDS, false, "since when" },
	[TOOK] = { "TOOK", "ns", COL_NANOS, true, "how long" },
	[NOTE] = { "NOTE", "note", COL_TEXT, true, "more" },
};

static struct table *sample(void)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	table_row(t);
	table_text(t, NAME, "first");
	table_number(t, COUNT, 7);
	table_number(t, SIZE, 1536);
	table_real(t, UP, 61.9);
	table_text(t, NOTE, "x");
	table_row(t);
	table_text(t, NAME, "a\nb");
	table_number(t, COUNT, -123456);
	table_text(t, NAME, NULL); /* stays what it was */
	return t;
}

static char *print(const struct table *t)
{
	struct buf added = BUF_INIT;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	table_print(t, out);
	ck_assert_int_eq(fclose(out), 0);
	table_add(t, &added);
	ck_assert_str_eq(buf_str(&added), text);
	buf_release(&added);
	return text;
}

static void prints(const struct table *t, const char *expected)
{
	char *text = print(t);

	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(cells_are_aligned_by_type)
{
	struct table *t = sample();

	prints(t, "NAME      COUNT  SIZE     UP\n"
		  "first         7  1.5K  1m01s\n"
		  "a\\x0Ab  -123456     -      -\n");
	table_free(t);
}
END_TEST

START_TEST(a_table_without_rows_has_its_headings)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	prints(t, "NAME  COUNT  SIZE  UP\n");
	table_free(t);
	table_free(NULL);
}
END_TEST

START_TEST(columns_are_chosen_by_name_or_key_in_any_case)
{
	struct err err = { .code = EXIT_DONE };
	struct table *t = sample();

	ck_assert_int_eq(table_select(t, "note,N,name", &err), 0);
	prints(t, "NOTE    COUNT  NAME\n"
		  "x           7  first\n"
		  "-     -123456  a\\x0Ab\n");
	ck_assert_int_eq(table_select(t, "Uptime", &err), 0);
	prints(t, "   UP\n1m01s\n    -\n");
	table_free(t);
}
END_TEST

START_TEST(an_unknown_column_is_told)
{
	static const char *const lists[] = { "nam", "", "name,", ",name", "names", "name n" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct err err = { .code = EXIT_DONE };
		struct table *t = sample();

		ck_assert_int_eq(table_select(t, lists[i], &err), -1);
		ck_assert_int_eq(err.code, EXIT_USAGE);
		ck_assert_ptr_nonnull(strstr(err.text, "no column: there are name, n, size, "
						       "uptime, ns, note"));
		table_free(t);
	}
}
END_TEST

/* One cell of the column, as it is printed. */
static void one_cell(size_t column, int64_t value, const char *expected)
{
	struct err err = { .code = EXIT_DONE };
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	const char *cell;
	char *text;

	table_row(t);
	table_number(t, column, value);
	ck_assert_int_eq(table_select(t, columns[column].key, &err), 0);
	text = print(t);
	cell = strchr(text, '\n') + 1;
	cell += strspn(cell, " "); /* the heading may be wider */
	ck_assert_uint_eq(strcspn(cell, "\n"), strlen(expected));
	ck_assert_int_eq(strncmp(cell, expected, strlen(expected)), 0);
	free(text);
	table_free(t);
}

START_TEST(bytes_have_units)
{
	one_cell(SIZE, 0, "0");
	one_cell(SIZE, 1023, "1023");
	one_cell(SIZE, 1024, "1.0K");
	one_cell(SIZE, 10239, "9.9K");
	one_cell(SIZE, 10240, "10K");
	one_cell(SIZE, 1048575, "1023K");
	one_cell(SIZE, 64 << 20, "64M");
	one_cell(SIZE, -2048, "-2.0K");
	one_cell(SIZE, INT64_MAX, "7.9E");
	one_cell(SIZE, INT64_MIN, "-8.0E");
}
END_TEST

START_TEST(seconds_have_units)
{
	one_cell(UP, 0, "0s");
	one_cell(UP, 59, "59s");
	one_cell(UP, 60, "1m00s");
	one_cell(UP, 3599, "59m59s");
	one_cell(UP, 3600, "1h00m");
	one_cell(UP, 86399, "23h59m");
	one_cell(UP, 93600, "1d02h");
	one_cell(UP, 400 * 86400, "400d00h");
}
END_TEST

START_TEST(nanoseconds_have_units)
{
	one_cell(TOOK, 0, "0 ns");
	one_cell(TOOK, 999, "999 ns");
	one_cell(TOOK, 1000, "1.00 us");
	one_cell(TOOK, 1239, "1.23 us");
	one_cell(TOOK, 9999, "9.99 us");
	one_cell(TOOK, 10000, "10.0 us");
	one_cell(TOOK, 999999, "999 us");
	one_cell(TOOK, 1240000, "1.24 ms");
	one_cell(TOOK, INT64_C(59999999999), "59.9 s");
	one_cell(TOOK, INT64_MAX, "9223372036 s");
	one_cell(TOOK, -1, "0 ns");
}
END_TEST

START_TEST(wide_characters_keep_the_columns_straight)
{
	struct table *t;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return; /* without a UTF-8 locale the C library knows no widths */
	t = table_new(columns, 2);
	table_row(t);
	table_text(t, NAME, "日本");
	table_number(t, COUNT, 1);
	table_row(t);
	table_text(t, NAME, "abcde");
	table_number(t, COUNT, 2);
	prints(t, "NAME   COUNT\n"
		  "日本       1\n"
		  "abcde      2\n");
	table_free(t);
}
END_TEST

START_TEST(a_very_long_cell_does_not_widen_the_table)
{
	struct table *t = table_new(columns, 2);
	char name[2001];
	char *text;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	table_row(t);
	table_text(t, NAME, name);
	table_number(t, COUNT, 1);
	table_row(t);
	table_text(t, NAME, "short");
	table_number(t, COUNT, 2);
	text = print(t);
	ck_assert_ptr_nonnull(strstr(text, name));
	ck_assert_ptr_nonnull(strstr(text, "xxx      1\nshort"));
	ck_assert_uint_lt(strlen(strstr(text, "\nshort")), 600);
	free(text);
	table_free(t);
}
END_TEST

START_TEST(json_has_every_column)
{
	struct table *t = sample();
	struct json *rows = table_json(t);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	json_print(rows, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, "[{\"name\":\"first\",\"n\":7,\"size\":1536,\"uptime\":61.9,"
			       "\"ns\":null,\"note\":\"x\"},{\"name\":\"a\\nb\",\"n\":-123456,"
			       "\"size\":null,\"uptime\":null,\"ns\":null,\"note\":null}]\n");
	free(text);
	json_free(rows);
	table_free(t);
}
END_TEST

START_TEST(many_rows_are_printed_whole)
{
	struct table *t = table_new(columns, 2);
	char *text;
	size_t lines = 0;

	for (int i = 0; i < 30000; i++) {
		table_row(t);
		table_text(t, NAME, "org.example.Name");
		table_number(t, COUNT, i);
	}
	text = print(t);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	ck_assert_uint_eq(lines, 30001);
	ck_assert_ptr_nonnull(strstr(text, "\norg.example.Name  29999\n"));
	free(text);
	table_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("table");
	TCase *tc = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, cells_are_aligned_by_type);
	tcase_add_test(tc, a_table_without_rows_has_its_headings);
	tcase_add_test(tc, columns_are_chosen_by_name_or_key_in_any_case);
	tcase_add_test(tc, an_unknown_column_is_told);
	tcase_add_test(tc, bytes_have_units);
	tcase_add_test(tc, seconds_have_units);
	tcase_add_test(tc, nanoseconds_have_units);
	tcase_add_test(tc, wide_characters_keep_the_columns_straight);
	tcase_add_test(tc, a_very_long_cell_does_not_widen_the_table);
	tcase_add_test(tc, json_has_every_column);
	tcase_add_test(tc, many_rows_are_printed_whole);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
