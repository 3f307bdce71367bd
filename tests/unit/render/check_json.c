#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/json.h"

/* Prints and frees the document.  The caller frees the returned text. */
static char *print_take(struct json *node)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	json_print(node, out);
	ck_assert_int_eq(fclose(out), 0);
	json_free(node);
	return text;
}

static void prints(struct json *node, const char *expected)
{
	char *text = print_take(node);

	ck_assert_str_eq(text, expected);
	free(text);
}

/* Parses the text, prints it, and compares the result. */
static void check_reparsed(const char *text, const char *expected)
{
	struct json *node = json_parse(text, strlen(text));

	ck_assert_msg(node != NULL, "refused: %s", text);
	prints(node, expected);
}

static void check_refused(const char *text, size_t len)
{
	struct json *node = json_parse(text, len);

	ck_assert_msg(node == NULL, "accepted: %.*s", (int)len, text);
}

START_TEST(every_type_is_printed)
{
	struct json *doc = json_object(), *list = json_array(), *inner = json_object();

	json_put_text(doc, "text", "a/b");
	json_put_text(doc, "none", NULL);
	json_put_number(doc, "min", INT64_MIN);
	json_put_real(doc, "real", 0.1);
	json_put_bool(doc, "yes", true);
	json_put_null(doc, "null");
	json_put_number(list, NULL, 1);
	json_put_bool(list, NULL, false);
	json_put_number(inner, "x", -1);
	json_put(list, NULL, inner);
	json_put(list, NULL, json_array());
	json_put(doc, "list", list);
	prints(doc, "{\"schema\":1,"
		    "\"text\":\"a/b\",\"none\":null,\"min\":-9223372036854775808,\"real\":0.1,"
		    "\"yes\":true,\"null\":null,\"list\":[1,false,{\"x\":-1},[]]}\n");
	prints(json_object(), "{\"schema\":1}\n");
}
END_TEST

START_TEST(reals_round_trip_and_infinity_becomes_null)
{
	struct json *doc = json_array();

	json_put_real(doc, NULL, 12.5);
	json_put_real(doc, NULL, 1e300);
	json_put_real(doc, NULL, 0.1 + 0.2);
	json_put_real(doc, NULL, 0.1 + 0.7);
	json_put_real(doc, NULL, INFINITY);
	json_put_real(doc, NULL, NAN);
	prints(doc, "[12.5,1e+300,0.30000000000000004,0.7999999999999999,null,null]\n");
}
END_TEST

START_TEST(strings_are_escaped)
{
	struct json *doc = json_array();

	json_put_text(doc, NULL, "\"\\/\b\f\n\r\t\x01\x1f\x7f");
	json_put_text(doc, NULL, "ä日😀");
	json_put_text_len(doc, NULL, "a\0b", 3);
	json_put_text_len(doc, NULL, "cut here", 3);
	prints(doc,
	       "[\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\",\"ä日😀\","
	       "\"a\\u0000b\",\"cut\"]\n");
}
END_TEST

START_TEST(invalid_utf8_is_replaced)
{
	struct json *doc = json_object();

	json_put_text(doc, "\xff", "a\xc3(\xed\xa0\x80 \xe6\x97");
	prints(doc, "{\"schema\":1,"
		    "\"\xef\xbf\xbd\":\"a\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		    " \xef\xbf\xbd\xef\xbf\xbd\"}\n");
}
END_TEST

START_TEST(characters_that_drive_a_terminal_are_escaped)
{
	struct json *list = json_array();
	_cleanup_buf_ struct buf text = BUF_INIT;

	json_put_text(list, NULL, "del \x7f csi \xc2\x9b" "31m rlo \xe2\x80\xae zwsp \xe2\x80\x8b");
	json_put_text(list, NULL, "\xef\xbb\xbf\xf3\xa0\x81\x81Größe 日本 😀");
	json_add(&text, list);
	ck_assert_str_eq(buf_str(&text),
			 "[\"del \\u007f csi \\u009b31m rlo \\u202e zwsp \\u200b\","
			 "\"\\ufeff\\udb40\\udc41Größe 日本 😀\"]");
	check_reparsed(buf_str(&text), "[\"del \\u007f csi \\u009b31m rlo \\u202e zwsp \\u200b\","
				       "\"\\ufeff\\udb40\\udc41Größe 日本 😀\"]\n");
	json_free(list);
}
END_TEST

static struct json *make_element(const void *arg, size_t i)
{
	struct json *list = json_array();

	json_put_text(list, NULL, arg);
	json_put_number(list, NULL, (int64_t)i);
	return list;
}

static void check_array(size_t n, const char *wanted)
{
	struct json *doc = json_object();
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	json_put_number(doc, "pid", 1);
	json_print_with_array(doc, "rows", make_element, "a\x1b", n, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, wanted);
	json_free(doc);
	free(text);
}

START_TEST(arrays_are_printed_element_by_element)
{
	check_array(0, "{\"schema\":1,\"pid\":1,\"rows\":[]}\n");
	check_array(2, "{\"schema\":1,\"pid\":1,\"rows\":[[\"a\\u001b\",0],[\"a\\u001b\",1]]}\n");
}
END_TEST

static char *print_with_text(const char *long_text, size_t n)
{
	struct json *doc = json_object();
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	json_put_number(doc, "code", 0);
	json_print_with_text(doc, "output", long_text, n, out);
	ck_assert_int_eq(fclose(out), 0);
	json_free(doc);
	return text;
}

START_TEST(long_texts_are_printed_in_pieces_as_in_one)
{
	static const char *const parts[] = { "\x1b", "a\"\\/\n", "\xff", "日",
					     "😀",   "\xe2\x80",  "" };
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		for (size_t n = 0; n < 10; n++) {
			struct json *doc = json_object();
			char *whole, *pieces;

			/* The part is at each position around the end of a piece. */
			buf_reset(&text);
			buf_addf(&text, "%*s%s|", (int)(65536 - n), "", parts[i]);
			json_put_number(doc, "code", 0);
			json_put_text_len(doc, "output", text.data, text.len);
			whole = print_take(doc);
			pieces = print_with_text(text.data, text.len);
			ck_assert_str_eq(pieces, whole);
			free(whole);
			free(pieces);
		}
	}
}
END_TEST

START_TEST(long_documents_are_printed_completely)
{
	struct json *doc = json_array();
	size_t len;
	char *text;

	for (int i = 0; i < 50000; i++)
		json_put_number(doc, NULL, 1000000 + i);
	text = print_take(doc);
	len = strlen(text);
	ck_assert_uint_eq(len, 50000 * 8 + 2);
	ck_assert_str_eq(text + len - 17, "1049998,1049999]\n");
	free(text);
}
END_TEST

START_TEST(printed_documents_are_parsed_back)
{
	check_reparsed("{}", "{\"schema\":1}\n");
	check_reparsed(" [ ] \n", "[]\n");
	check_reparsed("{\"a\":[1,-2,3.5,true,false,null,\"x\"],\"b\":{\"c\":{}}}",
		       "{\"schema\":1,\"a\":[1,-2,3.5,true,false,null,\"x\"],\"b\":{\"c\":{}}}\n");
	check_reparsed("\t{ \"a\" : 1 ,\r\n\"b\" : [ 2 , 3 ] }", "{\"schema\":1,"
								 "\"a\":1,\"b\":[2,3]}\n");
	check_reparsed("[9223372036854775807,-9223372036854775808,0,1e2]",
		       "[9223372036854775807,-9223372036854775808,0,1e2]\n");
	check_reparsed("[\"\\u0041\\u00e4\\u65e5\\ud83d\\ude00\\/\\b\\n\\u0000\"]",
		       "[\"Aä日😀/\\b\\n\\u0000\"]\n");
}
END_TEST

START_TEST(invalid_json_is_refused)
{
	static const char *const texts[] = {
		"", " ", "nul", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
		"{a:1}", "{1:2}", "[01]", "[.5]", "[+1]", "[-]", "[1e]", "[--1]", "[tru]",
		"[\"\\x\"]", "[\"\\u12g4\"]",
		"[1]]", "[1] x", "{]", "[}", "['a']", "[nan]", "[\"\xff\"]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_refused(texts[i], strlen(texts[i]));
	check_refused("[\0]", 3);
}
END_TEST

START_TEST(document_cut_at_any_length_is_refused)
{
	static const char text[] = "{\"pid\":42,\"live\":true,\"x\":null,\"classes\":[{\"class\":"
				   "\"a\\u00e4\\ud83d\\ude00\\n\",\"bytes\":-1.5e3,\"f\":false}]}";
	struct json *complete = json_parse(text, sizeof(text) - 1);

	ck_assert_ptr_nonnull(complete);
	json_free(complete);
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char *copy = malloc(len + 1); /* ASan detects a read past its end */

		memcpy(copy, text, len);
		check_refused(copy, len);
		free(copy);
	}
}
END_TEST

START_TEST(depth_is_limited)
{
	static char text[100000];
	struct json *deepest;

	memset(text, '[', sizeof(text));
	check_refused(text, sizeof(text));
	memset(text + 64, ']', 64);
	deepest = json_parse(text, 128);
	ck_assert_uint_eq(json_length(deepest), 1);
	json_free(deepest);
	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	check_refused(text, 130);
}
END_TEST

START_TEST(members_are_found_by_key_and_type)
{
	static const char text[] = "{\"n\":5,\"t\":\"x\",\"b\":true,\"a\":[10,20]}";
	struct json *doc = json_parse(text, sizeof(text) - 1);
	const struct json *a = json_get(doc, "a");

	ck_assert_int_eq(json_get_number(doc, "n", -1), 5);
	ck_assert_int_eq(json_get_number(doc, "t", -1), -1);
	ck_assert_int_eq(json_get_number(doc, "none", -1), -1);
	ck_assert_str_eq(json_get_text(doc, "t"), "x");
	ck_assert_ptr_null(json_get_text(doc, "n"));
	ck_assert(json_get_bool(doc, "b", false));
	ck_assert(json_get_bool(doc, "n", true));
	ck_assert_uint_eq(json_length(a), 2);
	ck_assert_uint_eq(json_length(doc), 0);
	ck_assert_ptr_nonnull(json_at(a, 1));
	ck_assert_ptr_null(json_at(a, 2));
	ck_assert_ptr_null(json_at(NULL, 0));
	ck_assert_ptr_null(json_get(a, "n"));
	ck_assert_ptr_null(json_get(NULL, "n"));
	json_free(doc);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render/json");
	TCase *tc = tcase_create("render/json");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, every_type_is_printed);
	tcase_add_test(tc, reals_round_trip_and_infinity_becomes_null);
	tcase_add_test(tc, strings_are_escaped);
	tcase_add_test(tc, invalid_utf8_is_replaced);
	tcase_add_test(tc, characters_that_drive_a_terminal_are_escaped);
	tcase_add_test(tc, arrays_are_printed_element_by_element);
	tcase_add_test(tc, long_texts_are_printed_in_pieces_as_in_one);
	tcase_add_test(tc, long_documents_are_printed_completely);
	tcase_add_test(tc, printed_documents_are_parsed_back);
	tcase_add_test(tc, invalid_json_is_refused);
	tcase_add_test(tc, document_cut_at_any_length_is_refused);
	tcase_add_test(tc, depth_is_limited);
	tcase_add_test(tc, members_are_found_by_key_and_type);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
