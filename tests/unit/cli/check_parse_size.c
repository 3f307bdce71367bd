#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "cli/parse_size.h"

static const struct {
	const char *text;
	int rc;
	uint64_t bytes;
} sizes[] = {
	{ "0", 0, 0 }, { "4096", 0, 4096 }, { "512k", 0, 524288 }, { "512K", 0, 524288 },
	{ "64m", 0, 67108864 }, { "1M", 0, 1048576 }, { "1g", 0, 1073741824 },
	{ "2G", 0, 2147483648 }, { "007", 0, 7 }, { "18446744073709551615", 0, UINT64_MAX },
	{ "18446744073709551616", -ERANGE, 0 }, { "17179869184g", -ERANGE, 0 },
	{ "17179869183g", 0, UINT64_C(18446744072635809792) },
	{ "99999999999999999999999", -ERANGE, 0 },
	{ "", -EINVAL, 0 }, { "k", -EINVAL, 0 }, { "1.5m", -EINVAL, 0 }, { "1kb", -EINVAL, 0 },
	{ "1t", -EINVAL, 0 }, { "-1", -EINVAL, 0 }, { "+1", -EINVAL, 0 }, { " 1", -EINVAL, 0 },
	{ "1 k", -EINVAL, 0 }, { "0x10", -EINVAL, 0 },
};

START_TEST(sizes_with_and_without_unit_are_parsed)
{
	uint64_t bytes = 4711;

	ck_assert_msg(parse_size(sizes[_i].text, &bytes) == sizes[_i].rc, "'%s'", sizes[_i].text);
	ck_assert_uint_eq(bytes, sizes[_i].rc == 0 ? sizes[_i].bytes : 4711);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cli/parse_size");
	TCase *tc = tcase_create("cli/parse_size");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, sizes_with_and_without_unit_are_parsed, 0, (int)ARRAY_SIZE(sizes));
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
