#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_request.h"

#define PROMETHEUS                                                                             \
	"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9404\r\nUser-Agent: Prometheus/2.42.0\r\n"   \
	"Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;"     \
	"version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n"                    \
	"Accept-Encoding: gzip\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n"

/* Parses a copy of exact size, so that ASan detects a read past its end. */
static int parse(const char *text, size_t len, struct http_request *r)
{
	static char *copy;

	free(copy);
	copy = malloc(len + 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	return http_request_parse(copy, len, r);
}

START_TEST(request_of_prometheus_is_understood)
{
	struct http_request r;

	ck_assert_int_eq(parse(PROMETHEUS, strlen(PROMETHEUS), &r), 1);
	ck_assert_int_eq(r.method, HTTP_GET);
	ck_assert(http_request_is_for(&r, "/metrics"));
	ck_assert(!http_request_is_for(&r, "/metric"));
	ck_assert(!http_request_is_for(&r, "/"));
	ck_assert(r.accepts_openmetrics);
}
END_TEST

START_TEST(request_cut_at_any_byte_is_incomplete)
{
	struct http_request r;

	for (size_t len = 0; len < strlen(PROMETHEUS); len++)
		ck_assert_int_eq(parse(PROMETHEUS, len, &r), 0);
}
END_TEST

START_TEST(method_path_and_accept_are_parsed)
{
	static const struct {
		const char *text;
		enum http_method method;
		const char *path;
		bool openmetrics;
	} cases[] = {
		{ "GET / HTTP/1.0\n\n", HTTP_GET, "/", false },
		{ "HEAD /metrics HTTP/1.1\r\n\r\n", HTTP_HEAD, "/metrics", false },
		{ "POST /metrics HTTP/1.1\r\n\r\nbody", HTTP_OTHER, "/metrics", false },
		{ "get /metrics HTTP/1.1\r\n\r\n", HTTP_OTHER, "/metrics", false },
		{ "GET /metrics?name[]=a/b HTTP/1.1\r\n\r\n", HTTP_GET, "/metrics", false },
		{ "GET / HTTP/1.1\r\nACCEPT:text/plain,APPLICATION/openmetrics-text\r\n\r\n",
		  HTTP_GET, "/", true },
		{ "GET / HTTP/1.1\r\nX-Accept: application/openmetrics-text\r\n\r\n", HTTP_GET,
		  "/", false },
		{ "GET / HTTP/1.1\r\nX:\ta\xc3\xa4\r\n\r\n", HTTP_GET, "/", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_request r;

		ck_assert_int_eq(parse(cases[i].text, strlen(cases[i].text), &r), 1);
		ck_assert_int_eq(r.method, cases[i].method);
		ck_assert_msg(http_request_is_for(&r, cases[i].path), "%s", cases[i].text);
		ck_assert_int_eq(r.accepts_openmetrics, cases[i].openmetrics);
	}
}
END_TEST

START_TEST(malformed_requests_are_rejected)
{
	static const char *const cases[] = {
		"\r\n\r\n", " GET / HTTP/1.1\r\n", "GET\r\n", "GET /\r\n", "GET / \r\n",
		"GET / HTTP/2.0\r\n", "GET / HTTP/1.1 \r\n", "GET  / HTTP/1.1\r\n",
		"GET metrics HTTP/1.1\r\n", "GET http://a/metrics HTTP/1.1\r\n",
		"GET / HTTP/1.1\r\nno field\r\n", "GET / HTTP/1.1\r\n: x\r\n",
		"GET / HTTP/1.1\r\nX: \x01\r\n", "GET /\x1b[2J HTTP/1.1\r\n", "\x16\x03\x01\n",
	};
	struct http_request r;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(parse(cases[i], strlen(cases[i]), &r) == -EBADMSG, "%s", cases[i]);
	ck_assert_int_eq(parse("GET /\0 HTTP/1.1\r\n", 17, &r), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http/http_request");
	TCase *tc = tcase_create("http/http_request");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, request_of_prometheus_is_understood);
	tcase_add_test(tc, request_cut_at_any_byte_is_incomplete);
	tcase_add_test(tc, method_path_and_accept_are_parsed);
	tcase_add_test(tc, malformed_requests_are_rejected);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
