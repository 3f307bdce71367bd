#include <check.h>
#include <limits.h>
#include <stdlib.h>

#include "render/limit.h"

START_TEST(text_has_a_default_and_json_has_all_rows)
{
	ck_assert_uint_eq(limit_rows(0, false, LIMIT_ROWS, 100), 20);
	ck_assert_uint_eq(limit_rows(0, false, 5, 100), 5);
	ck_assert_uint_eq(limit_rows(0, true, LIMIT_ROWS, 100), 100);
	ck_assert_uint_eq(limit_rows(0, false, LIMIT_ROWS, 7), 7);
}
END_TEST

START_TEST(limit_applies_to_text_and_json)
{
	ck_assert_uint_eq(limit_rows(3, false, LIMIT_ROWS, 100), 3);
	ck_assert_uint_eq(limit_rows(3, true, LIMIT_ROWS, 100), 3);
	ck_assert_uint_eq(limit_rows(30, false, LIMIT_ROWS, 100), 30);
	ck_assert_uint_eq(limit_rows(UINT_MAX, false, LIMIT_ROWS, 100), 100);
	ck_assert_uint_eq(limit_rows(UINT_MAX, true, LIMIT_ROWS, 0), 0);
}
END_TEST

START_TEST(hidden_rows_are_counted)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	limit_add_more(&text, 0, "class", "classes");
	ck_assert_uint_eq(text.len, 0);
	limit_add_more(&text, 1, "class", "classes");
	limit_add_more(&text, 12834, "class", "classes");
	ck_assert_str_eq(buf_str(&text), "… 1 more class (-n 0 shows all)\n"
					 "… 12,834 more classes (-n 0 shows all)\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render/limit");
	TCase *tc = tcase_create("render/limit");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, text_has_a_default_and_json_has_all_rows);
	tcase_add_test(tc, limit_applies_to_text_and_json);
	tcase_add_test(tc, hidden_rows_are_counted);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
