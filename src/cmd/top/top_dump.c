#include "cmd/top/top_dump.h"

#include <errno.h>
#include <string.h>

#include "cmd/attach_call.h"

#define DUMP_MAX (256u << 20)
#define ERROR_MAX sizeof(((struct err *)NULL)->text)

/* In the worker: requests the dump, and sends its text or the error to the parent. */
static void _noreturn_ request(const struct ctx *ctx, const struct jvm *jvm, int sock)
{
	struct jvm own = *jvm;
	struct ctx mine = *ctx;
	/*
	 * Do not request the owners of java.util.concurrent locks, because the JVM would walk its
	 * heap to find them.
	 */
	const char *args[] = { "" };
	const struct attach_request req = { "threaddump", args, ARRAY_SIZE(args) };
	struct err err = { .code = EXIT_DONE };
	struct buf text = BUF_INIT;

	own.worker = NULL; /* jvm->worker belongs to the parent process */
	mine.jvm = &own;
	if (attach_call_text(&mine, &req, DUMP_MAX, &text, &err) < 0) {
		buf_reset(&text);
		buf_adds(&text, err.text);
	}
	/* Ignore a failure: the parent then gets end of file on the socket. */
	_exit(worker_send(sock, (uint32_t)err.code, &text, -1) < 0);
}

int top_dump_start(struct top_dump *d, const struct ctx *ctx, const struct jvm *jvm,
		   struct err *err)
{
	int sock;
	pid_t pid = worker_fork(&sock, NULL, 0);

	if (pid == 0)
		request(ctx, jvm, sock);
	if (pid < 0)
		return err_not_started(err, EXIT_ATTACH, (int)pid,
				       "the process for the thread dump");
	d->worker.pid = pid;
	d->worker.sock = sock;
	return 0;
}

bool top_dump_is_running(const struct top_dump *d)
{
	return d->worker.pid > 0;
}

int top_dump_fd(const struct top_dump *d)
{
	return d->worker.pid > 0 ? d->worker.sock : -1;
}

static int take_message(const struct worker_message *m, struct buf *text, struct err *err)
{
	if (m->what == EXIT_DONE) {
		buf_add(text, m->data, m->len);
		return 1;
	}
	return err_set(err, m->what <= EXIT_PARTIAL ? (enum exit_code)m->what : EXIT_ATTACH,
		       "%.*s", m->len < ERROR_MAX ? (int)m->len : (int)ERROR_MAX - 1, m->data);
}

int top_dump_take(struct top_dump *d, struct buf *text, struct err *err)
{
	struct worker_message m;
	ssize_t n, len;
	int rc;

	do
		n = worker_receive(&d->worker);
	while (n > 0);
	len = worker_parse(&d->worker.in, DUMP_MAX, &m);
	if (len == 0 && (n == -EAGAIN || n == -EWOULDBLOCK))
		return 0;
	if (len > 0)
		rc = take_message(&m, text, err);
	else
		rc = err_killed(err, EXIT_ATTACH, "requests the thread dump");
	top_dump_end(d);
	return rc;
}

void top_dump_end(struct top_dump *d)
{
	worker_end(&d->worker);
}
