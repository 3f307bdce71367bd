#include <check.h>
#include <stdlib.h>

#include "base/id_map.h"

START_TEST(get_returns_the_number_of_an_id)
{
	struct id_map m = { 0 };

	ck_assert_uint_eq(id_map_get(&m, 0), ID_MAP_NONE);
	ck_assert_uint_eq(id_map_add(&m, 0, 5), 5);
	ck_assert_uint_eq(id_map_add(&m, UINT64_MAX, 6), 6);
	ck_assert_uint_eq(id_map_add(&m, 0, 7), 5); /* id 0 keeps its first number */
	ck_assert_uint_eq(id_map_get(&m, 0), 5);
	ck_assert_uint_eq(id_map_get(&m, UINT64_MAX), 6);
	ck_assert_uint_eq(id_map_get(&m, 1), ID_MAP_NONE);
	id_map_set(&m, 0, 8);
	ck_assert_uint_eq(id_map_get(&m, 0), 8);
	id_map_release(&m);
	ck_assert_uint_eq(id_map_get(&m, 0), ID_MAP_NONE);
}
END_TEST

/* 0: consecutive ids.  3: object addresses.  44: ids that differ only in their high bits. */
static const unsigned shifts[] = { 0, 3, 44 };

START_TEST(ids_with_any_shift_are_found)
{
	struct id_map m = { 0 };

	for (uint32_t i = 0; i < 100000; i++)
		ck_assert_uint_eq(id_map_add(&m, (uint64_t)i << shifts[_i], i), i);
	for (uint32_t i = 0; i < 100000; i++)
		ck_assert_uint_eq(id_map_get(&m, (uint64_t)i << shifts[_i]), i);
	ck_assert_uint_eq(id_map_get(&m, (uint64_t)100000 << shifts[_i]), ID_MAP_NONE);
	id_map_release(&m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base/id_map");
	TCase *t = tcase_create("base/id_map");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, get_returns_the_number_of_an_id);
	tcase_add_loop_test(t, ids_with_any_shift_are_found, 0, sizeof(shifts) / sizeof(shifts[0]));
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
