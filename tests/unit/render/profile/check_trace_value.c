#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/profile/trace_value.h"
#include "unit/support/sample_trace.h"

static struct buf values;

static void setup(void)
{
	values = (struct buf)BUF_INIT;
}

static void teardown(void)
{
	buf_release(&values);
}

/* Returns the list as text, separated by commas, with "!" at the end if it is malformed. */
static char *show(struct wire_text rest)
{
	struct buf out = BUF_INIT;
	struct trace_value value = { 0 };
	int rc;

	while ((rc = trace_value_next(&rest, &value)) > 0) {
		buf_adds(&out, out.len > 0 ? ", " : "");
		trace_value_add(&out, &value);
	}
	buf_adds(&out, rc < 0 ? "!" : "");
	trace_value_release(&value);
	return buf_take(&out);
}

/* Compares the text of `values`, and empties `values`. */
static void printed(const char *expected)
{
	char *text = show(text_in(&values));

	ck_assert_str_eq(text, expected);
	free(text);
	buf_reset(&values);
}

static uint64_t bits_of(double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

static uint32_t float_bits_of(float real)
{
	uint32_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

START_TEST(primitive_values_are_printed_as_java_literals)
{
	put_narrow(&values, 'Z', 1);
	put_narrow(&values, 'Z', 0);
	put_narrow(&values, 'B', (uint32_t)-128);
	put_narrow(&values, 'S', (uint32_t)-32768);
	put_narrow(&values, 'I', 0x80000000);
	put_wide(&values, 'J', 1ull << 63);
	printed("true, false, -128, -32768, -2147483648, -9223372036854775808");
	put_narrow(&values, 'F', float_bits_of(0.1f));
	put_narrow(&values, 'F', float_bits_of(1e10f));
	put_wide(&values, 'D', bits_of(0.1));
	put_wide(&values, 'D', bits_of(-0.0));
	put_wide(&values, 'D', UINT64_C(0x7ff8000000000000));
	put_wide(&values, 'D', UINT64_C(0xfff0000000000000));
	printed("0.1, 1.0E10, 0.1, -0.0, NaN, -Infinity");
}
END_TEST

START_TEST(chars_are_quoted_and_escaped)
{
	put_narrow(&values, 'C', 'x');
	put_narrow(&values, 'C', '\'');
	put_narrow(&values, 'C', '"');
	put_narrow(&values, 'C', '\n');
	put_narrow(&values, 'C', '\\');
	put_narrow(&values, 'C', 0xe4);
	put_narrow(&values, 'C', 0xd83d);
	put_narrow(&values, 'C', 0);
	printed("'x', '\\'', '\"', '\\n', '\\\\', 'ä', '\\uD83D', '\\x00'");
}
END_TEST

START_TEST(strings_are_quoted_and_truncation_is_marked)
{
	put_string(&values, "tea", 3);
	put_string(&values, "", 0);
	put_string(&values, "long te", 80);
	put_string(&values, "", 80);
	put_string(&values, "a\n\t\r\"\\'\x1b[2J", 11);
	printed("\"tea\", \"\", \"long te\"..., \"\"..., \"a\\n\\t\\r\\\"\\\\'\\x1B[2J\"");
}
END_TEST

static void put_utf16(const uint16_t *chars, unsigned n, uint32_t length)
{
	buf_addc(&values, 's');
	put_number(&values, length, 4);
	put_number(&values, n, 2);
	for (unsigned i = 0; i < n; i++)
		put_number(&values, chars[i], 2);
}

/* A lone surrogate is replaced, except where the string is truncated within a pair. */
START_TEST(lone_surrogates_are_replaced)
{
	static const uint16_t pair[] = { 0xd83d, 0xde00, 'x' }, lone[] = { 0xde00, 0xd83d, 'x' };

	put_utf16(pair, 3, 3);
	put_utf16(pair, 1, 3);
	put_utf16(pair, 1, 1);
	put_utf16(lone, 3, 3);
	printed("\"\xf0\x9f\x98\x80x\", \"\"..., \"\xef\xbf\xbd\", \"\xef\xbf\xbd\xef\xbf\xbdx\"");
}
END_TEST

START_TEST(objects_enums_and_exceptions_are_printed)
{
	buf_addc(&values, 'N');
	buf_addc(&values, 'b');
	put_narrow(&values, 'I', 12);
	put_class(&values, 'e', "La/b/Tea;");
	put_string(&values, "GREEN", 5);
	put_class(&values, 'e', "La/b/Tea;");
	buf_addc(&values, 'N');
	put_class(&values, 't', "Ljava/io/IOException;");
	put_string(&values, "no\nmore", 7);
	put_class(&values, 't', "Ljava/io/IOException;");
	put_string(&values, "no", 7);
	put_class(&values, 't', "Ljava/lang/Error;");
	buf_addc(&values, 'N');
	put_object(&values, "La/b/C$D;", 0x1a2b);
	put_object(&values, "[I", 0xffffffff);
	printed("null, 12, GREEN, a.b.Tea, java.io.IOException: no\\nmore, "
		"java.io.IOException: no..., java.lang.Error, a.b.C$D@1a2b, int[]@ffffffff");
}
END_TEST

START_TEST(arrays_are_printed_with_their_length)
{
	put_array(&values, "[I", 3, 3);
	for (unsigned i = 1; i <= 3; i++)
		put_narrow(&values, 'I', i);
	put_array(&values, "[I", 10, 2);
	for (unsigned i = 1; i <= 2; i++)
		put_narrow(&values, 'I', i);
	put_array(&values, "[Ljava/lang/Object;", 3, 3);
	put_string(&values, "tea", 3);
	buf_addc(&values, 'N');
	put_object(&values, "[I", 1);
	put_array(&values, "[J", 0, 0);
	put_array(&values, "[J", 2000000000, 0);
	buf_addc(&values, 'N');
	printed("[1, 2, 3], [1, 2, ... 10 in all], [\"tea\", null, int[]@1], [], "
		"[... 2000000000 in all], null");
}
END_TEST

START_TEST(missing_values_are_marked)
{
	put_narrow(&values, 'I', 1);
	buf_addc(&values, '-');
	printed("1, ...");
	put_array(&values, "[I", 3, 3);
	put_narrow(&values, 'I', 1);
	buf_addc(&values, '-');
	printed("[1, ... 3 in all]");
}
END_TEST

START_TEST(malformed_values_are_refused)
{
	buf_addc(&values, 'x');
	printed("!");
	put_string(&values, "tea", 2); /* more chars than the length */
	printed("!");
	put_object(&values, "a/b/C", 1);
	printed("!");
	buf_adds(&values, "bN");
	printed("!");
	put_class(&values, 't', "LC;");
	put_narrow(&values, 'I', 1); /* an int where the message is expected */
	printed("!");
	put_array(&values, "[I", 1, 2);
	printed("!");
	put_array(&values, "[[I", 1, 1);
	put_array(&values, "[I", 0, 0); /* a nested array */
	printed("!");
}
END_TEST

/* The text of a cut list differs from that of the complete list, and is not longer. */
START_TEST(values_cut_at_every_byte_are_incomplete)
{
	struct wire_text all;
	char *complete;

	put_narrow(&values, 'I', 12);
	put_wide(&values, 'J', 12);
	put_string(&values, "tea", 9);
	buf_addc(&values, 'b');
	put_narrow(&values, 'C', 'x');
	put_class(&values, 'e', "La/b/Tea;");
	put_string(&values, "GREEN", 5);
	put_class(&values, 't', "LE;");
	buf_addc(&values, 'N');
	put_array(&values, "[Ljava/lang/Object;", 3, 2);
	put_string(&values, "tea", 3);
	put_object(&values, "[I", 1);
	all = text_in(&values);
	complete = show(all);
	ck_assert_str_eq(complete, "12, 12, \"tea\"..., 'x', GREEN, E, "
				"[\"tea\", int[]@1, ... 3 in all]");
	for (size_t len = 0; len < all.len; len++) {
		/* An exact copy: ASan detects a read past its end. */
		char *copy = memcpy(xmalloc(len > 0 ? len : 1), all.data, len), *text;

		text = show((struct wire_text){ copy, len });
		ck_assert_uint_lt(strlen(text), strlen(complete) + 1);
		ck_assert_str_ne(text, complete);
		free(text);
		free(copy);
	}
	free(complete);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/profile/trace_value");
	TCase *c = tcase_create("render/profile/trace_value");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, primitive_values_are_printed_as_java_literals);
	tcase_add_test(c, chars_are_quoted_and_escaped);
	tcase_add_test(c, strings_are_quoted_and_truncation_is_marked);
	tcase_add_test(c, lone_surrogates_are_replaced);
	tcase_add_test(c, objects_enums_and_exceptions_are_printed);
	tcase_add_test(c, arrays_are_printed_with_their_length);
	tcase_add_test(c, missing_values_are_marked);
	tcase_add_test(c, malformed_values_are_refused);
	tcase_add_test(c, values_cut_at_every_byte_are_incomplete);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
