#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "attach/protocol.h"

static const struct attach_version v1 = { 1, false };
static const struct attach_version v2 = { 2, false };
static const struct attach_version v2_streaming = { 2, true };

/* Checks the bytes of a request; `expected` is a string literal that contains its NULs. */
#define REQUEST_IS(version, expected, ...)                                                        \
	do {                                                                                      \
		static const char *const words[] = { __VA_ARGS__ };                               \
		const struct attach_request req = { words[0], words + 1, ARRAY_SIZE(words) - 1 }; \
		_cleanup_buf_ struct buf out = BUF_INIT;                                          \
		struct err err = { .code = EXIT_DONE };                                           \
		ck_assert_int_eq(attach_protocol_request(&out, &req, version, &err), 0);          \
		ck_assert_uint_eq(out.len, sizeof(expected) - 1);                                 \
		ck_assert_mem_eq(out.data, expected, out.len);                                    \
	} while (0)

static void assert_refused(const struct attach_request *req, struct attach_version version,
			   const char *limit)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(attach_protocol_request(&out, req, version, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(err.text, limit));
	ck_assert_uint_eq(out.len, 0);
}

/* Returns a string of n letters, which the caller frees. */
static char *letters(size_t n)
{
	char *s = malloc(n + 1);

	ck_assert_ptr_nonnull(s);
	memset(s, 'x', n);
	s[n] = '\0';
	return s;
}

START_TEST(version_1_request_always_has_three_arguments)
{
	REQUEST_IS(v1, "1\0threaddump\0\0\0\0", "threaddump");
	REQUEST_IS(v1, "1\0jcmd\0VM.version\0\0\0", "jcmd", "VM.version");
	REQUEST_IS(v1, "1\0load\0/a.so\0true\0o=1\0", "load", "/a.so", "true", "o=1");
}
END_TEST

START_TEST(version_2_request_begins_with_the_length_of_the_rest)
{
	REQUEST_IS(v2, "2\0" "11\0threaddump\0", "threaddump");
	REQUEST_IS(v2_streaming, "2\0" "28\0jcmd streaming=0\0VM.version\0", "jcmd", "VM.version");
	REQUEST_IS(v2, "2\0" "12\0op\0a\0b\0c\0d\0\0", "op", "a", "b", "c", "d", "");
}
END_TEST

START_TEST(version_1_error_names_the_exceeded_limit)
{
	_cleanup_free_ char *fits = letters(ATTACH_V1_ARG_MAX), *too_long = letters(1025);
	_cleanup_free_ char *name = letters(ATTACH_V1_NAME_MAX + 1);
	const char *args[4] = { fits, fits, fits, "" };
	struct attach_request req = { "0123456789abcdef", args, 3 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(attach_protocol_request(&out, &req, v1, &err), 0);
	ck_assert_uint_eq(out.len, 2 + 17 + 3 * 1025);
	req.n_args = 4;
	assert_refused(&req, v1, "at most 3");
	req.n_args = 3;
	args[2] = too_long;
	assert_refused(&req, v1, "at most 1024");
	args[2] = fits;
	req.op = name;
	assert_refused(&req, v1, "at most 16");
}
END_TEST

START_TEST(version_2_error_names_the_exceeded_limit)
{
	/* The name, the argument and their two NULs have exactly ATTACH_V2_MAX bytes. */
	_cleanup_free_ char *fits = letters(ATTACH_V2_MAX - 4), *over = letters(ATTACH_V2_MAX - 3);
	const char *args[1] = { fits };
	struct attach_request req = { "op", args, 1 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(attach_protocol_request(&out, &req, v2, &err), 0);
	args[0] = over;
	assert_refused(&req, v2, "at most 262144");
	args[0] = fits;
	req.op = "op streaming=1";
	assert_refused(&req, v2, "contains a space");
}
END_TEST

static void assert_status(const char *reply, int code, ssize_t output_at)
{
	int got = 4711;

	ck_assert_int_eq(attach_protocol_status(reply, strlen(reply), &got), output_at);
	ck_assert_int_eq(got, output_at < 0 ? 4711 : code);
}

START_TEST(status_is_parsed_from_the_first_line)
{
	assert_status("0\n", 0, 2);
	assert_status("-1\nP was not loaded.\n", -1, 3);
	assert_status("101\n", 101, 4);
	assert_status("2147483647\n", INT_MAX, 11);
	assert_status("-2147483648\n", INT_MIN, 12);
	assert_status("", 0, -ENODATA);
	assert_status("0", 0, -EPROTO);
	assert_status("\n", 0, -EPROTO);
	assert_status("-\n", 0, -EPROTO);
	assert_status("0x\n", 0, -EPROTO);
	assert_status(" 0\n", 0, -EPROTO);
	assert_status("2147483648\n", 0, -EPROTO);
	assert_status("-2147483649\n", 0, -EPROTO);
	assert_status("99999999999999999999999999\n", 0, -EPROTO);
}
END_TEST

static void assert_version(const char *reply, int version, bool streaming)
{
	struct attach_version v = attach_protocol_version(reply, strlen(reply));

	ck_assert_int_eq(v.version, version);
	ck_assert_int_eq(v.streaming, streaming);
}

START_TEST(version_reply_of_each_jdk_is_parsed)
{
	assert_version("0\n2 streaming", 2, true); /* JDK 25, 27 */
	assert_version("0\n2 ", 2, false);         /* JDK 24 */
	assert_version("0\n1 ", 1, false);         /* JDK 24 with -Djdk.attach.compat=true */
	assert_version("-1\nOperation getversion not recognized!", 1, false); /* JDK 8 to 23 */
	assert_version("0\n3 streaming compressed\n", 2, true);
	assert_version("0\n2 nostreaming streaming2", 2, false);
	assert_version("0\nstreaming", 1, false);
	assert_version("", 1, false);
}
END_TEST

struct load_reply {
	const char *jdks, *reply;
	bool loaded, has_code;
	int code;
};

#define NOT_ENABLED "Dynamic agent loading is not enabled. " \
		    "Use -XX:+EnableDynamicAgentLoading to launch target VM."
#define MISSING "/x.so was not loaded.\n/x.so: cannot open shared object file: " \
		"No such file or directory\n"

static const struct load_reply load_replies[] = {
	{ "8 OK", "0\n0\n", true, true, 0 },
	{ "8 OnAttach 1", "0\n1\n", false, true, 1 },
	{ "8 OnAttach -7", "0\n-7\n", false, true, -7 },
	{ "8 not loaded", "-1\n", false, false, 0 },
	{ "8 bad jar", "0\n100\n", false, true, 100 },
	{ "8 agentmain throws", "0\n102\n", false, true, 102 },
	{ "11-27 OK", "0\nreturn code: 0\n", true, true, 0 },
	{ "11-27 OnAttach -7", "0\nreturn code: -7\n", false, true, -7 },
	{ "11-27 bad jar", "0\nreturn code: 100\n", false, true, 100 },
	{ "11, 17 missing", "-1\n" MISSING, false, false, 0 },
	{ "21-27 missing", "0\n" MISSING, false, false, 0 },
	{ "11, 17 no OnAttach", "-1\nAgent_OnAttach is not available in /x.so\n", false, false, 0 },
	{ "21-27 no OnAttach", "0\nAgent_OnAttach is not available in /x.so\n", false, false, 0 },
	{ "11, 17 forbidden", "-1\n" NOT_ENABLED, false, false, 0 },
	{ "21-27 forbidden", "0\n" NOT_ENABLED "\n", false, false, 0 },
	{ "a path that begins with a digit", "0\n0 was not loaded.\n", false, false, 0 },
	{ "refused, with a number", "-1\n0\n", false, false, 0 },
};

static struct load_result load_of(const char *reply, size_t len)
{
	int status;
	ssize_t at = attach_protocol_status(reply, len, &status);

	ck_assert_int_ge(at, 0);
	return attach_protocol_load(status, reply + at, len - (size_t)at);
}

START_TEST(load_reply_of_each_jdk_is_parsed)
{
	for (size_t i = 0; i < ARRAY_SIZE(load_replies); i++) {
		const struct load_reply *r = &load_replies[i];
		struct load_result got = load_of(r->reply, strlen(r->reply));

		ck_assert_msg(got.loaded == r->loaded, "%s: loaded", r->jdks);
		ck_assert_msg(got.has_code == r->has_code, "%s: has_code", r->jdks);
		ck_assert_msg(!r->has_code || got.code == r->code, "%s: code", r->jdks);
	}
}
END_TEST

/* Copies into an allocation of exactly `len` bytes, so that ASan detects a read past the end. */
static char *cut(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	return copy;
}

/* A truncated reply counts as a success only if it contains the complete return code. */
START_TEST(load_reply_without_its_complete_code_is_not_a_success)
{
	for (size_t i = 0; i < ARRAY_SIZE(load_replies); i++) {
		const char *reply = load_replies[i].reply;

		for (size_t len = 0; len < strlen(reply); len++) {
			_cleanup_free_ char *part = cut(reply, len);
			int code;
			ssize_t at = attach_protocol_status(part, len, &code);
			struct load_result got;

			if (at < 0) {
				ck_assert_ptr_null(memchr(part, '\n', len));
				continue;
			}
			got = attach_protocol_load(code, part + at, len - (size_t)at);
			if (got.loaded)
				ck_assert_msg(part[len - 1] == '0', "%.*s", (int)len, part);
			(void)attach_protocol_version(part, len);
		}
	}
}
END_TEST

START_TEST(version_reply_cut_at_any_length_is_parsed)
{
	static const char reply[] = "0\n2 streaming";

	for (size_t len = 0; len < sizeof(reply); len++) {
		_cleanup_free_ char *part = cut(reply, len);
		struct attach_version v = attach_protocol_version(part, len);

		ck_assert_int_eq(v.version, len >= 3 ? 2 : 1);
		ck_assert_int_eq(v.streaming, len == sizeof(reply) - 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attach/protocol");
	TCase *tc = tcase_create("attach/protocol");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, version_1_request_always_has_three_arguments);
	tcase_add_test(tc, version_2_request_begins_with_the_length_of_the_rest);
	tcase_add_test(tc, version_1_error_names_the_exceeded_limit);
	tcase_add_test(tc, version_2_error_names_the_exceeded_limit);
	tcase_add_test(tc, status_is_parsed_from_the_first_line);
	tcase_add_test(tc, version_reply_of_each_jdk_is_parsed);
	tcase_add_test(tc, load_reply_of_each_jdk_is_parsed);
	tcase_add_test(tc, load_reply_without_its_complete_code_is_not_a_success);
	tcase_add_test(tc, version_reply_cut_at_any_length_is_parsed);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
