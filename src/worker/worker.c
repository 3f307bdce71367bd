#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fileio/child.h"
#include "fileio/detached_child.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "fileio/pass_fd.h"
#include "sandbox/sandbox.h"

#define CHUNK 65536
#define KEEP_MAX 8
#define STARVED_STEP_MS 50
#define REQUEST_MAX (64u << 20)

enum { ANSWER, FAILED, STEP }; /* kinds of messages that a worker sends to worker_call() */

/* Precedes each message on the socket. */
struct head {
	uint32_t len;
	uint32_t what;
};

/*
 * Precedes each request.  The worker is a fork of the caller, so fn() has the same address in the
 * worker.
 */
struct request {
	worker_fn *fn;
	size_t len;
};

int worker_send(int sock, uint32_t what, const struct buf *data, int fd)
{
	struct head head = { (uint32_t)data->len, what };
	int rc;

	if (data->len > UINT32_MAX)
		return -EMSGSIZE;
	rc = pass_fd_send(sock, &head, sizeof(head), fd);
	return rc < 0 ? rc : io_write_all(sock, data->data, data->len, DEADLINE_NEVER);
}

ssize_t worker_parse(const struct buf *in, size_t max, struct worker_message *m)
{
	struct head head;

	if (in->len < sizeof(head))
		return 0;
	memcpy(&head, in->data, sizeof(head));
	if (head.len > max)
		return -EFBIG;
	if (in->len - sizeof(head) < head.len)
		return 0;
	*m = (struct worker_message){ head.what, in->data + sizeof(head), head.len };
	return (ssize_t)(sizeof(head) + head.len);
}

void worker_skip(struct buf *in, size_t len)
{
	if (len == 0)
		return;
	in->len -= len;
	memmove(in->data, in->data + len, in->len);
}

ssize_t worker_receive(struct worker *w)
{
	union pass_fd_room passed;
	struct iovec iov = { buf_reserve(&w->in, CHUNK), CHUNK };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &passed,
		.msg_controllen = sizeof(passed),
	};
	ssize_t n;

	do
		n = recvmsg(w->sock, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	pass_fd_take(&msg, &w->fd);
	w->in.len += (size_t)n;
	return n;
}

bool worker_is_blocked(pid_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[32], text[512];
	struct stat st;
	const char *name_end;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = file_open_regular(AT_FDCWD, path, 0, &st);
	n = fd < 0 ? -1 : io_read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return true;
	text[n] = '\0';
	name_end = strrchr(text, ')');
	return !name_end || strncmp(name_end, ") R", 3) != 0;
}

pid_t worker_fork(int *sock, const int *keep, size_t n_keep)
{
	int ends[2], kept[KEEP_MAX];
	pid_t parent = getpid(), pid;

	if (n_keep >= KEEP_MAX)
		return -E2BIG;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	kept[0] = ends[1];
	for (size_t i = 0; i < n_keep; i++)
		kept[i + 1] = keep[i];
	pid = detached_child_fork(kept, n_keep + 1);
	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(0);
		*sock = ends[1];
		return 0;
	}
	(void)close(ends[1]);
	if (pid < 0)
		(void)close(ends[0]);
	else
		*sock = ends[0];
	return pid;
}

void worker_confine(void)
{
	/* If the kernel has no seccomp filters, this fails, and the worker has no sandbox. */
	(void)!sandbox_enter(SANDBOX_INSPECT);
}

static int worker_sock = -1; /* in a worker: its end of the socket; -1: not a worker */

static void send_step(const char *text)
{
	struct buf data = { (char *)text, strlen(text), 0 };

	if (worker_send(worker_sock, STEP, &data, -1) < 0)
		_exit(0); /* the parent has ended, or has given up this worker */
}

static int serve_one(const struct request *r)
{
	_cleanup_buf_ struct buf request = BUF_INIT, answer = BUF_INIT;
	_cleanup_close_ int fd = -1;
	struct err err = { .code = EXIT_DONE };

	if (r->len > REQUEST_MAX)
		return -EFBIG;
	if (io_read_full(worker_sock, buf_reserve(&request, r->len), r->len) != (ssize_t)r->len)
		return -EPIPE;
	request.len = r->len;
	request.data[r->len] = '\0';
	if (r->fn(&request, &answer, &fd, &err) == 0)
		return worker_send(worker_sock, ANSWER, &answer, fd);
	buf_reset(&answer);
	buf_add(&answer, &err.code, sizeof(err.code));
	buf_adds(&answer, err.text);
	return worker_send(worker_sock, FAILED, &answer, -1);
}

static void _noreturn_ serve(void)
{
	struct request r;

	verbose_divert(send_step);
	while (io_read_full(worker_sock, &r, sizeof(r)) == sizeof(r) && serve_one(&r) == 0)
		;
	_exit(0);
}

int worker_start(struct worker *w, const int *keep, size_t n_keep)
{
	int sock = -1;
	pid_t pid;

	if (w->pid > 0)
		return 0;
	pid = worker_fork(&sock, keep, n_keep);
	if (pid == 0) {
		worker_sock = sock;
		serve();
	}
	if (pid < 0)
		return (int)pid;
	w->pid = pid;
	w->sock = sock;
	return 0;
}

void worker_end(struct worker *w)
{
	if (w->pid > 0) {
		(void)close(w->sock);
		child_kill(w->pid);
	}
	util_close_p(&w->fd);
	buf_release(&w->in);
	*w = (struct worker)WORKER_INIT;
}

static int send_request(const struct worker *w, const struct worker_call *call)
{
	const struct request r = { call->fn, call->request ? call->request->len : 0 };
	int rc = io_write_all(w->sock, &r, sizeof(r), call->deadline);

	if (rc == 0 && r.len > 0)
		rc = io_write_all(w->sock, call->request->data, r.len, call->deadline);
	return rc;
}

/*
 * Waits until data has arrived from the worker.  Returns 0; -ETIMEDOUT if the worker has missed the
 * deadline and is blocked; or another negative errno.
 */
static int wait_message(const struct worker *w, struct deadline d)
{
	const struct deadline last = {
		d.at_ns > INT64_MAX / 2 ? d.at_ns : d.at_ns + WORKER_STARVED_MS * INT64_C(1000000)
	};
	int rc = io_wait(w->sock, POLLIN, d);

	while (rc == -ETIMEDOUT && !deadline_passed(last) && !worker_is_blocked(w->pid))
		rc = io_wait(w->sock, POLLIN, deadline_in_ms(STARVED_STEP_MS));
	return rc;
}

static int failed(const struct worker_message *m, struct err *err)
{
	enum exit_code code;

	if (m->len < sizeof(code))
		return -EBADMSG;
	memcpy(&code, m->data, sizeof(code));
	if ((int)code <= EXIT_DONE || (int)code > EXIT_PARTIAL)
		return -EBADMSG;
	(void)err_set(err, code, "%.*s", (int)(m->len - sizeof(code)), m->data + sizeof(code));
	return 1;
}

/*
 * Processes a message.  Returns 0 if the message is the answer; 1 with err set if it is an error; 2
 * if it is a step for --verbose; or -EBADMSG if it is malformed.
 */
static int take_message(const struct worker_call *call, const struct worker_message *m,
			struct buf *answer, struct err *err)
{
	switch (m->what) {
	case ANSWER:
		buf_add(answer, m->data, m->len);
		return 0;
	case FAILED:
		return failed(m, err);
	case STEP:
		verbose_step(call->steps, "%.*s", (int)m->len, m->data);
		return 2;
	default:
		return -EBADMSG;
	}
}

static int receive_answer(struct worker *w, const struct worker_call *call, struct buf *answer,
			  struct err *err)
{
	struct worker_message m;
	ssize_t n;
	int rc = 2;

	while (rc == 2) {
		n = worker_parse(&w->in, call->max + sizeof(struct err), &m);
		if (n < 0)
			return (int)n;
		if (n > 0) {
			rc = take_message(call, &m, answer, err);
			worker_skip(&w->in, (size_t)n);
			continue;
		}
		n = wait_message(w, call->deadline);
		if (n == 0)
			n = worker_receive(w);
		if (n <= 0)
			return n == 0 ? -EPIPE : (int)n;
	}
	return rc;
}

int worker_call(struct worker *w, const struct worker_call *call, struct buf *answer, int *fd,
		struct err *err)
{
	int rc = send_request(w, call);

	if (rc == 0)
		rc = receive_answer(w, call, answer, err);
	if (rc < 0) {
		worker_end(w);
		return rc == -ECONNRESET ? -EPIPE : rc;
	}
	if (fd)
		*fd = TAKE_FD(w->fd);
	return rc;
}

int worker_run(const struct worker_call *call, const int *keep, size_t n_keep, struct buf *answer,
	       int *fd, struct err *err)
{
	static const struct buf empty = BUF_INIT;
	struct worker w = WORKER_INIT;
	int none = -1, rc;

	if (call->here)
		return call->fn(call->request ? call->request : &empty, answer, fd ? fd : &none,
				err) < 0;
	rc = worker_start(&w, keep, n_keep);
	if (rc == 0)
		rc = worker_call(&w, call, answer, fd, err);
	worker_end(&w);
	return rc;
}
