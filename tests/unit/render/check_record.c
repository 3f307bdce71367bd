#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "render/record.h"

enum { NAME, ID, USED, MAX, GAP_1, UPTIME, SHARE, SPACES, HIDDEN, BUSY, GAP_2, END, N };

/* clang-format off */
static const struct field fields[N] = {
	[NAME]   = { "Name",   NULL,        "name",   CELL_TEXT },
	[ID]     = { "Name",   "number %",  "id",     CELL_NUMBER },
	[USED]   = { "Memory", "% used",    "used",   CELL_BYTES },
	[MAX]    = { "Memory", "at most %", "max",    CELL_BYTES },
	[GAP_1]  = { "",       NULL,        NULL,     CELL_TEXT },
	[UPTIME] = { "Up",     NULL,        "uptime", CELL_SECONDS },
	[SHARE]  = { "Up",     "% % busy",  "share",  CELL_REAL },
	[SPACES] = { "Spaces", NULL,        "spaces", CELL_ITEMS },
	[HIDDEN] = { NULL,     NULL,        "hidden", CELL_NUMBER },
	[BUSY]   = { "Busy",   NULL,        "busy",   CELL_BOOL },
	[GAP_2]  = { "",       NULL,        NULL,     CELL_TEXT },
	[END]    = { "End",    NULL,        NULL,     CELL_TEXT },
};
enum { SPACE_NAME, SPACE_USED, SPACE_SECRET, N_SPACE };
static const struct field space[N_SPACE] = {
	[SPACE_NAME]   = { "", "%:",     "name",   CELL_TEXT },
	[SPACE_USED]   = { "", "% used", "used",   CELL_BYTES },
	[SPACE_SECRET] = { NULL, NULL,   "secret", CELL_NUMBER },
};
/* clang-format on */

static const char *printed(const struct record *s)
{
	static char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	record_print(s, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static void check_json(const struct record *s, const char *expected)
{
	struct json *doc = record_json(s);
	char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(out);
	json_print(doc, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, expected);
	json_free(doc);
}

static void add_space(struct record *s, const char *name, int64_t used)
{
	struct record *item = record_item(s, SPACES, space, N_SPACE);

	record_text(item, SPACE_NAME, name);
	record_number(item, SPACE_USED, used);
	record_number(item, SPACE_SECRET, 1);
}

START_TEST(fields_with_one_label_share_a_line)
{
	struct record *s = record_new(fields, N);

	record_text(s, NAME, "a");
	record_number(s, ID, -3);
	record_number(s, USED, 1536);
	record_number(s, MAX, 64 << 20);
	record_real(s, UPTIME, 90.5);
	record_real(s, SHARE, 12.345);
	add_space(s, "eden", 512);
	add_space(s, "old", 2048);
	record_number(s, HIDDEN, 7);
	record_bool(s, BUSY, true);
	record_text(s, END, "now");
	ck_assert_str_eq(printed(s), "Name:    a, number -3\n"
				     "Memory:  1.50 KiB used, at most 64.0 MiB\n"
				     "\n"
				     "Up:      1m30s, 12.35 % busy\n"
				     "Spaces:  eden: 512 B used\n"
				     "         old: 2.00 KiB used\n"
				     "Busy:    yes\n"
				     "\n"
				     "End:     now\n");
	check_json(s, "{\"schema\":1,"
		      "\"name\":\"a\",\"id\":-3,\"used\":1536,\"max\":67108864,\"uptime\":90.5,"
		      "\"share\":12.345,\"spaces\":[{\"name\":\"eden\",\"used\":512,\"secret\":1},"
		      "{\"name\":\"old\",\"used\":2048,\"secret\":1}],\"hidden\":7,"
		      "\"busy\":true}\n");
	record_free(s);
}
END_TEST

START_TEST(unset_fields_are_omitted_from_text_and_null_in_json)
{
	struct record *s = record_new(fields, N);

	ck_assert_str_eq(printed(s), "");
	record_text(s, NAME, NULL);
	record_number(s, MAX, 1);
	record_items(s, SPACES);
	ck_assert_str_eq(printed(s), "Memory:  at most 1 B\n");
	record_text(s, END, "x");
	ck_assert_str_eq(printed(s), "Memory:  at most 1 B\n"
	"\n"
	"End:     x\n");
	check_json(s, "{\"schema\":1,"
		      "\"name\":null,\"id\":null,\"used\":null,\"max\":1,\"uptime\":null,"
		      "\"share\":null,\"spaces\":[],\"hidden\":null,\"busy\":null}\n");
	record_free(s);
	record_free(NULL);
}
END_TEST

START_TEST(control_characters_in_texts_are_escaped)
{
	struct record *s = record_new(fields, N);

	record_text(s, NAME, "first");
	record_text(s, NAME, "%s\n\x1b[2J\xff");
	ck_assert_str_eq(printed(s), "Name:  %s\\x0A\\x1B[2J\\xFF\n");
	record_free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/record");
	TCase *tc = tcase_create("render/record");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, fields_with_one_label_share_a_line);
	tcase_add_test(tc, unset_fields_are_omitted_from_text_and_null_in_json);
	tcase_add_test(tc, control_characters_in_texts_are_escaped);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
