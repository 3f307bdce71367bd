/* Globs match characters in UTF-8 and modified UTF-8, in limited time. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/glob.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

#define E_ACUTE "\xc3\xa9"
#define EURO "\xe2\x82\xac"
#define EMOJI "\xf0\x9f\x98\x80"             /* U+1F600 */
#define EMOJI_JVM "\xed\xa0\xbd\xed\xb8\x80" /* the same in modified UTF-8 */
#define OTHER_EMOJI_JVM "\xed\xa0\xbd\xed\xb8\x81"

static const struct {
	const char *glob, *text;
	bool matches;
} rows[] = {
	{ "", "", true }, { "", "a", false }, { "a", "", false }, { "*", "", true },
	{ "?", "", false }, { "**", "", true }, { "a", "a", true }, { "a", "b", false },
	{ "a*", "a", true }, { "*a", "ba", true }, { "*a", "ab", false }, { "a*c", "abc", true },
	{ "a*c", "abcd", false }, { "*b*", "abc", true }, { "*aab", "aaab", true },
	{ "a?c", "abc", true }, { "a?c", "ac", false }, { "?*", "a", true }, { "*?", "", false },
	{ "a.b.*", "a.b.C", true }, { "a.b.*", "axb.C", false }, { "[a]", "a", false },
	{ "[a]", "[a]", true }, { "\\*", "\\x", true }, { "*[]", "int[]", true },
	/* characters of several bytes */
	{ "Caf?", "Caf" E_ACUTE, true }, { "Caf??", "Caf" E_ACUTE, false },
	{ "Caf" E_ACUTE, "Caf" E_ACUTE, true }, { "?", EURO, true }, { "??", EURO, false },
	{ "?", EMOJI, true }, { "??", EMOJI, false }, { "????", EMOJI, false },
	{ "*" E_ACUTE, "xx" E_ACUTE, true }, { "*?" E_ACUTE, E_ACUTE E_ACUTE, true },
	{ "*?" E_ACUTE, E_ACUTE, false }, { E_ACUTE "*", E_ACUTE "x", true },
	{ "\xc3*", E_ACUTE, false }, { "*\xa9", E_ACUTE, false },
	/* the same character in modified UTF-8 */
	{ "?", EMOJI_JVM, true }, { "??", EMOJI_JVM, false }, { EMOJI, EMOJI_JVM, true },
	{ EMOJI_JVM, EMOJI, true }, { EMOJI, OTHER_EMOJI_JVM, false },
	{ "a?b", "a" EMOJI_JVM "b", true }, { "*" EMOJI, EMOJI_JVM EMOJI_JVM, true },
	/* half a surrogate pair */
	{ "?", "\xed\xa0\xbd", true }, { "?", "\xed\xb8\x80", true },
	{ "??", "\xed\xb8\x80\xed\xa0\xbd", true }, { "??", "\xed\xa0\xbdz", true },
	{ "?" E_ACUTE, "\xed\xa0\xbd" E_ACUTE, true },
	/* invalid UTF-8 counts byte by byte */
	{ "?", "\x80", true }, { "??", "\x80\x80", true }, { "?", "\x80\x80", false },
	{ "\x80", "\x80", true }, { "\x80", "\x81", false }, { "\xe9", "\xe9", true },
	{ "\xe9", E_ACUTE, false }, { E_ACUTE, "\xe9", false }, { "Caf?", "Caf\xe9", true },
	{ "?", "\xc3", true }, { "?a", "\xc3" "a", true }, { "??", "\xe2\x82", true },
	{ "???", "\xf0\x9f\x98", true }, { "???" E_ACUTE, "\xf0\x9f\x98" E_ACUTE, true },
	{ "?", "\xff", true }, { "??", "\xc1\xa1", true }, { "a", "\xc1\xa1", false },
	{ "????", "\xf4\x90\x80\x80", true }, { "?", "\xf4\x90\x80\x80", false },
	{ "????", "\xf0\x80\x80\xaf", true }, { "/", "\xf0\x80\x80\xaf", false },
	{ "????", "\xfc\x80\x80\x80", true }, { "?", "\xfc\x80\x80\x80", false },
	{ "*", "\xf0\x9f", true }, { "*\x9f", "\xf0\x9f", true },
};

START_TEST(globs_match_characters_not_bytes)
{
	ck_assert_msg(glob_matches(rows[_i].glob, rows[_i].text) == rows[_i].matches,
		      "'%s' and '%s'", rows[_i].glob, rows[_i].text);
}
END_TEST

static char byte_at(const void *text, size_t i)
{
	return ((const char *)text)[i];
}

/* Each text is a copy of exactly `len` bytes, so that ASan detects a read past its end. */
START_TEST(truncated_text_is_not_read_past_its_end)
{
	static const char text[] = "a" E_ACUTE EURO EMOJI EMOJI_JVM "\xed\xa0\xbd";

	for (size_t len = 0; len < sizeof(text); len++) {
		char *copy = malloc(len > 0 ? len : 1);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text, len);
		ck_assert(glob_matches_bytes("*", byte_at, copy, len));
		ck_assert(glob_matches_bytes("*?", byte_at, copy, len) == (len > 0));
		ck_assert(!glob_matches_bytes("*z", byte_at, copy, len));
		free(copy);
	}
}
END_TEST

#define LONGEST 4
static const char *const units[] = { "a", E_ACUTE, "\x80", EMOJI, "*", "?" };
#define N_CHARACTERS 4

struct word {
	int n, unit[LONGEST];
	char text[LONGEST * 4 + 1];
};

/* Enumerates the words over the first `base` units; returns false after the last. */
static bool next_word(struct word *w, int base)
{
	char *end = w->text;
	int i = 0;

	while (i < w->n && w->unit[i] == base - 1)
		w->unit[i++] = 0;
	if (i < w->n)
		w->unit[i]++;
	else if (w->n < LONGEST)
		w->unit[w->n++] = 0;
	else
		return false;
	for (i = 0; i < w->n; i++)
		end = stpcpy(end, units[w->unit[i]]);
	return true;
}

static bool model_matches(const int *glob, int n_glob, const int *text, int n_text)
{
	if (n_glob == 0)
		return n_text == 0;
	if (units[*glob][0] == '*')
		return model_matches(glob + 1, n_glob - 1, text, n_text) ||
		       (n_text > 0 && model_matches(glob, n_glob, text + 1, n_text - 1));
	return n_text > 0 && (units[*glob][0] == '?' || *glob == *text) &&
	       model_matches(glob + 1, n_glob - 1, text + 1, n_text - 1);
}

START_TEST(short_globs_match_like_the_model)
{
	struct word glob = { 0 };

	do {
		struct word text = { 0 };

		do {
			if (glob_matches(glob.text, text.text) !=
			    model_matches(glob.unit, glob.n, text.unit, text.n))
				ck_abort_msg("'%s' and '%s'", glob.text, text.text);
		} while (next_word(&text, N_CHARACTERS));
	} while (next_word(&glob, N(units)));
}
END_TEST

static size_t n_reads;

static char counted_byte_at(const void *text, size_t i)
{
	n_reads++;
	return ((const char *)text)[i];
}

/* These globs take exponential time with a naive matcher. */
START_TEST(time_is_limited_by_the_product_of_both_lengths)
{
	static const char *const hard[] = {
		"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
		"*" E_ACUTE "*" E_ACUTE "*" E_ACUTE "*" E_ACUTE "b", "*?????????????????????b",
	};
	static char text[4096];

	for (size_t i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, i % 4 == 0 ? "aa" : E_ACUTE, 2);
	for (size_t i = 0; i < N(hard) * 2; i++) {
		const char *glob = hard[i / 2];

		if (i % 2)
			memset(text, 'a', sizeof(text));
		n_reads = 0;
		ck_assert(!glob_matches_bytes(glob, counted_byte_at, text, sizeof(text)));
		ck_assert_uint_le(n_reads, 4 * sizeof(text) * strlen(glob));
	}
}
END_TEST

START_TEST(patterns_are_recognised)
{
	ck_assert(!glob_is_pattern(""));
	ck_assert(!glob_is_pattern("a.b.C[]"));
	ck_assert(glob_is_pattern("a.*"));
	ck_assert(glob_is_pattern("Caf?"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/wire/glob");
	TCase *tc = tcase_create("agent/wire/glob");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, globs_match_characters_not_bytes, 0, (int)N(rows));
	tcase_add_test(tc, truncated_text_is_not_read_past_its_end);
	tcase_add_test(tc, short_globs_match_like_the_model);
	tcase_add_test(tc, time_is_limited_by_the_product_of_both_lengths);
	tcase_add_test(tc, patterns_are_recognised);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
