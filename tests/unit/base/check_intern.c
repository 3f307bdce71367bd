#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

START_TEST(same_for_the_same)
{
	struct intern in = { 0 };
	size_t len;

	ck_assert_uint_eq(intern_text(&in, "a"), 0);
	ck_assert_uint_eq(intern_text(&in, ""), 1);
	ck_assert_uint_eq(intern_text(&in, "a"), 0);
	ck_assert_uint_eq(intern_add(&in, "a", 1), 2); /* without its NUL */
	ck_assert_uint_eq(intern_add(&in, "\0b", 2), 3);
	ck_assert_uint_eq(intern_add(&in, "\0c", 2), 4);
	ck_assert_uint_eq(intern_add(&in, "\0b", 2), 3);
	ck_assert_str_eq(intern_get(&in, 0, NULL), "a");
	ck_assert_mem_eq(intern_get(&in, 4, &len), "\0c", 2);
	ck_assert_uint_eq(len, 2);
	intern_release(&in);
}
END_TEST

START_TEST(many)
{
	struct intern in = { 0 };
	char text[16];

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 100000; i++) {
			(void)snprintf(text, sizeof(text), "%u", i);
			ck_assert_uint_eq(intern_text(&in, text), i);
		}
	}
	ck_assert_uint_eq(in.n, 100000);
	intern_release(&in);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("intern");
	TCase *t = tcase_create("intern");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, same_for_the_same);
	tcase_add_test(t, many);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
