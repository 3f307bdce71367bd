#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/methodpattern.h"

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

START_TEST(words_are_divided)
{
	struct methodpattern p;

	ck_assert_ptr_null(methodpattern_parse(&p, patterns[_i].word));
	ck_assert_str_eq(p.class, patterns[_i].class);
	ck_assert_str_eq(p.name, patterns[_i].name);
	ck_assert_pstr_eq(p.parameters, patterns[_i].parameters);
	methodpattern_release(&p);
}
END_TEST

START_TEST(what_is_none_is_refused)
{
	static const char *const words[] = { "", "m", ".m", "a.b.", "m()", "a.C.m(int", "a.C.m()x",
					     "a.C.m(", ".", "::", "#", "a.C.(int)" };
	struct methodpattern p;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		ck_assert_msg(methodpattern_parse(&p, words[i]) != NULL, "'%s'", words[i]);
		methodpattern_release(&p);
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

START_TEST(methods_are_meant_or_not)
{
	struct methodpattern p;

	ck_assert_ptr_null(methodpattern_parse(&p, methods[_i].word));
	ck_assert_msg(methodpattern_matches(&p, text(methods[_i].name),
					    text(methods[_i].descriptor)) == methods[_i].matches,
		      "%s: %s%s", methods[_i].word, methods[_i].name, methods[_i].descriptor);
	methodpattern_release(&p);
}
END_TEST

START_TEST(what_has_no_name_is_not_meant)
{
	struct methodpattern p;

	ck_assert_ptr_null(methodpattern_parse(&p, "*.*"));
	ck_assert(!methodpattern_matches(&p, (struct cf_text){ NULL, 0 }, text("()V")));
	ck_assert(!methodpattern_matches(&p, text("m"), (struct cf_text){ NULL, 0 }));
	methodpattern_release(&p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("methodpattern");
	TCase *tc = tcase_create("methodpattern");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, words_are_divided, 0, ARRAY_SIZE(patterns));
	tcase_add_test(tc, what_is_none_is_refused);
	tcase_add_loop_test(tc, methods_are_meant_or_not, 0, ARRAY_SIZE(methods));
	tcase_add_test(tc, what_has_no_name_is_not_meant);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
