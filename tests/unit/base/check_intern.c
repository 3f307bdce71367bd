#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "unit/support/same_hash.h"

START_TEST(equal_texts_have_the_same_number)
{
	struct intern in = { 0 };
	size_t len;

	ck_assert_uint_eq(intern_text(&in, "a"), 0);
	ck_assert_uint_eq(intern_text(&in, ""), 1);
	ck_assert_uint_eq(intern_text(&in, "a"), 0);
	ck_assert_uint_eq(intern_add(&in, "a", 1), 2); /* intern_text() adds "a" with its NUL */
	ck_assert_uint_eq(intern_add(&in, "\0b", 2), 3);
	ck_assert_uint_eq(intern_add(&in, "\0c", 2), 4);
	ck_assert_uint_eq(intern_add(&in, "\0b", 2), 3);
	ck_assert_str_eq(intern_get(&in, 0, NULL), "a");
	ck_assert_mem_eq(intern_get(&in, 4, &len), "\0c", 2);
	ck_assert_uint_eq(len, 2);
	intern_release(&in);
}
END_TEST

START_TEST(texts_are_found_without_being_added)
{
	struct intern in = { 0 };

	ck_assert_uint_eq(intern_find(&in, "a", 1), ID_MAP_NONE);
	ck_assert_uint_eq(intern_add(&in, "a", 1), 0);
	ck_assert_uint_eq(intern_find(&in, "a", 1), 0);
	ck_assert_uint_eq(intern_find(&in, "b", 1), ID_MAP_NONE);
	ck_assert_uint_eq(in.n, 1);
	intern_release(&in);
}
END_TEST

START_TEST(texts_with_the_same_hash_have_different_numbers)
{
	struct intern in = { 0 };

	ck_assert_uint_eq(hash_bytes(same_hash[0], 16), hash_bytes(same_hash[1], 16));
	for (int round = 0; round < 2; round++) {
		ck_assert_uint_eq(intern_add(&in, same_hash[0], 16), 0);
		ck_assert_uint_eq(intern_add(&in, same_hash[1], 16), 1);
	}
	ck_assert_uint_eq(intern_find(&in, same_hash[0], 16), 0);
	ck_assert_uint_eq(intern_find(&in, same_hash[1], 16), 1);
	ck_assert_mem_eq(intern_get(&in, 1, NULL), same_hash[1], 16);
	intern_release(&in);
}
END_TEST

START_TEST(numbers_count_distinct_texts)
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
	Suite *s = suite_create("base/intern");
	TCase *t = tcase_create("base/intern");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, equal_texts_have_the_same_number);
	tcase_add_test(t, texts_are_found_without_being_added);
	tcase_add_test(t, texts_with_the_same_hash_have_different_numbers);
	tcase_add_test(t, numbers_count_distinct_texts);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
