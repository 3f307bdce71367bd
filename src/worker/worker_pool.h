/*
 * Runs tasks in workers, see worker.h, so that a task that blocks forever does not delay the other
 * tasks.
 *
 * Normally one worker runs all tasks, one after the other, which costs one fork.  Further workers
 * are started only when the first worker makes no progress: whenever all workers are blocked, the
 * pool starts twice as many new workers as there are.  Tasks are in shared memory, and each worker
 * takes the next task that no worker has taken.  If a worker is blocked in one task for
 * WORKER_TASK_MS, the pool kills the worker.  If at most WORKER_POOL_MAX tasks block, the other
 * tasks are done and reported within two seconds.
 */
#ifndef JTOOL_WORKER_WORKER_POOL_H
#define JTOOL_WORKER_WORKER_POOL_H

#include "worker/worker.h"

#define WORKER_POOL_MAX 128

struct worker_tasks {
	size_t n;
	size_t max;      /* limit in bytes for one answer */
	const int *keep; /* descriptors that stay open in the workers */
	size_t n_keep;
	void *arg;
	bool inspects; /* the tasks only read and parse files, see worker_confine() */
	/* In a worker: runs task i.  If it appends nothing to `answer`, nothing is sent. */
	void (*run)(void *arg, size_t i, struct buf *answer);
	/* In this process: receives the answer of task i. */
	void (*take)(void *arg, size_t i, const char *data, size_t len);
	/*
	 * In this process: task i has no answer, because its worker is blocked (-ETIMEDOUT), has
	 * died (-EPIPE), or has sent a malformed message (-EBADMSG).
	 */
	void (*lost)(void *arg, size_t i, int error);
	/* Runs in this process, at the same time as the first worker; may be NULL. */
	void (*meanwhile)(void *arg);
};

/*
 * Runs all tasks.  Calls take() or lost() once for each task, except for a task that has appended
 * nothing to its answer.  The calls are in no particular order.  Returns 0, or a negative errno if
 * no worker can be started.
 */
int worker_pool_run(const struct worker_tasks *tasks) _must_check_;

/*
 * Reaps the workers that were killed and have ended since.  Returns false if one of them has not
 * ended, because it is blocked.
 */
bool worker_pool_reap_killed(void);

#endif
