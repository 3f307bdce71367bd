/* The channel accepts only the target, and only valid frames. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "session/channel.h"

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* A process that connects: it is the target or not; its token and frame type are right or wrong. */
struct peer {
	bool right_pid;
	const char *token; /* NULL: the right token */
	uint16_t type; /* of its first frame */
	int result;    /* expected: 0 or a negative errno */
};
static const struct peer peers[] = {
	{ true, NULL, WIRE_HELLO, 0 },
	{ true, NULL, WIRE_GONE, -ETIMEDOUT },
	{ true, "0123456789abcdef0123456789abcdeX", WIRE_HELLO, -ETIMEDOUT },
	{ true, "", WIRE_HELLO, -ETIMEDOUT },
	{ false, NULL, WIRE_HELLO, -ETIMEDOUT },
};

static void send_hello(int fd, const char *token, uint16_t type)
{
	uint8_t data[128];
	struct wire_writer w =
		wire_writer_init(data + WIRE_HEADER_LEN, sizeof(data) - WIRE_HEADER_LEN);

	wire_put_text(&w, token, strlen(token));
	wire_header_write(data, type, (uint32_t)w.len);
	ck_assert_int_eq(io_write_all(fd, data, WIRE_HEADER_LEN + w.len, deadline_in_ms(1000)), 0);
}

START_TEST(only_the_target_with_its_token_is_accepted)
{
	const struct peer *peer = &peers[_i];
	const struct jvm self = { .pid = peer->right_pid ? getpid() : getppid() };
	struct target_ns ns = { .jvm = &self, .pid_fd = -1 };
	struct channel channel = CHANNEL_INIT(&ns);
	char token[WIRE_TOKEN_LEN + 1];
	_cleanup_close_ int listener = new_socket(), fd = new_socket();
	struct sockaddr_un sa = { .sun_family = AF_UNIX }; /* autobind: an abstract name */
	socklen_t len = sizeof(sa.sun_family);

	channel_new_token(token);
	ck_assert_uint_eq(strspn(token, "0123456789abcdef"), WIRE_TOKEN_LEN);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&sa, len), 0);
	len = sizeof(sa);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&sa, &len), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sa, len), 0);
	send_hello(fd, peer->token ? peer->token : token, peer->type);
	ck_assert_int_eq(channel_accept(&channel, listener, token, deadline_in_ms(100)),
			 peer->result);
	channel_release(&channel);
}
END_TEST

/*
 * Connections of the target that send an incomplete frame, each of which takes frame_ms, do not
 * prolong the wait: after the deadline, no further connection is accepted.
 */
START_TEST(waiting_connections_do_not_prolong_the_wait)
{
	const struct jvm self = { .pid = getpid() };
	struct target_ns ns = { .jvm = &self, .pid_fd = -1 };
	struct channel channel = CHANNEL_INIT(&ns);
	_cleanup_close_ int listener = new_socket();
	struct sockaddr_un sa = { .sun_family = AF_UNIX }; /* autobind: an abstract name */
	socklen_t len = sizeof(sa.sun_family);
	int fds[3];

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&sa, len), 0);
	len = sizeof(sa);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&sa, &len), 0);
	ck_assert_int_eq(listen(listener, ARRAY_SIZE(fds)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = new_socket();
		ck_assert_int_eq(connect(fds[i], (struct sockaddr *)&sa, len), 0);
		ck_assert_int_eq(io_write_all(fds[i], "", 1, deadline_in_ms(1000)), 0);
	}
	channel.frame_ms = 100;
	ck_assert_int_eq(channel_accept(&channel, listener, "", deadline_in_ms(50)), -ETIMEDOUT);
	ck_assert_int_eq(io_wait(listener, POLLIN, deadline_in_ms(0)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
	channel_release(&channel);
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
	int result;
} streams[] = {
	{ "\0\0\0\3\1\0\0\3abc", 11, 0 },
	{ "\0\0\0\0\1\0\0\3", 8, 0 },
	{ "\0\0\0\3\1\0\0\3ab", 10, -EPIPE },
	{ "\0\0\0\3\1\0\0", 7, -EPIPE },
	{ "", 0, -EPIPE },
	{ "\0\0\0\0\2\0\0\3", 8, -EBADMSG },
	{ "\377\377\377\377\1\0\0\3", 8, -EBADMSG },
};

START_TEST(frames_are_received_complete_or_refused)
{
	const struct jvm self = { .pid = getpid() };
	struct target_ns ns = { .jvm = &self, .pid_fd = -1 };
	struct channel channel = CHANNEL_INIT(&ns);
	struct wire_reader payload;
	uint16_t type;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	channel.fd = pair[0];
	ck_assert_int_eq(io_write_all(pair[1], streams[_i].bytes, streams[_i].len,
				      deadline_in_ms(1000)), 0);
	(void)close(pair[1]);
	ck_assert_int_eq(channel_receive(&channel, NULL, &type, &payload), streams[_i].result);
	if (streams[_i].result == 0) {
		ck_assert_uint_eq(type, WIRE_GONE);
		ck_assert_uint_eq((size_t)(payload.end - payload.at), streams[_i].len - 8);
	}
	channel_release(&channel);
}
END_TEST

static pid_t fork_target(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	return pid;
}

/* Sets `jvm` to the values that discover would find for the process. */
static void describe(pid_t pid, struct jvm *jvm)
{
	struct procfs proc;
	struct proc_status status;

	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	*jvm = (struct jvm){ .pid = pid, .start_ticks = status.start_ticks };
}

/* If the target exits, channel_receive() returns even if it has no deadline. */
START_TEST(receive_reports_the_exit_of_the_target)
{
	struct jvm target;
	struct target_ns ns;
	struct err err = { .code = EXIT_DONE };
	struct channel channel = CHANNEL_INIT(&ns);
	struct deadline soon = deadline_in_ms(20);
	struct wire_reader payload;
	uint16_t type;
	int pair[2];

	describe(fork_target(), &target);
	ck_assert_int_eq(target_ns_open(&target, &ns, &err), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	channel.fd = pair[0];
	ck_assert_int_eq(channel_receive(&channel, &soon, &type, &payload), -ETIMEDOUT);
	ck_assert_int_eq(kill(target.pid, SIGKILL), 0);
	ck_assert_int_eq(channel_receive(&channel, NULL, &type, &payload), -ESRCH);
	channel_release(&channel);
	ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
	(void)close(pair[1]);
	target_ns_close(&ns);
}
END_TEST

/* Data that the target sent before its exit can still be received. */
START_TEST(wait_returns_pending_data_after_the_target_exited)
{
	struct jvm target;
	struct target_ns ns;
	struct err err = { .code = EXIT_DONE };
	struct channel channel = CHANNEL_INIT(&ns);
	struct deadline soon = deadline_in_ms(20);
	int pair[2];
	char c;

	describe(fork_target(), &target);
	ck_assert_int_eq(target_ns_open(&target, &ns, &err), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	channel.fd = pair[0];
	ck_assert_int_eq(channel_wait(&channel, &soon), -ETIMEDOUT);
	ck_assert_int_eq(channel_wait(&channel, &soon), -ETIMEDOUT);
	ck_assert_int_eq(io_write_all(pair[1], "x", 1, deadline_in_ms(1000)), 0);
	ck_assert_int_eq(channel_wait(&channel, &soon), 0);
	ck_assert_int_eq(kill(target.pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
	ck_assert_int_eq(channel_wait(&channel, NULL), 0);
	ck_assert_int_eq(io_read(pair[0], &c, 1), 1);
	ck_assert_int_eq(channel_wait(&channel, NULL), -ESRCH);
	channel_release(&channel);
	(void)close(pair[1]);
	target_ns_close(&ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session/channel");
	TCase *tc = tcase_create("session/channel");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, only_the_target_with_its_token_is_accepted, 0, ARRAY_SIZE(peers));
	tcase_add_test(tc, waiting_connections_do_not_prolong_the_wait);
	tcase_add_loop_test(tc, frames_are_received_complete_or_refused, 0, ARRAY_SIZE(streams));
	tcase_add_test(tc, receive_reports_the_exit_of_the_target);
	tcase_add_test(tc, wait_returns_pending_data_after_the_target_exited);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
