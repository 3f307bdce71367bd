/* Secrets in properties, environments and command lines are replaced, and nothing else is. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/vm/secrets.h"

static const struct {
	const char *text, *masked;
} cases[] = {
	{ "", "" },
	{ "db.password=hunter2\nuser=bob\n", "db.password=********\nuser=bob\n" },
	{ "DB_PASSWORD=two words\n", "DB_PASSWORD=********\n" },
	{ "API_KEY=a\nAWS_SECRET_ACCESS_KEY=b\nMONKEY_BAR=c\n",
	  "API_KEY=********\nAWS_SECRET_ACCESS_KEY=********\nMONKEY_BAR=c\n" },
	{ "Flags: -Xmx1g -Djavax.net.ssl.keyStorePassword=x -Da=b\n",
	  "Flags: -Xmx1g -Djavax.net.ssl.keyStorePassword=******** -Da=b\n" },
	{ "--token abc --port 80", "--token ******** --port 80" },
	{ "--token=abc,--port", "--token=********,--port" },
	{ "--no-password --port", "--no-password --port" },
	{ "{\"a.token\":\"x\\\"y\",\"b\":\"c\"}", "{\"a.token\":\"********\",\"b\":\"c\"}" },
	{ "{\"args\":\"--secret=x --port=1\"}", "{\"args\":\"--secret=******** --port=1\"}" },
	{ "password: 'a b' c", "password: '********' c" },
	{ "jdbc:x://bob:pw@host/db?user=bob", "jdbc:x://********@host/db?user=bob" },
	{ "https://host/path@2", "https://host/path@2" },
	{ "file:///etc/passwd", "file:///etc/passwd" },
	{ "[\"--password\",\"a b\",\"--port\"]", "[\"--password\",\"********\",\"--port\"]" },
	{ "{\"url\":\"x:\\/\\/bob:pw@h\\/db\"}", "{\"url\":\"x:\\/\\/********@h\\/db\"}" },
	{ "redis://:pw@h/0", "redis://********@h/0" },
	{ "accessKeyId=a\nkey.value=b\nKEYS=c\n",
	  "accessKeyId=********\nkey.value=********\nKEYS=********\n" },
	{ "keyStore=/a/b\nKEYSTORE=/c\nmonkeys.x=c\nPWD=/home\nOLDPWD=/\n",
	  "keyStore=/a/b\nKEYSTORE=/c\nmonkeys.x=c\nPWD=/home\nOLDPWD=/\n" },
	{ "url=jdbc:sqlserver://h;user=sa;pwd=a\nPwd: b\nkeySerial=c\n",
	  "url=jdbc:sqlserver://h;user=sa;pwd=********\nPwd: ********\nkeySerial=********\n" },
	{ "DB_PASS=a\nSMTP_AUTH=d\nPGPASS=b\npassing=c\n",
	  "DB_PASS=********\nSMTP_AUTH=********\nPGPASS=********\npassing=c\n" },
	{ "H=Authorization: Bearer a.b=\nx", "H=Authorization: Bearer ********\nx" },
	{ "authorization: basic a b", "authorization: basic ******** b" },
	{ "proxy-authorization: c", "proxy-authorization: ********" },
	{ "password=", "password=" },
	{ "password", "password" },
	{ "--password", "--password" },
	{ "a secret is here", "a secret is here" },
};

START_TEST(secrets_are_masked)
{
	struct buf out = BUF_INIT;

	(void)secrets_mask(&out, cases[_i].text, strlen(cases[_i].text));
	ck_assert_str_eq(buf_str(&out), cases[_i].masked);
	buf_release(&out);
}
END_TEST

START_TEST(masked_text_has_no_more_secrets)
{
	struct buf once = BUF_INIT, twice = BUF_INIT;

	(void)secrets_mask(&once, cases[_i].text, strlen(cases[_i].text));
	(void)secrets_mask(&twice, once.data, once.len);
	ck_assert_str_eq(buf_str(&twice), buf_str(&once));
	buf_release(&once);
	buf_release(&twice);
}
END_TEST

/* Each truncation is read within its bounds (under ASan). */
START_TEST(truncated_texts_are_read_within_their_bounds)
{
	size_t len = strlen(cases[_i].text);

	for (size_t n = 0; n <= len; n++) {
		struct buf out = BUF_INIT;
		char *cut = xcalloc(n ? n : 1, 1);

		memcpy(cut, cases[_i].text, n);
		(void)secrets_mask(&out, cut, n);
		buf_release(&out);
		free(cut);
	}
}
END_TEST

/* Secrets from the command line are also found in a text that does not name them. */
START_TEST(known_values_are_overwritten)
{
	static const char args[] = "-Da.password=two words\0--token\0secret-1\0"
				   "-Durl=x://bob:hidden@h\0--key=short\0--keys\0--port=123456";
	struct secrets s = { .n = 0 };
	char text[] = "login two words, secret-1 or hidden; short, 123456";

	secrets_learn_args(&s, args, sizeof(args));
	ck_assert_uint_eq(secrets_overwrite(&s, text, strlen(text)), 3);
	ck_assert_str_eq(text, "login *********, ******** or ******; short, 123456");
	secrets_release(&s);
}
END_TEST

START_TEST(longest_value_is_overwritten)
{
	struct secrets s = { .n = 0 };
	char text[] = "secret-12";

	secrets_add(&s, "secret", 6);
	secrets_add(&s, "secret-12", 9);
	ck_assert_uint_eq(secrets_overwrite(&s, text, strlen(text)), 1);
	ck_assert_str_eq(text, "*********");
	secrets_release(&s);
}
END_TEST

/* Compares each value with the text at each byte.  Overwrites as secrets_overwrite() does. */
static size_t overwrite_slowly(const struct secrets *s, char *data, size_t len)
{
	size_t n = 0, longest;

	for (size_t i = 0; i < len; i += longest > 0 ? longest : 1) {
		longest = 0;
		for (size_t k = 0; k < s->n; k++) {
			size_t value_len = s->values[k].len;

			if (value_len > longest && value_len <= len - i &&
			    memcmp(s->values[k].text, data + i, value_len) == 0)
				longest = value_len;
		}
		memset(data + i, '*', longest);
		n += longest > 0;
	}
	return n;
}

static void fill(char *text, size_t len, uint32_t *state)
{
	for (size_t i = 0; i < len; i++) {
		*state = *state * 1664525 + 1013904223;
		text[i] = "ab"[*state >> 31];
	}
}

/* Many of the values begin with another one. */
START_TEST(random_values_are_overwritten)
{
	uint32_t state = (uint32_t)_i + 1;
	struct secrets s = { .n = 0 };
	char text[4000], expected[sizeof(text)];
	size_t n;

	for (unsigned i = 0; i < 3u << _i; i++) {
		size_t len = 6 + (size_t)_i + i % 9;

		fill(text, len, &state);
		secrets_add(&s, text, len);
		secrets_add(&s, text, len); /* is not added again */
	}
	for (size_t i = 1; i < s.n; i++)
		ck_assert_int_lt(strcmp(s.values[i - 1].text, s.values[i].text), 0);
	fill(text, sizeof(text), &state);
	memcpy(expected, text, sizeof(text));
	n = overwrite_slowly(&s, expected, sizeof(expected));
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(secrets_overwrite(&s, text, sizeof(text)), n);
	ck_assert_mem_eq(text, expected, sizeof(text));
	secrets_release(&s);
}
END_TEST

#define MANY 10000
#define TEXT_LEN (2u << 20)

/* A comparison with each value at each byte takes longer than the test may. */
START_TEST(many_values_are_found_in_bounded_time)
{
	static const char *const texts[] = { "aaaaaaac", "aaaac", "a", "aaaaaac-1" };
	struct secrets s = { .n = 0 };
	char *text = xmalloc(TEXT_LEN), value[3000];
	size_t part = strlen(texts[_i]);

	/* aaaaaab0, aaaaaaab1, …: each value ends differently from the text. */
	memset(value, 'a', sizeof(value));
	for (size_t i = 0; i < MANY; i++) {
		char *end = value + 6 + i % 2000;

		(void)snprintf(end, 8, "b%zu", i);
		secrets_add(&s, value, strlen(value));
		memset(end, 'a', 8);
	}
	ck_assert_uint_eq(s.n, MANY);
	for (size_t i = 0; i < TEXT_LEN; i++)
		text[i] = texts[_i][i % part];
	/* In the text of nothing but "a", the long parts of values are found. */
	ck_assert((secrets_overwrite(&s, text, TEXT_LEN) > 0) == (part == 1));
	secrets_release(&s);
	free(text);
}
END_TEST

START_TEST(start_of_a_long_value_is_overwritten)
{
	struct secrets s = { .n = 0 };
	char value[300], text[600];

	memset(value, 'k', sizeof(value));
	value[299] = 'z';
	secrets_add(&s, value, sizeof(value));
	memset(text, '-', sizeof(text));
	memcpy(text, value, 255);
	ck_assert_uint_eq(secrets_overwrite(&s, text, sizeof(text)), 0);
	memcpy(text, value, 256);
	memcpy(text + 300, value, 300);
	ck_assert_uint_eq(secrets_overwrite(&s, text, sizeof(text)), 2);
	ck_assert_int_eq(text[255], '*');
	ck_assert_int_eq(text[256], '-');
	ck_assert_int_eq(text[300], '*');
	ck_assert_int_eq(text[599], '*');
	secrets_release(&s);
}
END_TEST

/* In stack traces only URLs are masked: "Token.java:12" looks like a name with a secret. */
START_TEST(urls_only)
{
	static const char text[] = "at a.Token.m(Token.java:12) x://bob:hidden@h token=abcdef";
	struct buf out = BUF_INIT;
	struct secrets s = { .n = 0 };

	ck_assert_uint_eq(secrets_mask_urls(&out, text, strlen(text)), 1);
	ck_assert_str_eq(buf_str(&out), "at a.Token.m(Token.java:12) x://********@h token=abcdef");
	secrets_learn_urls(&s, text, strlen(text));
	ck_assert_uint_eq(s.n, 2); /* bob:hidden, hidden */
	secrets_release(&s);
	buf_release(&out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/vm/secrets");
	TCase *tc = tcase_create("model/vm/secrets");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, secrets_are_masked, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tc, masked_text_has_no_more_secrets, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tc, truncated_texts_are_read_within_their_bounds, 0, ARRAY_SIZE(cases));
	suite_add_tcase(s, tc);
	tcase_add_test(tc, known_values_are_overwritten);
	tcase_add_test(tc, longest_value_is_overwritten);
	tcase_add_loop_test(tc, random_values_are_overwritten, 0, 8);
	tcase_add_loop_test(tc, many_values_are_found_in_bounded_time, 0, 4);
	tcase_add_test(tc, start_of_a_long_value_is_overwritten);
	tcase_add_test(tc, urls_only);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
