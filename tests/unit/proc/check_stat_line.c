/* Lines of /proc/PID/stat: names contain anything, and lines may be cut. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "proc/stat_line.h"

#define REST " S 1 4711 4711 0 -1 4194304 1 2 3 4 250 50 6 7 20 0 43 0 123456 8192 100 0 1 2\n"

START_TEST(fields_are_found)
{
	struct stat_line line;

	ck_assert_int_eq(stat_line_parse("4711 (java)" REST, &line), 0);
	ck_assert_str_eq(line.name, "java");
	ck_assert_int_eq(line.state, 'S');
	ck_assert_double_eq(line.cpu_s, 300.0 / (double)sysconf(_SC_CLK_TCK));
	ck_assert_uint_eq(line.threads, 43);
	ck_assert_uint_eq(line.start_ticks, 123456);
	ck_assert_int_eq(line.resident, 100 * sysconf(_SC_PAGESIZE));
}
END_TEST

START_TEST(names_contain_anything)
{
	struct stat_line line;

	ck_assert_int_eq(stat_line_parse("1 () R 1 ((\n)" REST, &line), 0);
	ck_assert_str_eq(line.name, ") R 1 ((\n");
	ck_assert_int_eq(stat_line_parse("1 (longer than the kernel permits)" REST, &line), 0);
	ck_assert_str_eq(line.name, "longer than the");
	ck_assert_int_eq(stat_line_parse("1 ()" REST, &line), 0);
	ck_assert_str_eq(line.name, "");
}
END_TEST

START_TEST(what_is_cut_or_malformed_is_rejected)
{
	static const char text[] = "4711 (java)" REST;
	size_t enough = (size_t)(strstr(text, " 100 0") - text) + 1;
	struct stat_line line;

	for (size_t len = 0; len < enough; len++) {
		_cleanup_free_ char *cut = xstrndup(text, len);

		ck_assert_msg(stat_line_parse(cut, &line) == -EBADMSG, "%zu bytes", len);
	}
	ck_assert_int_eq(stat_line_parse(") S 1 (", &line), -EBADMSG);
	ck_assert_int_eq(stat_line_parse("1 (a)S 1", &line), -EBADMSG);
}
END_TEST

START_TEST(size_beyond_all_memory_is_unknown)
{
	struct stat_line line;

	ck_assert_int_eq(stat_line_parse("1 (a) S 1 1 1 0 -1 1 1 2 3 4 5 5 6 7 20 0 1 0 1 1 "
					 "18446744073709551615 0", &line), 0);
	ck_assert_int_eq(line.resident, -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc/stat_line");
	TCase *tc = tcase_create("proc/stat_line");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, fields_are_found);
	tcase_add_test(tc, names_contain_anything);
	tcase_add_test(tc, what_is_cut_or_malformed_is_rejected);
	tcase_add_test(tc, size_beyond_all_memory_is_unknown);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
