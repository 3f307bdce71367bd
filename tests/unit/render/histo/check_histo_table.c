/* Histograms as tables and as JSON. */
#include <check.h>

#include "unit/support/sample_histo.h"
#include "render/histo/histo_json.h"
#include "render/histo/histo_table.h"

static char *printed(const struct histo *h, const struct histo_view *view)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	histo_print(h, view, out);
	(void)fclose(out);
	return text;
}

START_TEST(columns_depend_on_the_view)
{
	struct histo h = { 0 };
	struct histo_view view = { .n_rows = 2 };
	char *text;

	histo_add(&h, "a.B", "app", NULL, 12, 3456);
	histo_add(&h, "c.D[]", "bootstrap", NULL, 1, 16);
	histo_add(&h, "a.B", "other", NULL, 1, 8);
	view.total = histo_total(&h);
	text = printed(&h, &view);
	ck_assert_str_eq(text, "INSTANCES     BYTES  CLASS\n"
			       "       12  3.38 KiB  a.B\n"
			       "        1      16 B  c.D[]\n"
			       "       14  3.40 KiB  total of 3 classes\n"
			       "… 1 more class (-n 0 shows all)\n");
	free(text);

	view.n_rows = 3; /* now two rows have the same class name */
	text = printed(&h, &view);
	ck_assert_ptr_nonnull(strstr(text, "LOADER"));
	ck_assert_ptr_nonnull(strstr(text, "other"));
	free(text);

	view.by = HISTO_PACKAGE;
	view.is_diff = true;
	histo_group(&h, HISTO_PACKAGE);
	view.n_rows = h.n;
	text = printed(&h, &view);
	ck_assert_str_eq(text, "+INSTANCES    +BYTES  +CLASSES  PACKAGE\n"
			       "        13  3.38 KiB         2  a\n"
			       "         1      16 B         1  c\n"
			       "        14  3.40 KiB         3  total\n");
	free(text);
	histo_release(&h);
}
END_TEST

/* JSON also has the columns that a table omits; the rows have the same order. */
START_TEST(json_has_the_same_rows_and_a_complete_total)
{
	struct histo h = sample();
	const struct histo_total total = histo_total(&h);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *doc;

	histo_sort(&h, HISTO_BY_BYTES);
	doc = histo_json(&h, 2, &total, -1);
	json_add(&text, doc);
	json_free(doc);
	ck_assert_str_eq(buf_str(&text),
			 "{\"pid\":null,\"live\":false,\"classes\":["
			 "{\"class\":\"a.b.Two\",\"loader\":\"app\",\"module\":null,"
			 "\"instances\":2,\"bytes\":50},"
			 "{\"class\":\"a.c.Two[]\",\"loader\":\"bootstrap\",\"module\":\"m\","
			 "\"instances\":1,\"bytes\":50}],"
			 "\"total\":{\"classes\":5,\"instances\":14,\"bytes\":156}}");
	histo_release(&h);
}
END_TEST

/* A column of unknown loaders does not distinguish the rows. */
START_TEST(loader_column_is_omitted_if_loaders_are_unknown)
{
	struct histo h = { 0 };
	struct histo_view view = { .n_rows = 2 };
	char *text;

	histo_add(&h, "a.B", NULL, NULL, 1, 8);
	histo_add(&h, "a.B", "app", NULL, 1, 8);
	view.total = histo_total(&h);
	text = printed(&h, &view);
	ck_assert_ptr_null(strstr(text, "LOADER"));
	free(text);
	histo_release(&h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render/histo/histo_table");
	TCase *tc = tcase_create("render/histo/histo_table");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, columns_depend_on_the_view);
	tcase_add_test(tc, json_has_the_same_rows_and_a_complete_total);
	tcase_add_test(tc, loader_column_is_omitted_if_loaders_are_unknown);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
