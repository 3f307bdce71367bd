/* Type names: JVM signatures to Java names and back, and patterns for them. */
#include <check.h>
#include <string.h>

#include "model/class/type_name.h"

static const struct {
	const char *signature, *name; /* name NULL: the signature is not valid */
} names[] = {
	{ "Ljava/lang/String;", "java.lang.String" },
	{ "LMain;", "Main" },
	{ "La/b/C$D;", "a.b.C$D" },
	{ "[I", "int[]" },
	{ "[[Z", "boolean[][]" },
	{ "J", "long" },
	{ "[[La/b/C;", "a.b.C[][]" },
	{ "La/b/C$$Lambda.0x00007f5a1c000a00;", "a.b.C$$Lambda/0x00007f5a1c000a00" },
	{ "[LC$$Lambda.0x00007f5a1c000a00;", "C$$Lambda/0x00007f5a1c000a00[]" },
	{ "La/C$$Lambda$1/250421012;", "a.C$$Lambda$1/250421012" },
	{ "La/C$$Lambda$1/0x0000000840060840;", "a.C$$Lambda$1/0x0000000840060840" },
	{ "", NULL },
	{ "[", NULL },
	{ "L;", NULL },
	{ "L", NULL },
	{ "V", NULL },
	{ "II", NULL },
	{ "La/b", NULL },
	{ "La;b;", NULL },
	{ "java.lang.String", NULL },
};

START_TEST(signatures_become_java_names_and_back)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	int rc = type_name_java(&out, names[_i].signature, strlen(names[_i].signature));

	if (!names[_i].name) {
		ck_assert_int_eq(rc, -1);
		return;
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_str_eq(buf_str(&out), names[_i].name);
	if (strchr(names[_i].name, '/') || !strpbrk(names[_i].name, ".[M"))
		return; /* not reversible: hidden classes, primitive types */
	buf_reset(&out);
	type_name_signature(&out, names[_i].name);
	ck_assert_str_eq(buf_str(&out), names[_i].signature);
}
END_TEST

static const struct {
	const char *name, *word;
	bool matches;
} words[] = {
	{ "a.b.C", "a.b.C", true },
	{ "a.b.C", "a/b/C", true },
	{ "a.b.C", "a/*", true },
	{ "a.b.C", "C", false },
	{ "byte[]", "byte[]", true },
	{ "byte[]", "[B", true },
	{ "byte[][]", "[[B", true },
	{ "byte[]", "[[B", false },
	{ "byte[]", "[", false },
	{ "a.b.C[]", "[La.b.C;", true },
	{ "a.b.C[]", "[La/b/C;", true },
	{ "a.b.C", "[La.b.C;", false },
};

START_TEST(patterns_match_java_names_and_signatures)
{
	ck_assert_int_eq(type_name_matches(words[_i].name, words[_i].word), words[_i].matches);
}
END_TEST

START_TEST(overlong_signatures_and_nul_bytes_are_rejected)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	char signature[300];

	memset(signature, '[', sizeof(signature));
	signature[255] = 'I';
	ck_assert_int_eq(type_name_java(&out, signature, 256), 0);
	signature[255] = '[';
	signature[256] = 'I';
	ck_assert_int_eq(type_name_java(&out, signature, 257), -1);
	ck_assert_int_eq(type_name_java(&out, "La\0b;", 5), -1);
}
END_TEST

static const char *const classes[] = {
	"Main", "a.b.Cart", "a.b.Cart$Item", "a.b.Cart[]", "a.b.List", "a.b.List", "c.List",
	"c.Main", "d.Twin", "d.Twin", "e.C$$Lambda/0x00000001", "a.Lists$List", "f.Box$Item[]",
	"f.Box$Lid", "f.Can$Lid", "f.Jar$Cart", "g.Tub$Plug", "h.Plug", "i.Vat$Plug", "f.Box$1",
};

static const char *name_at(const void *list, size_t i)
{
	return ((const char *const *)list)[i];
}

static const char *resolve(const char *word, struct err *err)
{
	*err = (struct err){ .code = EXIT_DONE };
	return type_name_resolve(word, name_at, classes, ARRAY_SIZE(classes), err);
}

START_TEST(simple_name_of_one_class_stands_for_it)
{
	struct err err;

	ck_assert_str_eq(resolve("Cart", &err), "a.b.Cart");
	ck_assert_str_eq(resolve("Cart$Item", &err), "a.b.Cart$Item");
	ck_assert_str_eq(resolve("Cart[]", &err), "a.b.Cart[]");
	ck_assert_str_eq(resolve("Twin", &err), "d.Twin"); /* in two loaders */
	ck_assert_str_eq(resolve("Item", &err), "a.b.Cart$Item");
	ck_assert_str_eq(resolve("Item[]", &err), "f.Box$Item[]");
	ck_assert_str_eq(resolve("Plug", &err), "h.Plug"); /* preferred to nested classes */
	ck_assert_int_eq(err.code, EXIT_DONE);
}
END_TEST

START_TEST(filters_choose_globs_and_simple_names)
{
	static const struct {
		const char *name, *word;
		bool is_chosen;
	} cases[] = {
		{ "a.b.Cart", "a.b.Cart", true },   { "a.b.Cart", "*Cart", true },
		{ "a.b.Cart", "Cart", true },       { "a.b.Cart$Item", "Item", true },
		{ "a.b.Cart$Item", "Cart$Item", true }, { "a.b.Cart$Item", "Cart", false },
		{ "a.b.Cart[]", "Cart", false },    { "a.b.Cart", "b.Cart", false },
		{ "a.b.Cart", "cart", false },      { "a.b.Cart", "", false },
	};

	ck_assert(type_name_is_chosen(cases[_i].name, cases[_i].word) == cases[_i].is_chosen);
}
END_TEST

START_TEST(other_words_are_unchanged)
{
	static const char *const others[] = { "Main", "Box$Item", "cart", "a.b.Cart", "b.Cart",
					      "Car*", "C?rt", "", "[B", "[LCart;", "a/b/Cart" };
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_ptr_eq(resolve(others[i], &err), others[i]);
}
END_TEST

START_TEST(simple_name_of_several_classes_is_refused)
{
	struct err err;

	ck_assert_ptr_null(resolve("List", &err));
	ck_assert_int_eq(err.code, EXIT_TARGET);
	ck_assert_str_eq(err.text,
			 "several classes are called 'List': give one of a.b.List, c.List");
	ck_assert_ptr_null(resolve("Lid", &err));
	ck_assert_str_eq(err.text,
			 "several classes are called 'Lid': give one of f.Box$Lid, f.Can$Lid");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/class/type_name");
	TCase *tc = tcase_create("model/class/type_name");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, signatures_become_java_names_and_back, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tc, patterns_match_java_names_and_signatures, 0, ARRAY_SIZE(words));
	tcase_add_test(tc, simple_name_of_one_class_stands_for_it);
	tcase_add_test(tc, other_words_are_unchanged);
	tcase_add_test(tc, simple_name_of_several_classes_is_refused);
	tcase_add_loop_test(tc, filters_choose_globs_and_simple_names, 0, 10);
	tcase_add_test(tc, overlong_signatures_and_nul_bytes_are_rejected);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
