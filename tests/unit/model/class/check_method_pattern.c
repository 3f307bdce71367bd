/* Method patterns: parsing and matching. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/class/method_pattern.h"

static struct cf_text text(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

static const struct {
	const char *word, *class, *name, *parameters;
} patterns[] = {
	{ "a.b.C.save*", "a.b.C", "save*", NULL },
	{ "Shop.<init>", "Shop", "<init>", NULL },
	{ "*.Shop.place", "*.Shop", "place", NULL },
	{ "a/b/C.m", "a/b/C", "m", NULL },
	{ "a.b.C::m", "a.b.C", "m", NULL },
	{ "a.b.C#m", "a.b.C", "m", NULL },
	{ "a.C.m()", "a.C", "m", "" },
	{ "a.C.m(java.lang.String, int[])", "a.C", "m", "java.lang.String,int[]" },
	{ "a.C.m( int , a.B... )", "a.C", "m", "int,a.B[]" },
	{ "a.C.m(*)", "a.C", "m", "*" },
};

START_TEST(patterns_are_split_into_class_name_and_parameters)
{
	struct method_pattern p;

	ck_assert_ptr_null(method_pattern_parse(&p, patterns[_i].word));
	ck_assert_str_eq(p.class, patterns[_i].class);
	ck_assert_str_eq(p.name, patterns[_i].name);
	ck_assert_pstr_eq(p.parameters, patterns[_i].parameters);
	method_pattern_release(&p);
}
END_TEST

START_TEST(invalid_patterns_are_rejected)
{
	static const char *const words[] = { "", "m", ".m", "a.b.", "m()", "a.C.m(int", "a.C.m()x",
					     "a.C.m(", ".", "::", "#", "a.C.(int)" };
	struct method_pattern p;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		ck_assert_msg(method_pattern_parse(&p, words[i]) != NULL, "'%s'", words[i]);
		method_pattern_release(&p);
	}
}
END_TEST

static const struct {
	const char *word, *name, *descriptor;
	bool matches;
} methods[] = {
	{ "C.save*", "saveAll", "()V", true },
	{ "C.save", "saveAll", "()V", false },
	{ "C.m", "m", "(ILjava/lang/String;)V", true },
	{ "C.m(int,java.lang.String)", "m", "(ILjava/lang/String;)V", true },
	{ "C.m(int)", "m", "(ILjava/lang/String;)V", false },
	{ "C.m()", "m", "()I", true },
	{ "C.m()", "m", "(I)I", false },
	{ "C.m(int[],long[][])", "m", "([I[[J)V", true },
	{ "C.m(a.B$D)", "m", "(La/B$D;)V", true },
	{ "C.m(*, int)", "m", "(La/B;JI)V", true },
	{ "C.m(*, int)", "m", "(La/B;IJ)V", false },
	{ "C.*", "<init>", "()V", true },
	{ "C.*", "<clinit>", "()V", false },
	{ "C.<*", "<clinit>", "()V", false },
	{ "C.<c*", "<clinit>", "()V", true },
	{ "C.<clinit>", "<clinit>", "()V", true },
	{ "C.m", "m", "no descriptor", true },
};

START_TEST(patterns_match_methods)
{
	struct method_pattern p;

	ck_assert_ptr_null(method_pattern_parse(&p, methods[_i].word));
	ck_assert_msg(method_pattern_matches(&p, text(methods[_i].name),
					     text(methods[_i].descriptor)) == methods[_i].matches,
		      "%s: %s%s", methods[_i].word, methods[_i].name, methods[_i].descriptor);
	method_pattern_release(&p);
}
END_TEST

START_TEST(methods_without_name_or_descriptor_do_not_match)
{
	struct method_pattern p;

	ck_assert_ptr_null(method_pattern_parse(&p, "*.*"));
	ck_assert(!method_pattern_matches(&p, (struct cf_text){ NULL, 0 }, text("()V")));
	ck_assert(!method_pattern_matches(&p, text("m"), (struct cf_text){ NULL, 0 }));
	method_pattern_release(&p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/class/method_pattern");
	TCase *tc = tcase_create("model/class/method_pattern");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, patterns_are_split_into_class_name_and_parameters, 0,
			    ARRAY_SIZE(patterns));
	tcase_add_test(tc, invalid_patterns_are_rejected);
	tcase_add_loop_test(tc, patterns_match_methods, 0, ARRAY_SIZE(methods));
	tcase_add_test(tc, methods_without_name_or_descriptor_do_not_match);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
