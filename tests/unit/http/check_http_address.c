#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/http_address.h"

START_TEST(addresses_are_parsed)
{
	static const struct {
		const char *text, *shown; /* NULL: invalid */
	} cases[] = {
		{ "127.0.0.1:9404", "127.0.0.1:9404" },
		{ "0.0.0.0:0", "0.0.0.0:0" },
		{ "localhost:80", "127.0.0.1:80" },
		{ ":9404", "[::]:9404" },
		{ "[::1]:65535", "[::1]:65535" },
		{ "[fe80::1]:1", "[fe80::1]:1" },
		{ "", NULL }, { ":", NULL }, { "9404", NULL }, { "127.0.0.1", NULL },
		{ "127.0.0.1:", NULL }, { "127.0.0.1:65536", NULL }, { "127.0.0.1:-1", NULL },
		{ "127.0.0.1:80x", NULL }, { "127.0.0.1: 80", NULL }, { "127.1:80", NULL },
		{ "::1:80", NULL }, { "[::1:80", NULL }, { "[::1]80", NULL }, { "[]:80", NULL },
		{ "[127.0.0.1]:80", NULL }, { "[:80", NULL }, { "metrics.example:80", NULL },
		{ "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sockaddr_storage address;
		char text[HTTP_ADDRESS_MAX];
		int rc = http_address_parse(cases[i].text, &address);

		ck_assert_msg((rc > 0) == (cases[i].shown != NULL), "%s", cases[i].text);
		if (rc < 0)
			continue;
		http_address_text(&address, text);
		ck_assert_str_eq(text, cases[i].shown);
	}
}
END_TEST

START_TEST(port_in_use_is_reported)
{
	struct err err = { .code = EXIT_DONE };
	struct sockaddr_storage address;
	char text[HTTP_ADDRESS_MAX];
	int fd = http_address_listen("127.0.0.1:0", &address, &err);

	ck_assert_int_ge(fd, 0);
	http_address_text(&address, text);
	ck_assert_str_ne(text, "127.0.0.1:0");
	ck_assert_int_eq(http_address_listen(text, &address, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(err.text, "Address already in use"));
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

static int saved = -1; /* copy of descriptor 3, which Check may use; -1: not copied yet */

static void restore_3(void)
{
	ck_assert_int_eq(dup2(saved, 3), 3);
}

/* Passes `fd` as descriptor 3, and sets LISTEN_PID and LISTEN_FDS, as systemd does. */
static void pass(int fd, const char *count)
{
	char pid[16];

	if (saved < 0)
		saved = fcntl(3, F_DUPFD_CLOEXEC, 20);
	if (saved < 0 || dup2(fd, 3) != 3)
		abort(); /* no message: Check may write it to descriptor 3 */
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	(void)setenv("LISTEN_PID", pid, 1); /* fails only without memory */
	(void)setenv("LISTEN_FDS", count, 1);
}

START_TEST(passed_sockets_are_taken)
{
	struct err err = { .code = EXIT_DONE };
	struct sockaddr_storage address;
	int fds[2], fd = fcntl(http_address_listen("127.0.0.1:0", &address, &err), F_DUPFD, 10);
	bool is_ready;
	int n, others;

	ck_assert_int_ge(fd, 10);
	pass(fd, "1");
	n = http_address_inherit(fds, 2, &err);
	is_ready = (fcntl(3, F_GETFL) & O_NONBLOCK) != 0 && (fcntl(3, F_GETFD) & FD_CLOEXEC) != 0;
	(void)setenv("LISTEN_PID", "1", 1);
	others = http_address_inherit(fds, 2, &err);
	restore_3();
	ck_assert_int_eq(n, 1);
	ck_assert_int_eq(fds[0], 3);
	ck_assert(is_ready);
	ck_assert_int_eq(others, 0);
}
END_TEST

START_TEST(other_descriptors_are_rejected)
{
	struct err one = { .code = EXIT_DONE }, many = one;
	int ends[2], fds[2], rc[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pass(ends[1], "1");
	rc[0] = http_address_inherit(fds, 2, &one);
	pass(ends[1], "3");
	rc[1] = http_address_inherit(fds, 2, &many);
	restore_3();
	ck_assert_int_eq(rc[0], -1);
	ck_assert_ptr_nonnull(strstr(one.text, "descriptor 3 is not a listening"));
	ck_assert_int_eq(rc[1], -1);
	ck_assert_ptr_nonnull(strstr(many.text, "expected 1 to 2"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http/http_address");
	TCase *tc = tcase_create("http/http_address");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, addresses_are_parsed);
	tcase_add_test(tc, port_in_use_is_reported);
	tcase_add_test(tc, passed_sockets_are_taken);
	tcase_add_test(tc, other_descriptors_are_rejected);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
