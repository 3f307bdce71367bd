/* session/channel: who may connect, and what may be said. */
#include <check.h>
#include <errno.h>
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

/* Who connects: the right process or a stranger, with the right words or others. */
struct caller {
	bool right_pid;
	const char *token; /* NULL: the right one */
	uint16_t type;
	int result;
};
static const struct caller callers[] = {
	{ true, NULL, WIRE_HELLO, 0 },
	{ true, NULL, WIRE_GONE, -ETIMEDOUT },
	{ true, "0123456789abcdef0123456789abcdeX", WIRE_HELLO, -ETIMEDOUT },
	{ true, "", WIRE_HELLO, -ETIMEDOUT },
	{ false, NULL, WIRE_HELLO, -ETIMEDOUT },
};

static void say_hello(int fd, const char *token, uint16_t type)
{
	uint8_t data[128];
	struct wire_writer w =
		wire_writer_init(data + WIRE_HEADER_LEN, sizeof(data) - WIRE_HEADER_LEN);

	wire_put_text(&w, token, strlen(token));
	wire_header_write(data, type, (uint32_t)w.len);
	ck_assert_int_eq(io_write_all(fd, data, WIRE_HEADER_LEN + w.len, deadline_in_ms(1000)), 0);
}

START_TEST(accepts_only_the_target)
{
	const struct caller *caller = &callers[_i];
	const struct jvm self = { .pid = caller->right_pid ? getpid() : getppid() };
	struct ns ns = { .jvm = &self, .pid_fd = -1 };
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
	say_hello(fd, caller->token ? caller->token : token, caller->type);
	ck_assert_int_eq(channel_accept(&channel, listener, token, deadline_in_ms(100)),
			 caller->result);
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

START_TEST(receives_frames)
{
	const struct jvm self = { .pid = getpid() };
	struct ns ns = { .jvm = &self, .pid_fd = -1 };
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

/* As discover would describe it. */
static void describe(pid_t pid, struct jvm *jvm)
{
	struct procfs proc;
	struct proc_status status;

	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	*jvm = (struct jvm){ .pid = pid, .start_ticks = status.start_ticks };
}

/* Nobody says anything, and the target goes: no deadline is needed to see it. */
START_TEST(sees_the_target_go)
{
	struct jvm target;
	struct ns ns;
	struct err err = { .code = EXIT_DONE };
	struct channel channel = CHANNEL_INIT(&ns);
	struct deadline soon = deadline_in_ms(20);
	struct wire_reader payload;
	uint16_t type;
	int pair[2];

	describe(fork_target(), &target);
	ck_assert_int_eq(ns_open(&target, &ns, &err), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	channel.fd = pair[0];
	ck_assert_int_eq(channel_receive(&channel, &soon, &type, &payload), -ETIMEDOUT);
	ck_assert_int_eq(kill(target.pid, SIGKILL), 0);
	ck_assert_int_eq(channel_receive(&channel, NULL, &type, &payload), -ESRCH);
	channel_release(&channel);
	ck_assert_int_eq(waitpid(target.pid, NULL, 0), target.pid);
	(void)close(pair[1]);
	ns_close(&ns);
}
END_TEST

/* What it said before it went is still there to be received. */
START_TEST(waits_for_what_comes)
{
	struct jvm target;
	struct ns ns;
	struct err err = { .code = EXIT_DONE };
	struct channel channel = CHANNEL_INIT(&ns);
	struct deadline soon = deadline_in_ms(20);
	int pair[2];
	char c;

	describe(fork_target(), &target);
	ck_assert_int_eq(ns_open(&target, &ns, &err), 0);
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
	ns_close(&ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("channel");
	TCase *tc = tcase_create("channel");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, accepts_only_the_target, 0, ARRAY_SIZE(callers));
	tcase_add_loop_test(tc, receives_frames, 0, ARRAY_SIZE(streams));
	tcase_add_test(tc, sees_the_target_go);
	tcase_add_test(tc, waits_for_what_comes);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
