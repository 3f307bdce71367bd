/* Texts of the agent: numbers, durations, and names of classes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

static const struct {
	const char *signature, *name;
} classes[] = {
	{ "[[I", "int[][]" },
	{ "[Z", "boolean[]" },
	{ "[B", "byte[]" },
	{ "[C", "char[]" },
	{ "[S", "short[]" },
	{ "[J", "long[]" },
	{ "[F", "float[]" },
	{ "[D", "double[]" },
	{ "La/b/C$D;", "a.b.C$D" },
	{ "[La/B;", "a.B[]" },
	{ "La/b/C$$Lambda.0x0000000027040c00;", "a.b.C$$Lambda/0x0000000027040c00" },
	{ "La/b/C$$Lambda$1/12345;", "a.b.C$$Lambda$1/12345" },
	{ "La/\n\t;", "a.??" },
	{ "", "?" },
	{ "Q", "?" },
	{ "[", "?[]" },
	{ "abc", "?" },
};

START_TEST(names_of_classes)
{
	char data[100];
	struct ag_text text = ag_text_init(data, sizeof(data));

	ag_text_class(&text, classes[_i].signature, 90);
	ck_assert_str_eq(data, classes[_i].name);
}
END_TEST

START_TEST(texts_are_cut)
{
	char data[6];
	struct ag_text text = ag_text_init(data, sizeof(data));

	ag_text_put(&text, "ab");
	ag_text_number(&text, UINT64_MAX);
	ck_assert_str_eq(data, "ab184");
	ck_assert_uint_eq(text.len, 5);
	text = ag_text_init(data, 1);
	ag_text_put(&text, "ab");
	ck_assert_str_eq(data, "");
	text = ag_text_init(data, sizeof(data));
	ag_text_seconds(&text, 1023999999);
	ck_assert_str_eq(data, "1.023");
	text = ag_text_init(data, sizeof(data));
	ag_text_name(&text, "a\033bcd", 3);
	ck_assert_str_eq(data, "a?b");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/util/text");
	TCase *c = tcase_create("text");
	SRunner *r;
	int failed;

	tcase_add_loop_test(c, names_of_classes, 0, sizeof(classes) / sizeof(classes[0]));
	tcase_add_test(c, texts_are_cut);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
