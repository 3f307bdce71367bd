#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

static void assert_printable(const char *text, size_t len, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	printable_add(&out, text, len);
	ck_assert_str_eq(buf_str(&out), expected);
}

#define PRINTABLE(literal, expected) assert_printable(literal, sizeof(literal) - 1, expected)

START_TEST(ascii_and_utf8_are_unchanged)
{
	PRINTABLE("", "");
	PRINTABLE("java.lang.String", "java.lang.String");
	PRINTABLE("Größe λ 日本 😀", "Größe λ 日本 😀");
	PRINTABLE("back\\slash", "back\\slash");
}
END_TEST

START_TEST(control_characters_are_escaped)
{
	PRINTABLE("a\nb", "a\\x0Ab");
	PRINTABLE("\x1b[2J", "\\x1B[2J");
	PRINTABLE("nul\0in", "nul\\x00in");
	PRINTABLE("del\x7f", "del\\x7F");
	PRINTABLE("\xc2\x9b" "2J", "\\xC2\\x9B" "2J"); /* U+009B: the one-character CSI */
}
END_TEST

START_TEST(line_separators_and_bidi_controls_are_escaped)
{
	PRINTABLE("a\xe2\x80\xa8" "b", "a\\xE2\\x80\\xA8" "b"); /* U+2028 */
	PRINTABLE("\xe2\x80\xae" "gpj", "\\xE2\\x80\\xAE" "gpj"); /* U+202E */
	PRINTABLE("\xe2\x81\xa6", "\\xE2\\x81\\xA6"); /* U+2066 */
	PRINTABLE("\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"); /* U+2027, U+202F */
}
END_TEST

START_TEST(invisible_characters_are_escaped)
{
	static const uint32_t hidden[] = { 0x61c,  0x180e, 0x200b, 0x200c,  0x200d,  0x200e,
					   0x200f, 0x2060, 0x2064, 0x206f,  0xfeff,  0xfff9,
					   0xfffb, 0xe0001, 0xe0041, 0xe007f };
	static const uint32_t shown[] = { 0x61b,  0x61d,  0x200a, 0x2010,  0x205f,  0x2070,
					  0xfefe, 0xfff8, 0xfffc, 0xdffff, 0xe0080 };

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;

		utf8_add_char(&text, hidden[i]);
		printable_add(&out, text.data, text.len);
		ck_assert_uint_eq(out.len, 4 * text.len);
		ck_assert(printable_is_unsafe(hidden[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;

		utf8_add_char(&text, shown[i]);
		printable_add(&out, text.data, text.len);
		ck_assert_str_eq(buf_str(&out), buf_str(&text));
	}
}
END_TEST

START_TEST(line_ends_and_tabs_of_lines_are_unchanged)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	printable_add_lines(&out, "a\n\tb\r\x1b[2J\xe2\x80\x8b\n", 13);
	ck_assert_str_eq(buf_str(&out), "a\n\tb\\x0D\\x1B[2J\\xE2\\x80\\x8B\n");
}
END_TEST

START_TEST(invalid_utf8_is_escaped_byte_by_byte)
{
	PRINTABLE("\x80", "\\x80");
	PRINTABLE("\xff" "a", "\\xFF" "a");
	PRINTABLE("\xc0\x80", "\\xC0\\x80");         /* overlong NUL: modified UTF-8 */
	PRINTABLE("\xe0\x9f\xbf", "\\xE0\\x9F\\xBF"); /* overlong */
	PRINTABLE("\xed\xa0\x80", "\\xED\\xA0\\x80"); /* half a surrogate pair */
	PRINTABLE("\xf0\x8f\xbf\xbf", "\\xF0\\x8F\\xBF\\xBF");
	PRINTABLE("\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80"); /* above U+10FFFF */
	PRINTABLE("\xc3(", "\\xC3(");
}
END_TEST

START_TEST(sequence_cut_at_any_length_is_invalid)
{
	static const char *const sequences[] = { "ä", "日", "😀" };

	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		size_t len = strlen(sequences[i]);

		ck_assert_uint_eq(utf8_sequence_len(sequences[i], len), len);
		ck_assert_uint_eq(utf8_sequence_len(sequences[i], 100), len);
		for (size_t cut = 0; cut < len; cut++) {
			char *copy = malloc(cut + 1); /* ASan detects a read past its end */

			memcpy(copy, sequences[i], cut);
			ck_assert_uint_eq(utf8_sequence_len(copy, cut), 0);
			free(copy);
		}
	}
}
END_TEST

START_TEST(width_counts_terminal_cells)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return; /* without a UTF-8 locale, the C library has no widths */
	ck_assert_uint_eq(printable_width("abc", 3), 3);
	ck_assert_uint_eq(printable_width("äö", 4), 2);
	ck_assert_uint_eq(printable_width("日本", 6), 4);
	ck_assert_uint_eq(printable_width("e\xcc\x81", 3), 1); /* e with a combining accent */
	ck_assert_uint_eq(printable_width("", 0), 0);
}
END_TEST

START_TEST(printable_add_str_returns_a_copy)
{
	char *s = printable_add_str("a\tb");

	ck_assert_str_eq(s, "a\\x09b");
	free(s);
}
END_TEST

static void add_units(struct buf *text, const char *units, size_t len, bool big_endian)
{
	buf_reset(text);
	utf8_add_utf16(text, (const uint8_t *)units, len, big_endian);
}

START_TEST(utf16_is_converted_to_utf8)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	add_units(&text, "\0a\0\xe4\x20\xac\xd8\x3d\xde\x00", 10, true);
	ck_assert_str_eq(buf_str(&text), "aä€\xf0\x9f\x98\x80");
	add_units(&text, "a\0\xe4\0\xac\x20\x3d\xd8\x00\xde", 10, false);
	ck_assert_str_eq(buf_str(&text), "aä€\xf0\x9f\x98\x80");
	add_units(&text, "\xde\x00\xd8\x3d\xd8\x3d\0a\0", 9, true); /* odd size, lone surrogates */
	ck_assert_str_eq(buf_str(&text), "\ufffd\ufffd\ufffda");
	add_units(&text, "\xd8\x3d\xde", 3, true);
	ck_assert_str_eq(buf_str(&text), "\ufffd");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base/printable");
	TCase *tc = tcase_create("base/printable");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, ascii_and_utf8_are_unchanged);
	tcase_add_test(tc, control_characters_are_escaped);
	tcase_add_test(tc, line_separators_and_bidi_controls_are_escaped);
	tcase_add_test(tc, invisible_characters_are_escaped);
	tcase_add_test(tc, line_ends_and_tabs_of_lines_are_unchanged);
	tcase_add_test(tc, invalid_utf8_is_escaped_byte_by_byte);
	tcase_add_test(tc, sequence_cut_at_any_length_is_invalid);
	tcase_add_test(tc, width_counts_terminal_cells);
	tcase_add_test(tc, printable_add_str_returns_a_copy);
	tcase_add_test(tc, utf16_is_converted_to_utf8);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
