/* Reading JSON in one pass: values, escapes, and truncated or malformed input. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/threads/json_scan.h"
#include "base/xalloc.h"

static const char document[] = "{ \"a\" : [ 1, \"2\", -3, 4.5, true, null, {\"x\":[]} ],\r\n"
			       "\t\"b\": \"x\\\"\\\\\\/\\n\\u00e4\\ud83d\\ude00\\ud800\",\"c\":{}}";

static struct json_scan scan_of(const char *text, size_t len)
{
	return (struct json_scan){ .rest = { text, text + len } };
}

START_TEST(values)
{
	struct json_scan s = scan_of(document, sizeof(document) - 1);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct strview key;

	ck_assert(json_scan_object(&s));
	ck_assert(json_scan_key(&s, &key) && strview_is(key, "a"));
	ck_assert(json_scan_array(&s));
	ck_assert(json_scan_item(&s));
	ck_assert_int_eq(json_scan_number(&s), 1);
	ck_assert(json_scan_item(&s));
	ck_assert_int_eq(json_scan_number(&s), 2);
	ck_assert(json_scan_item(&s));
	ck_assert_int_eq(json_scan_number(&s), -1);
	ck_assert(json_scan_item(&s));
	ck_assert_int_eq(json_scan_number(&s), -1);
	ck_assert(json_scan_item(&s));
	ck_assert(json_scan_true(&s));
	ck_assert(json_scan_item(&s));
	ck_assert(!json_scan_text(&s, &text)); /* and skips null */
	ck_assert(json_scan_item(&s));
	json_scan_skip(&s);
	ck_assert(!json_scan_item(&s));
	ck_assert(json_scan_key(&s, &key) && strview_is(key, "b"));
	ck_assert(json_scan_text(&s, &text));
	ck_assert_str_eq(buf_str(&text), "x\"\\/\n\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbd");
	ck_assert(json_scan_key(&s, &key) && strview_is(key, "c"));
	ck_assert(!json_scan_array(&s)); /* and skips the object */
	ck_assert(!json_scan_key(&s, &key));
	ck_assert(!s.bad);
}
END_TEST

START_TEST(cut_documents_are_bad)
{
	for (size_t len = 0; len < sizeof(document) - 1; len++) {
		char *cut = xcalloc(len + 1, 1);
		struct json_scan s = scan_of(cut, len);
		struct strview key;

		memcpy(cut, document, len);
		if (json_scan_object(&s)) {
			while (json_scan_key(&s, &key))
				json_scan_skip(&s);
		}
		ck_assert_msg(s.bad, "%zu", len);
		free(cut);
	}
}
END_TEST

START_TEST(malformed_documents_are_bad)
{
	static const char *const texts[] = { "{\"a\" 1}", "{a:1}", "{\"a\":]}",
					     "{\"a\":",	  "[",	   "]" };
	struct json_scan s = scan_of(texts[_i], strlen(texts[_i]));
	struct strview key;

	if (json_scan_object(&s)) {
		while (json_scan_key(&s, &key))
			json_scan_skip(&s);
	}
	ck_assert(s.bad);
}
END_TEST

/* A million nested arrays are skipped without recursion. */
START_TEST(deep_documents_are_skipped)
{
	const size_t n = 1000000;
	char *deep = xcalloc(2 * n + 1, 1);
	struct json_scan s = scan_of(deep, 2 * n);

	memset(deep, '[', n);
	memset(deep + n, ']', n);
	json_scan_skip(&s);
	ck_assert(!s.bad);
	ck_assert_ptr_eq(s.rest.at, s.rest.end);
	free(deep);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/threads/json_scan");
	TCase *tc = tcase_create("model/threads/json_scan");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, values);
	tcase_add_test(tc, cut_documents_are_bad);
	tcase_add_loop_test(tc, malformed_documents_are_bad, 0, 6);
	tcase_add_test(tc, deep_documents_are_skipped);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
