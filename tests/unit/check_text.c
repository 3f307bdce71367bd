#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void shown(const char *text, size_t len, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	text_printable(&out, text, len);
	ck_assert_str_eq(buf_str(&out), expected);
}

#define SHOWN(literal, expected) shown(literal, sizeof(literal) - 1, expected)

START_TEST(plain_text_and_utf8_pass)
{
	SHOWN("", "");
	SHOWN("java.lang.String", "java.lang.String");
	SHOWN("Größe λ 日本 😀", "Größe λ 日本 😀");
	SHOWN("back\\slash", "back\\slash");
}
END_TEST

START_TEST(control_characters_are_escaped)
{
	SHOWN("a\nb", "a\\x0Ab");
	SHOWN("\x1b[2J", "\\x1B[2J");
	SHOWN("nul\0in", "nul\\x00in");
	SHOWN("del\x7f", "del\\x7F");
	SHOWN("\xc2\x9b" "2J", "\\xC2\\x9B" "2J"); /* U+009B: CSI in one character */
}
END_TEST

START_TEST(separators_and_directions_are_escaped)
{
	SHOWN("a\xe2\x80\xa8" "b", "a\\xE2\\x80\\xA8" "b"); /* U+2028 */
	SHOWN("\xe2\x80\xae" "gpj", "\\xE2\\x80\\xAE" "gpj"); /* U+202E */
	SHOWN("\xe2\x81\xa6", "\\xE2\\x81\\xA6"); /* U+2066 */
	SHOWN("\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"); /* their neighbours */
}
END_TEST

START_TEST(broken_sequences_are_escaped_byte_by_byte)
{
	SHOWN("\x80", "\\x80");
	SHOWN("\xff" "a", "\\xFF" "a");
	SHOWN("\xc0\x80", "\\xC0\\x80");         /* overlong NUL, as the JVM writes it */
	SHOWN("\xe0\x9f\xbf", "\\xE0\\x9F\\xBF"); /* overlong */
	SHOWN("\xed\xa0\x80", "\\xED\\xA0\\x80"); /* half a surrogate pair */
	SHOWN("\xf0\x8f\xbf\xbf", "\\xF0\\x8F\\xBF\\xBF");
	SHOWN("\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80"); /* above U+10FFFF */
	SHOWN("\xc3(", "\\xC3(");
}
END_TEST

START_TEST(a_sequence_cut_at_any_length_is_none)
{
	static const char *const whole[] = { "ä", "日", "😀" };

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		size_t len = strlen(whole[i]);

		ck_assert_uint_eq(text_utf8_len(whole[i], len), len);
		ck_assert_uint_eq(text_utf8_len(whole[i], 100), len);
		for (size_t cut = 0; cut < len; cut++) {
			char *copy = malloc(cut + 1); /* its end is watched under ASan */

			memcpy(copy, whole[i], cut);
			ck_assert_uint_eq(text_utf8_len(copy, cut), 0);
			free(copy);
		}
	}
}
END_TEST

START_TEST(width_counts_terminal_cells)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return; /* without a UTF-8 locale the C library knows no widths */
	ck_assert_uint_eq(text_width("abc", 3), 3);
	ck_assert_uint_eq(text_width("äö", 4), 2);
	ck_assert_uint_eq(text_width("日本", 6), 4);
	ck_assert_uint_eq(text_width("e\xcc\x81", 3), 1); /* with a combining accent */
	ck_assert_uint_eq(text_width("", 0), 0);
}
END_TEST

START_TEST(printable_str_is_a_copy)
{
	char *s = text_printable_str("a\tb");

	ck_assert_str_eq(s, "a\\x09b");
	free(s);
}
END_TEST

static void add_units(struct buf *text, const char *units, size_t len, bool big_endian)
{
	buf_reset(text);
	text_add_utf16(text, (const uint8_t *)units, len, big_endian);
}

START_TEST(utf16_becomes_utf8)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	add_units(&text, "\0a\0\xe4\x20\xac\xd8\x3d\xde\x00", 10, true);
	ck_assert_str_eq(buf_str(&text), "aä€\xf0\x9f\x98\x80");
	add_units(&text, "a\0\xe4\0\xac\x20\x3d\xd8\x00\xde", 10, false);
	ck_assert_str_eq(buf_str(&text), "aä€\xf0\x9f\x98\x80");
	add_units(&text, "\xde\x00\xd8\x3d\xd8\x3d\0a\0", 9, true); /* halves, and half a unit */
	ck_assert_str_eq(buf_str(&text), "\ufffd\ufffd\ufffda");
	add_units(&text, "\xd8\x3d\xde", 3, true);
	ck_assert_str_eq(buf_str(&text), "\ufffd");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *tc = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, plain_text_and_utf8_pass);
	tcase_add_test(tc, control_characters_are_escaped);
	tcase_add_test(tc, separators_and_directions_are_escaped);
	tcase_add_test(tc, broken_sequences_are_escaped_byte_by_byte);
	tcase_add_test(tc, a_sequence_cut_at_any_length_is_none);
	tcase_add_test(tc, width_counts_terminal_cells);
	tcase_add_test(tc, printable_str_is_a_copy);
	tcase_add_test(tc, utf16_becomes_utf8);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
