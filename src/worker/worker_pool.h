/*
 * Runs tasks in workers, see worker.h, so that a task that blocks forever delays no other.
 *
 * One worker runs all tasks in turn, which costs one fork.  Further ones are started only when it
 * makes no progress; their number doubles while all of them are blocked: the tasks are in shared
 * memory, and each worker takes the next one.  A worker that is blocked in one task for
 * WORKER_TASK_MS is given up.  However many tasks block, up to WORKER_POOL_MAX, all others are done
 * and reported within two seconds.
 */
#ifndef JTOOL_WORKER_WORKER_POOL_H
#define JTOOL_WORKER_WORKER_POOL_H

#include "worker/worker.h"

#define WORKER_POOL_MAX 128

struct worker_tasks {
	size_t n;
	size_t max;      /* bytes of an answer */
	const int *keep; /* descriptors that the tasks need */
	size_t n_keep;
	void *arg;
	bool inspects; /* the tasks read files and do nothing else: see worker_confine() */
	/* In a worker: runs a task.  Nothing is sent if it adds nothing to `answer`. */
	void (*run)(void *arg, size_t i, struct buf *answer);
	/* Takes the answer of a task. */
	void (*take)(void *arg, size_t i, const char *data, size_t len);
	/*
	 * The task has no answer: its worker is blocked (-ETIMEDOUT), has died (-EPIPE), or has
	 * sent a malformed message (-EBADMSG).
	 */
	void (*lost)(void *arg, size_t i, int error);
	/* If not NULL: runs in this process, at the same time as the first worker. */
	void (*meanwhile)(void *arg);
};

/*
 * Runs all tasks.  take() and lost() are called in no particular order, at most once for each task.
 * Returns 0, or a negative errno if no worker can be started.
 */
int worker_pool_run(const struct worker_tasks *tasks) _must_check_;

#endif
