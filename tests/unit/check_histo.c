/* model/histo and the names of classes. */
#include <check.h>

#include "base/buf.h"
#include "histo_rows.h"

START_TEST(sorts)
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

START_TEST(groups)
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
	const char *glob, *kept;
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

START_TEST(filters)
{
	struct histo h = sample();

	histo_filter(&h, globs[_i].glob);
	ck_assert_str_eq(rows(&h), globs[_i].kept);
	histo_release(&h);
}
END_TEST

/* A glob that takes an exponential matcher for ever. */
START_TEST(filter_is_not_slow)
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

START_TEST(subtracts)
{
	struct histo now = sample(), base = { 0 };

	histo_add(&base, "a.b.Two", "app", NULL, 1, 20);
	histo_add(&base, "a.b.Two", "other", NULL, 1, 1); /* another class of that name */
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

/* The JVM's own report knows no loaders: then names alone must do. */
START_TEST(subtracts_without_loaders)
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

static const struct {
	const char *signature, *name; /* NULL: it is none */
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

START_TEST(java_names)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	int rc = histo_java_name(&out, names[_i].signature, strlen(names[_i].signature));

	if (!names[_i].name) {
		ck_assert_int_eq(rc, -1);
		return;
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_str_eq(buf_str(&out), names[_i].name);
	if (strchr(names[_i].name, '/') || !strpbrk(names[_i].name, ".[M"))
		return; /* no way back: hidden classes, primitive types */
	buf_reset(&out);
	histo_signature(&out, names[_i].name);
	ck_assert_str_eq(buf_str(&out), names[_i].signature);
}
END_TEST

START_TEST(names_are_bounded)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	char signature[300];

	memset(signature, '[', sizeof(signature));
	signature[255] = 'I';
	ck_assert_int_eq(histo_java_name(&out, signature, 256), 0);
	signature[255] = '[';
	signature[256] = 'I';
	ck_assert_int_eq(histo_java_name(&out, signature, 257), -1);
	ck_assert_int_eq(histo_java_name(&out, "La\0b;", 5), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("histo");
	TCase *tc = tcase_create("histo");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, sorts);
	tcase_add_test(tc, groups);
	tcase_add_loop_test(tc, filters, 0, ARRAY_SIZE(globs));
	tcase_add_test(tc, filter_is_not_slow);
	tcase_add_test(tc, subtracts);
	tcase_add_test(tc, subtracts_without_loaders);
	tcase_add_test(tc, sums_do_not_overflow);
	tcase_add_loop_test(tc, java_names, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, names_are_bounded);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
