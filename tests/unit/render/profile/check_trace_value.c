#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/trace_value.h"
#include "trace_made.h"

static struct buf values;

static void setup(void)
{
	values = (struct buf)BUF_INIT;
}

static void teardown(void)
{
	buf_release(&values);
}

/* All of the list as text, with commas between; at the end "!" if it makes no sense. */
static char *show(struct wire_text rest)
{
	struct buf out = BUF_INIT;
	struct tracevalue value = { 0 };
	int rc;

	while ((rc = tracevalue_next(&rest, &value)) > 0) {
		buf_adds(&out, out.len > 0 ? ", " : "");
		trace_value_add(&out, &value);
	}
	buf_adds(&out, rc < 0 ? "!" : "");
	tracevalue_release(&value);
	return buf_take(&out);
}

/* What stands in `values` now, which is empty then. */
static void shows(const char *expected)
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

START_TEST(primitives)
{
	put_narrow(&values, 'Z', 1);
	put_narrow(&values, 'Z', 0);
	put_narrow(&values, 'B', (uint32_t)-128);
	put_narrow(&values, 'S', (uint32_t)-32768);
	put_narrow(&values, 'I', 0x80000000);
	put_wide(&values, 'J', 1ull << 63);
	shows("true, false, -128, -32768, -2147483648, -9223372036854775808");
	put_narrow(&values, 'F', float_bits_of(0.1f));
	put_narrow(&values, 'F', float_bits_of(1e10f));
	put_wide(&values, 'D', bits_of(0.1));
	put_wide(&values, 'D', bits_of(-0.0));
	put_wide(&values, 'D', UINT64_C(0x7ff8000000000000));
	put_wide(&values, 'D', UINT64_C(0xfff0000000000000));
	shows("0.1, 1.0E10, 0.1, -0.0, NaN, -Infinity");
}
END_TEST

START_TEST(characters)
{
	put_narrow(&values, 'C', 'x');
	put_narrow(&values, 'C', '\'');
	put_narrow(&values, 'C', '"');
	put_narrow(&values, 'C', '\n');
	put_narrow(&values, 'C', '\\');
	put_narrow(&values, 'C', 0xe4);
	put_narrow(&values, 'C', 0xd83d);
	put_narrow(&values, 'C', 0);
	shows("'x', '\\'', '\"', '\\n', '\\\\', 'ä', '\\uD83D', '\\x00'");
}
END_TEST

START_TEST(strings)
{
	put_string(&values, "tea", 3);
	put_string(&values, "", 0);
	put_string(&values, "long te", 80);
	put_string(&values, "", 80);
	put_string(&values, "a\n\t\r\"\\'\x1b[2J", 11);
	shows("\"tea\", \"\", \"long te\"..., \"\"..., \"a\\n\\t\\r\\\"\\\\'\\x1B[2J\"");
}
END_TEST

static void put_chars(const uint16_t *chars, unsigned n, uint32_t length)
{
	buf_addc(&values, 's');
	put_number(&values, length, 4);
	put_number(&values, n, 2);
	for (unsigned i = 0; i < n; i++)
		put_number(&values, chars[i], 2);
}

/* Half of a pair is replaced, but where the text was cut in the middle of it. */
START_TEST(surrogates)
{
	static const uint16_t pair[] = { 0xd83d, 0xde00, 'x' }, lone[] = { 0xde00, 0xd83d, 'x' };

	put_chars(pair, 3, 3);
	put_chars(pair, 1, 3);
	put_chars(pair, 1, 1);
	put_chars(lone, 3, 3);
	shows("\"\xf0\x9f\x98\x80x\", \"\"..., \"\xef\xbf\xbd\", \"\xef\xbf\xbd\xef\xbf\xbdx\"");
}
END_TEST

START_TEST(objects)
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
	shows("null, 12, GREEN, a.b.Tea, java.io.IOException: no\\nmore, "
	      "java.io.IOException: no..., java.lang.Error, a.b.C$D@1a2b, int[]@ffffffff");
}
END_TEST

START_TEST(arrays)
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
	shows("[1, 2, 3], [1, 2, ... 10 in all], [\"tea\", null, int[]@1], [], "
	      "[... 2000000000 in all], null");
}
END_TEST

START_TEST(no_room)
{
	put_narrow(&values, 'I', 1);
	buf_addc(&values, '-');
	shows("1, ...");
	put_array(&values, "[I", 3, 3);
	put_narrow(&values, 'I', 1);
	buf_addc(&values, '-');
	shows("[1, ... 3 in all]");
}
END_TEST

START_TEST(nonsense)
{
	buf_addc(&values, 'x');
	shows("!");
	put_string(&values, "tea", 2); /* more chars than it is long */
	shows("!");
	put_object(&values, "a/b/C", 1);
	shows("!");
	buf_adds(&values, "bN");
	shows("!");
	put_class(&values, 't', "LC;");
	put_narrow(&values, 'I', 1); /* no message */
	shows("!");
	put_array(&values, "[I", 1, 2);
	shows("!");
	put_array(&values, "[[I", 1, 1);
	put_array(&values, "[I", 0, 0); /* an array in an array */
	shows("!");
}
END_TEST

/* What is told of each kind, cut at every byte: never more than was there, and never the same. */
START_TEST(cut_at_every_byte)
{
	struct wire_text all;
	char *whole;

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
	whole = show(all);
	ck_assert_str_eq(whole, "12, 12, \"tea\"..., 'x', GREEN, E, "
				"[\"tea\", int[]@1, ... 3 in all]");
	for (size_t len = 0; len < all.len; len++) {
		/* Of its own size, so that who reads on is seen to. */
		char *copy = memcpy(xmalloc(len > 0 ? len : 1), all.data, len), *text;

		text = show((struct wire_text){ copy, len });
		ck_assert_uint_lt(strlen(text), strlen(whole) + 1);
		ck_assert_str_ne(text, whole);
		free(text);
		free(copy);
	}
	free(whole);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tracevalue");
	TCase *c = tcase_create("tracevalue");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, primitives);
	tcase_add_test(c, characters);
	tcase_add_test(c, strings);
	tcase_add_test(c, surrogates);
	tcase_add_test(c, objects);
	tcase_add_test(c, arrays);
	tcase_add_test(c, no_room);
	tcase_add_test(c, nonsense);
	tcase_add_test(c, cut_at_every_byte);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
