/*
 * A worker is a child process that makes calls that may never return.  A file system that does not
 * answer, such as a FUSE or NFS mount whose server hangs, blocks the calling process inside the
 * kernel, where not even SIGKILL ends the process.  So jtool leaves such calls to a worker, waits
 * for the worker until a deadline, and abandons the worker if it misses the deadline.
 *
 * A worker is a fork of jtool: it runs functions of this program, and has a copy of the memory that
 * the parent had at the fork.  A worker closes stdin, stdout and stderr, so that a reader of
 * jtool's output gets end of file when jtool exits.  If the thread that has started the worker
 * ends, the kernel kills the worker, unless it is blocked.
 *
 * A worker parses a target's hostile files, which may make the worker send a malformed answer.
 * These functions check the length and form of an answer; the caller must check its content.
 */
#ifndef JTOOL_WORKER_WORKER_H
#define JTOOL_WORKER_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/deadline.h"
#include "base/err.h"
#include "base/verbose.h"

#define WORKER_TASK_MS 700 /* a worker that is blocked for this many ms in a task is given up */
/*
 * A worker that misses its deadline, but is not blocked, only waits for a CPU.  Such a worker is
 * given up this many ms after the deadline.
 */
#define WORKER_STARVED_MS 10000

struct worker {
	pid_t pid;     /* process id; 0: not running */
	int sock;      /* jtool's end of the socket; -1: not running */
	struct buf in; /* data that jtool has received and not yet processed */
	int fd;        /* descriptor that jtool has received; -1: none */
};

#define WORKER_INIT { 0, -1, BUF_INIT, -1 }

/*
 * A function that runs in a worker.  It appends its answer to `answer`.  It may set *fd to a
 * descriptor; the worker sends the descriptor to the caller of worker_call(), and closes it.  The
 * function returns 0, or -1 with `err` set.
 */
typedef int worker_fn(const struct buf *request, struct buf *answer, int *fd, struct err *err);

/*
 * Starts a worker, unless it is running already.  In the worker, only the descriptors in `keep`
 * stay open; an element -1 is ignored.  Returns 0 or a negative errno.
 */
int worker_start(struct worker *w, const int *keep, size_t n_keep) _must_check_;

struct worker_call {
	worker_fn *fn;
	const struct buf *request; /* input of fn(); NULL: an empty input */
	size_t max;                /* limit for the answer in bytes */
	struct deadline deadline;
	/* prints the steps that fn() reports with verbose_step() */
	const struct verbose *steps;
	bool here; /* fn() cannot block, so worker_run() calls fn() in this process */
};

/*
 * Runs a function in the worker.  Returns
 * - 0 with the function's answer in `answer` and its descriptor in *fd (`fd` may be NULL if the
 *   function sends none);
 * - 1 with `err` set if the function has failed;
 * - a negative errno if the worker was given up: -ETIMEDOUT because the worker is blocked, -EPIPE
 *   because it was killed, -EBADMSG or -EFBIG because its answer is malformed or too long.
 */
int worker_call(struct worker *w, const struct worker_call *call, struct buf *answer, int *fd,
		struct err *err) _must_check_;

/* If the worker is running, ends it.  If the worker is blocked, does not wait until it ends. */
void worker_end(struct worker *w);

/*
 * Runs a function in a new worker, and returns what worker_call() returns.  `keep` is as in
 * worker_start().  The worker is forked by this call, so pointers in the request are valid in the
 * worker.
 */
int worker_run(const struct worker_call *call, const int *keep, size_t n_keep, struct buf *answer,
	       int *fd, struct err *err) _must_check_;

/*
 * Enters the sandbox SANDBOX_INSPECT, if the kernel supports it.  Call this function in a worker
 * that from now on does nothing but read and parse files of a target.
 */
void worker_confine(void);

/*
 * Forks a worker without a struct worker, as worker_pool.c does.  In the worker, returns 0; in the
 * parent, returns the worker's pid or a negative errno.  Sets *sock, in each of the two processes,
 * to that process's end of the socket between them.
 */
pid_t worker_fork(int *sock, const int *keep, size_t n_keep) _must_check_;

/*
 * Returns false if the worker is runnable, so it has a CPU or waits for one.  Returns true in any
 * other state; a worker is then assumed to be blocked by a file system.
 */
bool worker_is_blocked(pid_t pid);

/* A message: `what`, a number for the kind of the message, and `len` bytes of data. */
struct worker_message {
	uint32_t what;
	const char *data; /* points into the buffer that worker_parse() was called with */
	size_t len;
};

/* Sends a message and the descriptor `fd`; -1: no descriptor.  Returns 0 or a negative errno. */
int worker_send(int sock, uint32_t what, const struct buf *data, int fd) _must_check_;

/*
 * Parses the message at the start of `in` into *m.  Returns the total length of the message in
 * bytes, for worker_skip(); 0 if the message is incomplete; or -EFBIG if its data has more than
 * `max` bytes.
 */
ssize_t worker_parse(const struct buf *in, size_t max, struct worker_message *m) _must_check_;

/*
 * Appends the data that has arrived on w->sock to w->in.  Returns the number of bytes; 0 at end of
 * file; or a negative errno.
 */
ssize_t worker_receive(struct worker *w) _must_check_;

/* Removes the first len bytes of `in`. */
void worker_skip(struct buf *in, size_t len);

#endif
