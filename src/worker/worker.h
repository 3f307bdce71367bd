/*
 * Child processes for calls that may never return.  A file system that does not answer, such as a
 * FUSE or NFS mount whose server hangs, blocks a process inside the kernel, where not even SIGKILL
 * ends it.  A worker makes such calls; this process waits with a deadline, and abandons a worker
 * that misses it.
 *
 * A worker is a fork: it runs functions of this program, and has a copy of our memory as of the
 * fork.  It keeps none of our standard streams open, so that a pipe from us ends when we do.  It
 * dies with the thread that started it, unless it is blocked.
 *
 * What a worker sends was parsed from a target's files.  It is limited and checked here, and its
 * content must be checked by the caller.
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

#define WORKER_TASK_MS 700 /* how long a worker may be blocked in one task */
/* A worker that is runnable waits for a CPU; it is given up only so long after its deadline. */
#define WORKER_STARVED_MS 10000

struct worker {
	pid_t pid;     /* 0: not running */
	int sock;      /* -1: not running */
	struct buf in; /* received and not yet taken */
	int fd;        /* received descriptor; -1: none */
};

#define WORKER_INIT { 0, -1, BUF_INIT, -1 }

/*
 * A function that runs in a worker.  It adds to `answer`, and may set *fd, which the framework
 * sends and closes.  Returns 0, or -1 with `err` set.
 */
typedef int worker_fn(const struct buf *request, struct buf *answer, int *fd, struct err *err);

/*
 * Starts a worker that keeps only the descriptors in `keep` (-1 is skipped).  Returns 0 or a
 * negative errno.  If the worker runs already, has no effect.
 */
int worker_start(struct worker *w, const int *keep, size_t n_keep) _must_check_;

struct worker_call {
	worker_fn *fn;
	const struct buf *request; /* NULL: empty */
	size_t max;                /* bytes of the answer */
	struct deadline deadline;
	const struct verbose *steps; /* prints what the function passes to verbose_step() */
	bool here; /* worker_run(): calls the function in this process, as it cannot block */
};

/*
 * Runs a function in the worker.  Returns 0 with its answer and descriptor (fd may be NULL if the
 * function sends none), 1 if the function has failed with `err` set, or a negative errno: the
 * worker is given up.  That is -ETIMEDOUT if it is blocked, -EPIPE if it was killed, -EBADMSG or
 * -EFBIG if its answer is malformed or too long.
 */
int worker_call(struct worker *w, const struct worker_call *call, struct buf *answer, int *fd,
		struct err *err) _must_check_;

/* Ends the worker, if it runs, without waiting for one that is blocked. */
void worker_end(struct worker *w);

/*
 * Runs a function in a worker of its own, which has the memory of this moment: the request may
 * contain pointers.  Keeps the descriptors as worker_start() does, and returns what worker_call()
 * returns.
 */
int worker_run(const struct worker_call *call, const int *keep, size_t n_keep, struct buf *answer,
	       int *fd, struct err *err) _must_check_;

/*
 * In a worker that reads and parses files of a target from now on, and does nothing else: enters
 * the sandbox for that, SANDBOX_INSPECT, if the kernel has it.
 */
void worker_confine(void);

/* For worker_pool.h: forks a process as described above.  Returns 0 in the worker. */
pid_t worker_fork(int *sock, const int *keep, size_t n_keep) _must_check_;

/* Returns false if the process is runnable: it waits for a CPU and not for a file system. */
bool worker_is_blocked(pid_t pid);

/* A message: its kind or number, and bytes. */
struct worker_message {
	uint32_t what;
	const char *data; /* part of the input */
	size_t len;
};

/* Sends a message, with a descriptor unless fd is -1.  Returns 0 or a negative errno. */
int worker_send(int sock, uint32_t what, const struct buf *data, int fd) _must_check_;

/*
 * Finds the message at the start of the input.  Returns its total length; 0 if it is incomplete;
 * or -EFBIG if it has more than max bytes.
 */
ssize_t worker_parse(const struct buf *in, size_t max, struct worker_message *m) _must_check_;

/* Reads what has arrived into w->in.  Returns the bytes, 0 at the end, or a negative errno. */
ssize_t worker_receive(struct worker *w) _must_check_;

/* Removes the first bytes of the input. */
void worker_skip(struct buf *in, size_t len);

#endif
