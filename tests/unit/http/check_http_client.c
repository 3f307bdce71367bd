/* A connection of the server: the response that a client receives. */
#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http_client.h"

/* The text of an error is sent completely, however long it is. */
START_TEST(reason_of_a_failure_is_sent_completely)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\n\r\n";
	struct http_client c = { .fd = -1 };
	char answer[4096] = "", *body;
	struct err err;
	int socks[2];

	memset(err.text, 'x', sizeof(err.text) - 1);
	err.text[sizeof(err.text) - 1] = '\0';
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, socks), 0);
	ck_assert_int_eq((int)write(socks[1], request, sizeof(request) - 1),
			 (int)sizeof(request) - 1);
	http_client_open(&c, socks[0]);
	http_client_progress(&c);
	ck_assert_int_eq(c.state, HTTP_CLIENT_WAITING);
	http_client_answer(&c, NULL, err.text);
	http_client_progress(&c);
	ck_assert_int_gt((int)read(socks[1], answer, sizeof(answer) - 1), 0);
	ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 503 "));
	ck_assert_ptr_nonnull(strstr(answer, "\r\nContent-Length: 1024\r\n"));
	body = strstr(answer, "\r\n\r\n");
	ck_assert_ptr_nonnull(body);
	ck_assert_uint_eq(strlen(body + 4), strlen(err.text) + 1);
	http_client_close(&c);
	(void)close(socks[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http/http_client");
	TCase *tc = tcase_create("http/http_client");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, reason_of_a_failure_is_sent_completely);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
