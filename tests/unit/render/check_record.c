#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "render/sheet.h"

enum { NAME, ID, USED, MAX, GAP_1, UPTIME, SHARE, SPACES, HIDDEN, BUSY, GAP_2, END, N };

/* clang-format off */
static const struct field fields[N] = {
	[NAME]   = { "Name",   NULL,        "name",   FIELD_TEXT },
	[ID]     = { "Name",   "number %",  "id",     FIELD_NUMBER },
	[USED]   = { "Memory", "% used",    "used",   FIELD_BYTES },
	[MAX]    = { "Memory", "at most %", "max",    FIELD_BYTES },
	[GAP_1]  = { "",       NULL,        NULL,     FIELD_TEXT },
	[UPTIME] = { "Up",     NULL,        "uptime", FIELD_SECONDS },
	[SHARE]  = { "Up",     "% % busy",  "share",  FIELD_REAL },
	[SPACES] = { "Spaces", NULL,        "spaces", FIELD_ITEMS },
	[HIDDEN] = { NULL,     NULL,        "hidden", FIELD_NUMBER },
	[BUSY]   = { "Busy",   NULL,        "busy",   FIELD_BOOL },
	[GAP_2]  = { "",       NULL,        NULL,     FIELD_TEXT },
	[END]    = { "End",    NULL,        NULL,     FIELD_TEXT },
};
enum { SPACE_NAME, SPACE_USED, SPACE_SECRET, N_SPACE };
static const struct field space[N_SPACE] = {
	[SPACE_NAME]   = { "", "%:",     "name",   FIELD_TEXT },
	[SPACE_USED]   = { "", "% used", "used",   FIELD_BYTES },
	[SPACE_SECRET] = { NULL, NULL,   "secret", FIELD_NUMBER },
};
/* clang-format on */

static const char *printed(const struct sheet *s)
{
	static char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	sheet_print(s, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static void check_json(const struct sheet *s, const char *expected)
{
	struct json *doc = sheet_json(s);
	char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	json_print(doc, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, expected);
	json_free(doc);
}

static void add_space(struct sheet *s, const char *name, int64_t used)
{
	struct sheet *item = sheet_item(s, SPACES, space, N_SPACE);

	sheet_text(item, SPACE_NAME, name);
	sheet_number(item, SPACE_USED, used);
	sheet_number(item, SPACE_SECRET, 1);
}

START_TEST(fields_of_one_label_share_a_line)
{
	struct sheet *s = sheet_new(fields, N);

	sheet_text(s, NAME, "a");
	sheet_number(s, ID, -3);
	sheet_number(s, USED, 1536);
	sheet_number(s, MAX, 64 << 20);
	sheet_real(s, UPTIME, 90.5);
	sheet_real(s, SHARE, 12.345);
	add_space(s, "eden", 512);
	add_space(s, "old", 2048);
	sheet_number(s, HIDDEN, 7);
	sheet_bool(s, BUSY, true);
	sheet_text(s, END, "now");
	ck_assert_str_eq(printed(s), "Name:    a, number -3\n"
				     "Memory:  1.5K used, at most 64M\n"
				     "\n"
				     "Up:      1m30s, 12.35 % busy\n"
				     "Spaces:  eden: 512 used\n"
				     "         old: 2.0K used\n"
				     "Busy:    yes\n"
				     "\n"
				     "End:     now\n");
	check_json(s, "{\"name\":\"a\",\"id\":-3,\"used\":1536,\"max\":67108864,\"uptime\":90.5,"
		      "\"share\":12.345,\"spaces\":[{\"name\":\"eden\",\"used\":512,\"secret\":1},"
		      "{\"name\":\"old\",\"used\":2048,\"secret\":1}],\"hidden\":7,"
		      "\"busy\":true}\n");
	sheet_free(s);
}
END_TEST

START_TEST(what_is_unknown_is_left_out)
{
	struct sheet *s = sheet_new(fields, N);

	ck_assert_str_eq(printed(s), "");
	sheet_text(s, NAME, NULL);
	sheet_number(s, MAX, 1);
	sheet_items(s, SPACES);
	ck_assert_str_eq(printed(s), "Memory:  at most 1\n");
	sheet_text(s, END, "x");
	ck_assert_str_eq(printed(s), "Memory:  at most 1\n\nEnd:     x\n");
	check_json(s, "{\"name\":null,\"id\":null,\"used\":null,\"max\":1,\"uptime\":null,"
		      "\"share\":null,\"spaces\":[],\"hidden\":null,\"busy\":null}\n");
	sheet_free(s);
	sheet_free(NULL);
}
END_TEST

START_TEST(texts_are_made_safe)
{
	struct sheet *s = sheet_new(fields, N);

	sheet_text(s, NAME, "first");
	sheet_text(s, NAME, "%s\n\x1b[2J\xff");
	ck_assert_str_eq(printed(s), "Name:  %s\\x0A\\x1B[2J\\xFF\n");
	sheet_free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sheet");
	TCase *tc = tcase_create("sheet");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, fields_of_one_label_share_a_line);
	tcase_add_test(tc, what_is_unknown_is_left_out);
	tcase_add_test(tc, texts_are_made_safe);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
