#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "render/table.h"

enum { NAME, COUNT, SIZE, UP, TOOK, NOTE };

static const struct column columns[] = {
	[NAME] = { "NAME", "name", CELL_TEXT, false },
	[COUNT] = { "COUNT", "n", CELL_NUMBER, false },
	[SIZE] = { "SIZE", "size", CELL_BYTES, false },
	[UP] = { "UP", "uptime", CELL_SECONDS, false },
	[TOOK] = { "TOOK", "ns", CELL_NANOS, true },
	[NOTE] = { "NOTE", "note", CELL_TEXT, true },
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
	table_text(t, NAME, NULL); /* NULL keeps the former value */
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

static void assert_prints(const struct table *t, const char *expected)
{
	char *text = print(t);

	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(cells_are_aligned_by_type)
{
	struct table *t = sample();

	assert_prints(t, "NAME      COUNT      SIZE     UP\n"
		  "first         7  1.50 KiB  1m01s\n"
		  "a\\x0Ab  -123456         -      -\n");
	table_free(t);
}
END_TEST

START_TEST(table_without_rows_prints_its_headings)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	assert_prints(t, "NAME  COUNT  SIZE  UP\n");
	table_free(t);
	table_free(NULL);
}
END_TEST

START_TEST(columns_are_selected_by_name_or_key_in_any_case)
{
	struct err err = { .code = EXIT_DONE };
	struct table *t = sample();

	ck_assert_int_eq(table_select(t, "note,N,name", &err), 0);
	assert_prints(t, "NOTE    COUNT  NAME\n"
		  "x           7  first\n"
		  "-     -123456  a\\x0Ab\n");
	ck_assert_int_eq(table_select(t, "Uptime", &err), 0);
	assert_prints(t, "   UP\n1m01s\n    -\n");
	table_free(t);
}
END_TEST

START_TEST(unknown_column_is_reported_with_the_choices)
{
	static const char *const lists[] = { "nam", "", "name,", ",name", "names", "name n" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct err err = { .code = EXIT_DONE };
		struct table *t = sample();

		ck_assert_int_eq(table_select(t, lists[i], &err), -1);
		ck_assert_int_eq(err.code, EXIT_USAGE);
		ck_assert_ptr_nonnull(strstr(err.text, ": choose from name, n, size, "
						       "uptime, ns, note"));
		table_free(t);
	}
}
END_TEST

/* Checks how one cell of the column is printed. */
static void assert_cell(size_t column, int64_t value, const char *expected)
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
	assert_cell(SIZE, 0, "0 B");
	assert_cell(SIZE, 1023, "1023 B");
	assert_cell(SIZE, 1024, "1.00 KiB");
	assert_cell(SIZE, 10234, "9.99 KiB");
	assert_cell(SIZE, 10235, "10.0 KiB");
	assert_cell(SIZE, 102349, "100 KiB");
	assert_cell(SIZE, 1023590, "1000 KiB");
	assert_cell(SIZE, 1048575, "1.00 MiB");
	assert_cell(SIZE, 64 << 20, "64.0 MiB");
	assert_cell(SIZE, -2048, "-2.00 KiB");
	assert_cell(SIZE, INT64_MAX, "8.00 EiB");
	assert_cell(SIZE, INT64_MIN, "-8.00 EiB");
}
END_TEST

START_TEST(seconds_have_units)
{
	assert_cell(UP, 0, "0s");
	assert_cell(UP, 59, "59s");
	assert_cell(UP, 60, "1m00s");
	assert_cell(UP, 3599, "59m59s");
	assert_cell(UP, 3600, "1h00m");
	assert_cell(UP, 86399, "23h59m");
	assert_cell(UP, 93600, "1d02h");
	assert_cell(UP, 400 * 86400, "400d00h");
}
END_TEST

START_TEST(nanoseconds_have_units)
{
	assert_cell(TOOK, 0, "0 ns");
	assert_cell(TOOK, 999, "999 ns");
	assert_cell(TOOK, 1000, "1.00 us");
	assert_cell(TOOK, 1239, "1.23 us");
	assert_cell(TOOK, 9999, "9.99 us");
	assert_cell(TOOK, 10000, "10.0 us");
	assert_cell(TOOK, 999999, "999 us");
	assert_cell(TOOK, 1240000, "1.24 ms");
	assert_cell(TOOK, INT64_C(59999999999), "59.9 s");
	assert_cell(TOOK, INT64_MAX, "9223372036 s");
	assert_cell(TOOK, -1, "0 ns");
}
END_TEST

START_TEST(wide_characters_keep_columns_aligned)
{
	struct table *t;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return; /* without a UTF-8 locale, the C library has no widths */
	t = table_new(columns, 2);
	table_row(t);
	table_text(t, NAME, "日本");
	table_number(t, COUNT, 1);
	table_row(t);
	table_text(t, NAME, "abcde");
	table_number(t, COUNT, 2);
	assert_prints(t, "NAME   COUNT\n"
		  "日本       1\n"
		  "abcde      2\n");
	table_free(t);
}
END_TEST

START_TEST(very_long_cell_does_not_widen_the_table)
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

static void assert_json(const struct table *t, const char *expected)
{
	struct json *rows = table_json(t);
	struct buf text = BUF_INIT;

	json_add(&text, rows);
	ck_assert_str_eq(buf_str(&text), expected);
	buf_release(&text);
	json_free(rows);
}

/* JSON has no SHARE, the table has no SAMPLES.  profile() changes the order of the columns. */
enum { CLASS, LIVE, SAMPLES, STACK, SHARE };

static const struct column profile_columns[] = {
	[CLASS] = { "CLASS", "class", CELL_TEXT, true },
	[LIVE] = { "  LIVE", "live", CELL_COUNT, true },
	[SAMPLES] = { NULL, "samples", CELL_NUMBER, true },
	[STACK] = { "(nothing)", "stack", CELL_STACK, true },
	[SHARE] = { "%", NULL, CELL_PERCENT, true },
};

static struct table *profile(void)
{
	struct table *t = table_new(profile_columns, ARRAY_SIZE(profile_columns));

	table_row(t);
	table_text(t, CLASS, "int[]");
	table_unsigned(t, LIVE, 1204);
	table_number(t, SAMPLES, 3);
	table_real(t, SHARE, 99.96);
	table_frame(t, "a.b.C.m");
	table_frame(t, "a\nb");
	table_frame(t, "");
	table_row(t);
	table_text(t, CLASS, "a.b.C");
	table_real(t, SHARE, 0.04);
	table_show(t, LIVE);
	table_show(t, SHARE);
	table_show(t, CLASS);
	return t;
}

START_TEST(stacks_are_printed_below_their_rows)
{
	struct table *t = profile();
	struct buf json = BUF_INIT;

	assert_prints(t, "  LIVE      %  CLASS\n"
		  " 1,204  100.0  int[]\n"
		  "      at a.b.C.m\n"
		  "      at a\\x0Ab\n"
		  "      at \n"
		  "     -    0.0  a.b.C\n"
		  "      (nothing)\n");
	table_add_json(t, &json);
	ck_assert_str_eq(buf_str(&json),
			 "{\"schema\":1,\"class\":\"int[]\",\"live\":1204,\"samples\":3,"
			 "\"stack\":[\"a.b.C.m\",\"a\\nb\",\"\"]}\n"
			 "{\"schema\":1,"
			 "\"class\":\"a.b.C\",\"live\":null,\"samples\":null,\"stack\":[]}\n");
	buf_release(&json);
	table_free(t);
}
END_TEST

START_TEST(stacks_are_truncated_only_if_that_saves_lines)
{
	struct table *t = profile();
	char *all = print(t), *two;

	table_limit_stacks(t, 2); /* "1 more" takes a line, as the third frame does */
	two = print(t);
	ck_assert_str_eq(two, all);
	free(two);
	table_limit_stacks(t, 1);
	assert_prints(t, "  LIVE      %  CLASS\n"
		  " 1,204  100.0  int[]\n"
		  "      at a.b.C.m\n"
		  "      ... 2 more\n"
		  "     -    0.0  a.b.C\n"
		  "      (nothing)\n");
	free(all);
	table_free(t);
}
END_TEST

START_TEST(total_is_not_in_json)
{
	struct table *t = table_new(columns, 2);
	struct buf json = BUF_INIT;

	table_row(t);
	table_text(t, NAME, "a");
	table_number(t, COUNT, 7);
	table_total(t);
	table_text(t, NAME, "total");
	table_number(t, COUNT, 77);
	assert_prints(t, "NAME   COUNT\n"
		  "a          7\n"
		  "total     77\n");
	assert_json(t, "[{\"name\":\"a\",\"n\":7}]");
	table_add_json(t, &json);
	ck_assert_str_eq(buf_str(&json), "{\"schema\":1,\"name\":\"a\",\"n\":7}\n");
	buf_release(&json);
	table_free(t);
}
END_TEST

START_TEST(first_duplicate_is_found)
{
	static const char *const names[] = { "a", "b", "", "b", "a" };
	struct table *t = table_new(columns, 1);

	ck_assert_uint_eq(table_first_duplicate(t, NAME), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		table_row(t);
		table_text(t, NAME, names[i]);
		ck_assert_uint_eq(table_first_duplicate(t, NAME), i < 3 ? i + 1 : 3);
	}
	table_free(t);
}
END_TEST

/* Prints UINT64_MAX.  The table may print a lower limit, JSON prints the exact number. */
static void assert_largest(enum cell_type type, const char *expected)
{
	const struct column column = { "N", "n", type, false };
	struct table *t = table_new(&column, 1);
	char *text;

	table_row(t);
	table_unsigned(t, 0, UINT64_MAX);
	text = print(t);
	ck_assert_str_eq(strchr(text, '\n') + 1, expected);
	assert_json(t, "[{\"n\":18446744073709551615}]");
	free(text);
	table_free(t);
}

START_TEST(largest_number_of_each_type_is_printed)
{
	assert_largest(CELL_NUMBER, "18446744073709551615\n");
	assert_largest(CELL_COUNT, "18,446,744,073,709,551,615\n");
	assert_largest(CELL_BYTES, "8.00 EiB\n");
	assert_largest(CELL_NANOS, "9223372036 s\n");
}
END_TEST

START_TEST(output_is_one_table_or_one_json_document)
{
	struct table *t = table_new(columns, 2);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	table_row(t);
	table_text(t, NAME, "a");
	table_set(t, COUNT, (struct cell){ CELL_HAS_BOOL, .yes = true });
	table_output(t, "rows", 42, false, out);
	table_output(t, "rows", 42, true, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, "NAME  COUNT\n"
			       "a       yes\n"
			       "{\"schema\":1,"
			       "\"pid\":42,\"rows\":[{\"name\":\"a\",\"n\":true}]}\n");
	free(text);
	table_free(t);
}
END_TEST

START_TEST(many_rows_are_printed_completely)
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
	Suite *suite = suite_create("render/table");
	TCase *tc = tcase_create("render/table");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, cells_are_aligned_by_type);
	tcase_add_test(tc, table_without_rows_prints_its_headings);
	tcase_add_test(tc, columns_are_selected_by_name_or_key_in_any_case);
	tcase_add_test(tc, unknown_column_is_reported_with_the_choices);
	tcase_add_test(tc, bytes_have_units);
	tcase_add_test(tc, seconds_have_units);
	tcase_add_test(tc, nanoseconds_have_units);
	tcase_add_test(tc, wide_characters_keep_columns_aligned);
	tcase_add_test(tc, very_long_cell_does_not_widen_the_table);
	tcase_add_test(tc, json_has_every_column);
	tcase_add_test(tc, stacks_are_printed_below_their_rows);
	tcase_add_test(tc, stacks_are_truncated_only_if_that_saves_lines);
	tcase_add_test(tc, total_is_not_in_json);
	tcase_add_test(tc, first_duplicate_is_found);
	tcase_add_test(tc, largest_number_of_each_type_is_printed);
	tcase_add_test(tc, output_is_one_table_or_one_json_document);
	tcase_add_test(tc, many_rows_are_printed_completely);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
