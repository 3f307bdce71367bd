/* Histograms: order, groups, filters and differences. */
#include <check.h>

#include "base/buf.h"
#include "unit/support/sample_histo.h"

START_TEST(rows_are_sorted)
{
	struct histo h = sample();

	histo_sort(&h, HISTO_BY_BYTES);
	ck_assert_str_eq(rows(&h), "a.b.Two:2/50 a.c.Two[]:1/50 int[][]:3/30 "
				   "Main$$Lambda/0x00007f.1:1/16 a.b.One:7/10");
	histo_sort(&h, HISTO_BY_COUNT);
	ck_assert_str_eq(rows(&h), "a.b.One:7/10 int[][]:3/30 a.b.Two:2/50 "
				   "Main$$Lambda/0x00007f.1:1/16 a.c.Two[]:1/50");
	histo_sort(&h, HISTO_BY_NAME);
	ck_assert_str_eq(rows(&h), "Main$$Lambda/0x00007f.1:1/16 a.b.One:7/10 a.b.Two:2/50 "
				   "a.c.Two[]:1/50 int[][]:3/30");
	histo_release(&h);
}
END_TEST

START_TEST(rows_are_grouped_by_package_and_loader)
{
	struct histo h = sample();

	histo_group(&h, HISTO_PACKAGE);
	ck_assert_str_eq(rows(&h), "(default):1/16 (primitive arrays):3/30 a.b:9/60 a.c:1/50");
	ck_assert_int_eq(find(&h, "a.b")->classes, 2);
	ck_assert_int_eq(histo_total(&h).classes, 5);
	histo_release(&h);

	h = sample();
	histo_add(&h, "x.Y", NULL, NULL, 1, 1);
	histo_group(&h, HISTO_LOADER);
	ck_assert_str_eq(rows(&h), "(unknown):1/1 app:10/76 bootstrap:4/80");
	histo_release(&h);
}
END_TEST

static const struct {
	const char *glob, *matching;
} globs[] = {
	{ "*", "a.b.Two:2/50 a.b.One:7/10 a.c.Two[]:1/50 int[][]:3/30 "
	       "Main$$Lambda/0x00007f.1:1/16" },
	{ "a.b.*", "a.b.Two:2/50 a.b.One:7/10" },
	{ "*[]", "a.c.Two[]:1/50 int[][]:3/30" },
	{ "a.?.Two*", "a.b.Two:2/50 a.c.Two[]:1/50" },
	{ "*b*ne", "a.b.One:7/10" },
	{ "a.b.One", "a.b.One:7/10" },
	{ "a.b.On", "" },
	{ "a.b.One?", "" },
	{ "", "" },
};

START_TEST(glob_selects_rows)
{
	struct histo h = sample();

	histo_filter(&h, globs[_i].glob);
	ck_assert_str_eq(rows(&h), globs[_i].matching);
	histo_release(&h);
}
END_TEST

/* A backtracking matcher needs exponential time for this glob. */
START_TEST(glob_with_many_stars_is_fast)
{
	struct histo h = { 0 };
	char name[4096];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	histo_add(&h, name, NULL, NULL, 1, 1);
	histo_filter(&h, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b");
	ck_assert_uint_eq(h.n, 0);
	histo_release(&h);
}
END_TEST

START_TEST(base_is_subtracted_by_name_and_loader)
{
	struct histo now = sample(), base = { 0 };

	histo_add(&base, "a.b.Two", "app", NULL, 1, 20);
	histo_add(&base, "a.b.Two", "other", NULL, 1, 1); /* another class of the same name */
	histo_add(&base, "a.b.One", "app", NULL, 7, 10);  /* unchanged */
	histo_add(&base, "gone.G", "app", NULL, 4, 40);
	histo_subtract(&now, &base);
	histo_sort(&now, HISTO_BY_BYTES);
	ck_assert_str_eq(rows(&now), "a.c.Two[]:1/50 a.b.Two:1/30 int[][]:3/30 "
				     "Main$$Lambda/0x00007f.1:1/16 a.b.Two:-1/-1 gone.G:-4/-40");
	ck_assert_int_eq(histo_total(&now).classes, 5 - 4);
	ck_assert_int_eq(histo_total(&now).bytes, 156 - 71);
	histo_release(&now);
	histo_release(&base);
}
END_TEST

/* The JVM's own report has no loaders. */
START_TEST(base_without_loaders_is_subtracted_by_name)
{
	struct histo now = sample(), base = { 0 };

	histo_add(&base, "a.b.Two", NULL, NULL, 1, 20);
	histo_add(&base, "a.b.Two", NULL, NULL, 1, 30);
	histo_add(&base, "a.b.One", NULL, NULL, 6, 5);
	histo_subtract(&now, &base);
	ck_assert_ptr_null(find(&now, "a.b.Two"));
	ck_assert_int_eq(find(&now, "a.b.One")->bytes, 5);
	histo_release(&now);
	histo_release(&base);
}
END_TEST

START_TEST(sums_do_not_overflow)
{
	struct histo h = { 0 };

	histo_add(&h, "a", NULL, NULL, INT64_MAX, 1);
	histo_add(&h, "a", NULL, NULL, 2, 1);
	ck_assert_int_eq(histo_total(&h).instances, INT64_MAX);
	histo_group(&h, HISTO_PACKAGE);
	ck_assert_int_eq(h.rows[0].instances, INT64_MAX);
	ck_assert_int_eq(h.rows[0].bytes, 2);
	histo_release(&h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/histo/histo");
	TCase *tc = tcase_create("model/histo/histo");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, rows_are_sorted);
	tcase_add_test(tc, rows_are_grouped_by_package_and_loader);
	tcase_add_loop_test(tc, glob_selects_rows, 0, ARRAY_SIZE(globs));
	tcase_add_test(tc, glob_with_many_stars_is_fast);
	tcase_add_test(tc, base_is_subtracted_by_name_and_loader);
	tcase_add_test(tc, base_without_loaders_is_subtracted_by_name);
	tcase_add_test(tc, sums_do_not_overflow);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
