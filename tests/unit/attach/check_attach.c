/*
 * The version of the attach protocol that a request has.  The target is a child process with the
 * attach socket of a JVM: it answers each request and reports its version and operation.
 */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "attach/attach.h"
#include "fileio/io.h"
#include "proc/procfs.h"
#include "unit/support/shell.h"

#define NOT_STREAMED " streaming=0"

/* How the target answers */
struct target {
	const char *version; /* the answer to getversion */
	const char *answer;  /* the answer to other operations */
	bool only_v1;        /* refuses requests of version 2 */
};

static const struct target newest = { .version = "0\n2 streaming\n", .answer = "0\nright\n" };

static struct jvm jvm;
static int report[2]; /* pipe from the target: a line for each request */

/*
 * Returns true if `data` is a complete request: version 1 has five strings, version 2 a length.  A
 * zero may precede the 2.
 */
static bool is_complete(const char *data, size_t len)
{
	size_t nuls = 0, head = strlen(data) + 1, rest;

	for (size_t i = 0; i < len; i++)
		nuls += data[i] == '\0';
	if (strtoul(data, NULL, 10) != 2)
		return nuls >= 5;
	rest = head + strlen(data + head) + 1;
	return nuls > 1 && len >= rest + strtoul(data + head, NULL, 10);
}

static void answer_request(const struct target *t, int sock)
{
	char data[1000] = "";
	const char *version = data, *op, *reply;
	size_t len = 0;

	while (!is_complete(data, len)) {
		ssize_t n = recv(sock, data + len, sizeof(data) - 1 - len, 0);

		if (n <= 0)
			_exit(1);
		len += (size_t)n;
	}
	version += *version == '0';
	op = version + strlen(version) + 1;
	if (*version == '2')
		op += strlen(op) + 1; /* skip the length */
	reply = strncmp(op, "getversion", 10) == 0 ? t->version : t->answer;
	if (*version == '2' && t->only_v1)
		reply = "101\n";
	if (dprintf(report[1], "%s %s\n", version, op) < 0 ||
	    send(sock, reply, strlen(reply), 0) < 0)
		_exit(1);
}

static void _noreturn_ be_target(const struct target *t)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/.java_pid%d", dir, (int)getpid());
	(void)umask(077);
	if (bind(listener, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(listener, 4) < 0 ||
	    write(report[1], "r", 1) != 1)
		_exit(1);
	for (;;) {
		int sock = accept(listener, NULL, NULL);

		answer_request(t, sock);
		(void)close(sock);
	}
}

static void start(const struct target *t)
{
	struct proc_status status;
	struct procfs proc;
	char ready;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(pipe(report), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		be_target(t);
	ck_assert_int_eq(io_read_exact(report[0], &ready, 1, deadline_in_ms(30000)), 0);
	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&proc, pid, &status), 0);
	procfs_close(&proc);
	jvm = (struct jvm){
		.pid = pid, .nspid = pid, .uid = geteuid(), .gid = getegid(),
		.start_ticks = status.start_ticks, .tmp = dir, .has_perfdata = true,
	};
}

static void end(void)
{
	(void)kill(jvm.pid, SIGKILL);
	(void)waitpid(jvm.pid, NULL, 0);
	(void)close(report[0]);
	(void)close(report[1]);
	shell("rm .java*");
	ck_assert_int_eq(rmdir(dir), 0);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

static int execute(struct attach_reply *reply, struct err *err)
{
	static const char *const args[] = { "VM.version" };
	static const struct attach_request request = { "jcmd", args, 1 };
	const struct attach_opts opts = { .timeout_ms = 30000 };

	*err = (struct err){ .code = EXIT_DONE };
	return attach_execute(&jvm, &opts, &request, reply, err);
}

/* Executes a request with success, and checks which requests the target receives. */
static void expect(const char *requests)
{
	struct attach_reply reply;
	_cleanup_buf_ struct buf text = BUF_INIT;
	char seen[200] = "";
	struct err err;

	ck_assert_msg(execute(&reply, &err) == 0, "%s", err.text);
	ck_assert_int_eq(reply.code, 0);
	ck_assert_int_eq(spool_text(&reply.output, &text, 100), 0);
	ck_assert_str_eq(buf_str(&text), "right\n");
	attach_reply_release(&reply);
	ck_assert_int_gt(read(report[0], seen, sizeof(seen) - 1), 0);
	ck_assert_str_eq(seen, requests);
}

#define V1 "1 jcmd\n"
#define V2 "2 jcmd\n"
#define V2_NOT_STREAMED "2 jcmd" NOT_STREAMED "\n"
#define ASKED "1 getversion\n"

static int refuse(void *calls, struct err *err)
{
	++*(int *)calls;
	return err_set(err, EXIT_AGENT, "the file has gone");
}

START_TEST(request_that_is_not_confirmed_is_not_sent)
{
	static const struct attach_request request = { "load", NULL, 0 };
	int calls = 0;
	const struct attach_opts opts = {
		.timeout_ms = 30000, .confirm = refuse, .confirm_arg = &calls
	};
	struct pollfd pfd = { .events = POLLIN };
	struct err err = { .code = EXIT_DONE };
	struct attach_reply reply;

	start(&newest);
	jvm.version = (char *)"17";
	ck_assert_int_eq(attach_execute(&jvm, &opts, &request, &reply, &err), -1);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(err.code, EXIT_AGENT);
	ck_assert_str_eq(err.text, "the file has gone");
	pfd.fd = report[0];
	ck_assert_int_eq(poll(&pfd, 1, 100), 0);
	end();
}
END_TEST

/* The JVM is asked for its version only if its release does not imply the version. */
START_TEST(release_implies_the_version)
{
	static const struct {
		const char *version, *flags;
		bool no_perfdata;
		const char *requests;
	} jvms[] = {
		{ "1.8.0_392", NULL, false, V1 },
		{ "23.0.1", NULL, true, V1 },
		{ "24", NULL, false, ASKED V2_NOT_STREAMED },
		{ "25", NULL, false, V2_NOT_STREAMED },
		{ "25", "-Xmx64m -Da=b", false, V2_NOT_STREAMED },
		{ "25", "-Djdk.attach.compat=true", false, ASKED V2_NOT_STREAMED },
		{ "25", NULL, true, ASKED V2_NOT_STREAMED },
		{ NULL, NULL, false, ASKED V2_NOT_STREAMED },
	};

	start(&newest);
	for (size_t i = 0; i < ARRAY_SIZE(jvms); i++) {
		jvm.version = (char *)jvms[i].version;
		jvm.flags = (char *)jvms[i].flags;
		jvm.has_perfdata = !jvms[i].no_perfdata;
		expect(jvms[i].requests);
	}
	end();
}
END_TEST

START_TEST(answer_to_getversion_is_followed)
{
	static const struct {
		const char *version, *requests;
	} answers[] = {
		{ "0\n1\n", ASKED V1 },
		{ "0\n2\n", ASKED V2 },
		{ "0\n2 options streaming\n", ASKED V2_NOT_STREAMED },
		{ "1\nOperation getversion not recognized!", ASKED V1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct target t = newest;

		t.version = answers[i].version;
		start(&t);
		expect(answers[i].requests);
		end();
	}
}
END_TEST

START_TEST(refused_version_is_asked_for)
{
	const struct target t = { .version = "0\n1\n", .answer = "0\nright\n", .only_v1 = true };

	start(&t);
	jvm.version = (char *)"25";
	expect(V2_NOT_STREAMED ASKED V1);
	end();
}
END_TEST

START_TEST(code_of_the_reply_is_returned)
{
	const struct target t = { .answer = "-7\n" };
	struct attach_reply reply;
	struct err err;

	start(&t);
	jvm.version = (char *)"17";
	ck_assert_int_eq(execute(&reply, &err), 0);
	ck_assert_int_eq(reply.code, -7);
	attach_reply_release(&reply);
	end();
}
END_TEST

START_TEST(reply_without_a_code_is_an_error)
{
	const struct target t = { .answer = "right\n" };
	struct attach_reply reply;
	struct err err;

	start(&t);
	jvm.version = (char *)"17";
	ck_assert_int_eq(execute(&reply, &err), -1);
	ck_assert_int_eq(err.code, EXIT_ATTACH);
	ck_assert_msg(strstr(err.text, "sent an invalid reply 'right") != NULL, "%s", err.text);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attach/attach");
	TCase *tc = tcase_create("attach/attach");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, request_that_is_not_confirmed_is_not_sent);
	tcase_add_test(tc, release_implies_the_version);
	tcase_add_test(tc, answer_to_getversion_is_followed);
	tcase_add_test(tc, refused_version_is_asked_for);
	tcase_add_test(tc, code_of_the_reply_is_returned);
	tcase_add_test(tc, reply_without_a_code_is_an_error);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
