/* The JVM's own histogram, as JDK 8, 17 and 27 print it. */
#include <check.h>
#include <errno.h>

#include "base/xalloc.h"
#include "unit/support/data.h"
#include "unit/support/sample_histo.h"

static const struct {
	const char *file;
	int64_t classes, instances, bytes;
	const char *lambda, *module;
} reports[] = {
	{ "histo/class_histogram-8.txt", 330, 31566, 2871576, "Idle$$Lambda$1/250421012", NULL },
	{ "histo/class_histogram-17.txt", 308, 15597, 1797872,
	  "Idle$$Lambda$1/0x00007fc459000c08", "java.base" },
	{ "histo/class_histogram-27.txt", 354, 31291, 1327344,
	  "Idle$$Lambda/0x000000007c040800", "java.base" },
};

START_TEST(reports_of_jvms_are_parsed)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct histo h = { 0 };
	struct histo_total total;

	read_data(reports[_i].file, &text);
	ck_assert_int_eq(histo_parse_vm(&h, buf_str(&text), text.len), 0);
	total = histo_total(&h);
	ck_assert_int_eq(total.classes, reports[_i].classes);
	ck_assert_int_eq(total.instances, reports[_i].instances);
	ck_assert_int_eq(total.bytes, reports[_i].bytes);
	ck_assert_int_eq(find(&h, "Idle$Node")->instances, 1000);
	ck_assert_ptr_null(find(&h, "Idle$Node")->module);
	ck_assert_int_eq(find(&h, "Idle$Node[][]")->bytes, 24);
	ck_assert_int_eq(find(&h, reports[_i].lambda)->instances, 1);
	ck_assert_ptr_nonnull(find(&h, "byte[]"));
	if (reports[_i].module)
		ck_assert_str_eq(find(&h, "java.lang.String")->module, reports[_i].module);
	else
		ck_assert_ptr_null(find(&h, "java.lang.String")->module);
	histo_release(&h);
}
END_TEST

/*
 * Returns the next length at which to cut the report.  The first and last 3000 bytes are cut at
 * every byte, the rest at every 37th: its rows are alike, and each cut takes a complete parse.
 */
static size_t next_cut(size_t len, size_t end)
{
	return len < 3000 || len + 3000 > end ? len + 1 : len + 37;
}

/* A report that is cut before the end of its total is rejected. */
START_TEST(truncated_reports_are_rejected)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *total;
	size_t end;

	read_data("histo/class_histogram-17.txt", &text);
	total = strstr(buf_str(&text), "Total ");
	ck_assert_ptr_nonnull(total);
	end = (size_t)(total - text.data) + 20;
	for (size_t len = 0; len < end; len = next_cut(len, end)) {
		_cleanup_free_ char *exact = xmalloc(len); /* ASan detects reads past the end */
		struct histo h = { 0 };

		memcpy(exact, text.data, len);
		ck_assert_int_eq(histo_parse_vm(&h, exact, len), -EBADMSG);
		histo_release(&h);
	}
}
END_TEST

#define HEADING " num     #instances         #bytes  class name\n---------------\n"

static const char *const bad_reports[] = {
	"",
	"\n\n\n",
	"java.lang.SecurityException: no\n",
	HEADING,
	HEADING "   1:  2  3  a.B\n",
	HEADING "   1:  2  3  a.B\nTotal  2  4\n",
	HEADING "   1:  2  3  a.B\nTotal  1  3\n",
	HEADING "   1:  -2  3  a.B\nTotal  -2  3\n",
	HEADING "   1  2  3  a.B\nTotal  2  3\n",
	HEADING "   1:  2  3\nTotal  2  3\n",
	HEADING "   1:  2  3  \nTotal  2  3\n",
	HEADING "   1:  2  3  [a.B\nTotal  2  3\n",
	HEADING "   1:  2  3  [L;\nTotal  2  3\n",
	HEADING "   1:  99999999999999999999  3  a.B\nTotal  2  3\n",
	" num #instances #bytes class name\n   1:  2  3  a.B\nTotal  2  3\n",
};

START_TEST(invalid_reports_are_rejected)
{
	struct histo h = { 0 };

	ck_assert_int_eq(histo_parse_vm(&h, bad_reports[_i], strlen(bad_reports[_i])), -EBADMSG);
	histo_release(&h);
}
END_TEST

START_TEST(unusual_class_names_are_parsed)
{
	static const char text[] = HEADING
		"   1:  2  3  a (b) c (m@1)\n"
		"   2:  1  1  (x\n"
		"   3:  1  1  [Ljdk.internal.vm.FillerElement; (java.base@21)\n"
		"Total  4  5\n";
	struct histo h = { 0 };

	ck_assert_int_eq(histo_parse_vm(&h, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(rows(&h), "a (b) c:2/3 (x:1/1 jdk.internal.vm.FillerElement[]:1/1");
	ck_assert_str_eq(h.rows[0].module, "m");
	histo_release(&h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/histo/histo_vm");
	TCase *tc = tcase_create("model/histo/histo_vm");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, reports_of_jvms_are_parsed, 0, ARRAY_SIZE(reports));
	tcase_add_test(tc, truncated_reports_are_rejected);
	tcase_add_loop_test(tc, invalid_reports_are_rejected, 0, ARRAY_SIZE(bad_reports));
	tcase_add_test(tc, unusual_class_names_are_parsed);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
