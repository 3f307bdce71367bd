/*
 * Child processes for calls that may never return.  A file system that does not answer, such as a
 * FUSE or NFS mount whose server hangs, blocks a process inside the kernel, where not even SIGKILL
 * ends it.  A worker makes such calls; this process waits with a deadline, and abandons a worker
 * that misses the deadline.
 *
 * A worker is a fork: it runs functions of this program, and has a copy of the parent's memory as
 * of the fork.  It closes stdin, stdout and stderr, so that a reader of jtool's output gets end of
 * file when jtool exits.  The kernel kills the worker when the thread that has started it ends,
 * unless the worker is blocked.
 *
 * An answer of a worker was parsed from a target's files, so it may be malformed.  These functions
 * check its length and form; the caller must check its content.
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

#define WORKER_TASK_MS 700 /* ms that a worker may be blocked in one task */
/*
 * A worker that misses its deadline but is runnable waits only for a CPU: it is given up this many
 * ms after the deadline.
 */
#define WORKER_STARVED_MS 10000

struct worker {
	pid_t pid;     /* process id; 0: not running */
	int sock;      /* jtool's end of the socket; -1: not running */
	struct buf in; /* data that was received and not yet processed */
	int fd;        /* descriptor that was received; -1: none */
};

#define WORKER_INIT { 0, -1, BUF_INIT, -1 }

/*
 * A function that runs in a worker.  It appends its answer to `answer`, and may set *fd to a
 * descriptor, which is sent to the caller and closed in the worker.  Returns 0, or -1 with `err`
 * set.
 */
typedef int worker_fn(const struct buf *request, struct buf *answer, int *fd, struct err *err);

/*
 * Starts a worker, in which only the descriptors in `keep` stay open (-1 is skipped).  Returns 0 or
 * a negative errno.  Does nothing if the worker is running.
 */
int worker_start(struct worker *w, const int *keep, size_t n_keep) _must_check_;

struct worker_call {
	worker_fn *fn;
	const struct buf *request; /* input of the function; NULL: empty */
	size_t max;                /* limit for the answer in bytes */
	struct deadline deadline;
	/* prints the texts that the function passes to verbose_step() */
	const struct verbose *steps;
	bool here; /* worker_run() calls `fn` in this process, because `fn` cannot block */
};

/*
 * Runs a function in the worker.  Returns 0 with its answer and descriptor (fd may be NULL if the
 * function sends none); 1 with `err` set if the function has failed; or a negative errno, after
 * which the worker is given up: -ETIMEDOUT if it is blocked, -EPIPE if it was killed, -EBADMSG or
 * -EFBIG if its answer is malformed or too long.
 */
int worker_call(struct worker *w, const struct worker_call *call, struct buf *answer, int *fd,
		struct err *err) _must_check_;

/* Ends the worker if it is running.  Does not wait for a worker that is blocked. */
void worker_end(struct worker *w);

/*
 * Runs a function in a new worker.  The worker's copy of the memory is made by this call, so the
 * request may contain pointers.  Keeps the descriptors as worker_start() does, and returns the
 * results of worker_call().
 */
int worker_run(const struct worker_call *call, const int *keep, size_t n_keep, struct buf *answer,
	       int *fd, struct err *err) _must_check_;

/*
 * Enters the sandbox SANDBOX_INSPECT, if the kernel has it.  Call it in a worker that from now on
 * only reads and parses files of a target.
 */
void worker_confine(void);

/*
 * For worker_pool.h: forks a worker without a struct worker.  Returns 0 in the worker, and its pid
 * or a negative errno in the parent.  Sets *sock to the process's own end of the socket in both.
 */
pid_t worker_fork(int *sock, const int *keep, size_t n_keep) _must_check_;

/*
 * Returns true if the worker waits for a file system, false if it is runnable and waits only for a
 * CPU.
 */
bool worker_is_blocked(pid_t pid);

/* A message: the number `what`, which gives its kind, and its bytes. */
struct worker_message {
	uint32_t what;
	const char *data; /* points into the buffer that worker_parse() was called with */
	size_t len;
};

/* Sends a message, with a descriptor unless fd is -1.  Returns 0 or a negative errno. */
int worker_send(int sock, uint32_t what, const struct buf *data, int fd) _must_check_;

/*
 * Finds the message at the start of `in`.  Returns the message's total length in bytes; 0 if the
 * message is incomplete; or -EFBIG if its data has more than max bytes.
 */
ssize_t worker_parse(const struct buf *in, size_t max, struct worker_message *m) _must_check_;

/*
 * Reads the data that has arrived into w->in.  Returns the number of bytes; 0 at end of file; or a
 * negative errno.
 */
ssize_t worker_receive(struct worker *w) _must_check_;

/* Removes the first len bytes of `in`. */
void worker_skip(struct buf *in, size_t len);

#endif
