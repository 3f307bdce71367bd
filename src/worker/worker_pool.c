#include "worker/worker_pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/xalloc.h"
#include "fileio/child.h"

/* A blocked worker is stalled if its task has run for this many ms; most take less than 1 ms. */
#define STALL_MS 60
#define NS_PER_MS INT64_C(1000000)
#define END UINT32_MAX /* the message after a worker's last task */

struct task {
	/*
	 * 0: no worker has taken the task; else the slot of its worker plus 1.  One operation takes
	 * the task and records the worker: when a worker is killed, the pool knows its task.
	 */
	_Atomic uint8_t owner;
	_Atomic uint8_t is_silent; /* the task is done, and its worker sends no answer */
};
_Static_assert(WORKER_POOL_MAX < UINT8_MAX, "owner is a slot plus 1");

/* Memory that all workers share with this process. */
struct shared {
	/* for each slot: monotonic_ns() when the worker of the slot started or last began a task */
	_Atomic int64_t since_ns[WORKER_POOL_MAX];
	struct task tasks[];
};

struct pool {
	const struct worker_tasks *tasks;
	struct shared *shared;
	struct worker workers[WORKER_POOL_MAX]; /* pid 0: no worker in this slot */
	size_t n_running;
	bool *done; /* done[i]: take() or lost() was called for task i */
};

/*
 * pid of a worker that has sent all its messages but was not reaped yet.  This process reaps the
 * worker when the next worker ends or the next pool starts, because by then the worker has normally
 * exited, so that reaping does not wait.
 */
static pid_t ended; /* 0: none */

/*
 * pids of killed workers that were not reaped yet: they are exiting, or blocked in the kernel.  If
 * there are more, those are not recorded, and stay zombies until this process ends.
 */
static pid_t killed[WORKER_POOL_MAX];
static size_t n_killed;

bool worker_pool_reap_killed(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_killed; i++) {
		if (waitpid(killed[i], NULL, WNOHANG) == 0)
			killed[n++] = killed[i];
	}
	n_killed = n;
	return n == 0;
}

static void reap_ended(void)
{
	int status;

	if (ended > 0 && child_wait(ended, &status, deadline_in_ms(WORKER_TASK_MS)) == 0)
		ended = 0;
}

/*
 * In a worker: takes the first task at or after index i that no worker has taken.  Returns the
 * task's index, or the number of tasks if there is none.
 */
static size_t take_task(const struct pool *pool, size_t slot, size_t i)
{
	for (; i < pool->tasks->n; i++) {
		uint8_t none = 0;

		if (atomic_compare_exchange_strong(&pool->shared->tasks[i].owner, &none,
						   (uint8_t)(slot + 1)))
			break;
	}
	return i;
}

/* In a worker: takes and runs tasks.  Sends the message END after the last answer. */
static void _noreturn_ work(const struct pool *pool, size_t slot, int sock)
{
	const struct worker_tasks *t = pool->tasks;
	struct buf answer = BUF_INIT, none = BUF_INIT;
	size_t i = 0;
	int rc = 0;

	if (t->inspects)
		worker_confine();
	while (rc == 0 && (i = take_task(pool, slot, i)) < t->n) {
		buf_reset(&answer);
		pool->shared->since_ns[slot] = monotonic_ns();
		t->run(t->arg, i, &answer);
		if (answer.len > 0)
			rc = worker_send(sock, (uint32_t)i, &answer, -1);
		else
			pool->shared->tasks[i].is_silent = 1;
	}
	if (rc == 0)
		/* If END cannot be sent, end of file on the socket has the same meaning. */
		(void)!worker_send(sock, END, &none, -1);
	_exit(0);
}

static int start_one(struct pool *pool)
{
	size_t i = 0;
	pid_t pid;
	int sock;

	while (pool->workers[i].pid > 0)
		i++;
	pool->workers[i] = (struct worker)WORKER_INIT;
	pool->shared->since_ns[i] = monotonic_ns();
	pid = worker_fork(&sock, pool->tasks->keep, pool->tasks->n_keep);
	if (pid == 0)
		work(pool, i, sock);
	if (pid < 0)
		return (int)pid;
	pool->workers[i].pid = pid;
	pool->workers[i].sock = sock;
	pool->n_running++;
	return 0;
}

/* Calls lost() for each task that the worker in `slot` has taken and not answered. */
static void lose_tasks(const struct pool *pool, size_t slot, int error)
{
	for (size_t i = 0; i < pool->tasks->n; i++) {
		const struct task *task = &pool->shared->tasks[i];

		if (pool->done[i] || task->is_silent || task->owner != slot + 1)
			continue;
		pool->done[i] = true;
		pool->tasks->lost(pool->tasks->arg, i, error);
	}
}

/*
 * Processes the complete messages that have arrived from a worker.  Returns 1 if END was among
 * them; or 0 if more messages will follow; or -EBADMSG.
 */
static int take_messages(const struct pool *pool, struct worker *w)
{
	const struct worker_tasks *t = pool->tasks;
	struct worker_message m;
	size_t at = 0;
	ssize_t n;
	int rc = 0;

	do {
		const struct buf rest = { w->in.data + at, w->in.len - at, 0 };

		n = worker_parse(&rest, t->max, &m);
		if (n <= 0)
			break;
		at += (size_t)n;
		if (m.what == END) {
			rc = 1;
		} else if (m.what >= t->n || pool->done[m.what]) {
			rc = -EBADMSG;
		} else {
			pool->done[m.what] = true;
			t->take(t->arg, m.what, m.data, m.len);
		}
	} while (rc == 0);
	worker_skip(&w->in, at);
	return n < 0 ? -EBADMSG : rc;
}

/*
 * Removes a worker from the pool.  If `error` is 0, the worker has sent all its messages and exits
 * by itself.  Otherwise kills the worker, but does not wait until it has ended, because a blocked
 * worker may never end.
 */
static void end_worker(struct pool *pool, struct worker *w, int error)
{
	size_t slot = (size_t)(w - pool->workers);

	if (error == 0) {
		reap_ended();
		ended = w->pid;
	} else {
		(void)kill(w->pid, SIGKILL);
		if (waitpid(w->pid, NULL, WNOHANG) == 0 && n_killed < WORKER_POOL_MAX)
			killed[n_killed++] = w->pid;
	}
	w->pid = 0;
	(void)close(w->sock);
	worker_end(w);
	pool->n_running--;
	if (error != 0)
		lose_tasks(pool, slot, error);
}

static void read_worker(struct pool *pool, struct worker *w)
{
	ssize_t n = worker_receive(w);
	int rc = take_messages(pool, w);

	if (rc != 0)
		end_worker(pool, w, rc > 0 ? 0 : rc);
	else if (n == 0 || (n < 0 && n != -EAGAIN))
		end_worker(pool, w, -EPIPE);
}

/* Returns for how many milliseconds a worker has been working on its current task. */
static int64_t busy_ms(const struct pool *pool, const struct worker *w)
{
	return (monotonic_ns() - pool->shared->since_ns[w - pool->workers]) / NS_PER_MS;
}

/* Kills a worker that is blocked in a task, or that has waited for a CPU for too long. */
static void check_worker(struct pool *pool, struct worker *w)
{
	int64_t ms = busy_ms(pool, w);

	if (ms < WORKER_TASK_MS || (ms < WORKER_STARVED_MS && !worker_is_blocked(w->pid)))
		return;
	/* First process the answers that the worker sent before it was blocked. */
	if (worker_receive(w) > 0 && take_messages(pool, w) < 0)
		buf_reset(&w->in);
	end_worker(pool, w, -ETIMEDOUT);
}

/* Returns the number of tasks that no worker has taken. */
static size_t n_left(const struct pool *pool)
{
	size_t n = 0;

	for (size_t i = 0; i < pool->tasks->n; i++)
		n += pool->shared->tasks[i].owner == 0;
	return n;
}

static bool all_stalled(const struct pool *pool)
{
	for (size_t i = 0; i < WORKER_POOL_MAX; i++) {
		const struct worker *w = &pool->workers[i];

		if (w->pid > 0 && (busy_ms(pool, w) < STALL_MS || !worker_is_blocked(w->pid)))
			return false;
	}
	return true;
}

/*
 * Starts the first worker; or if all workers are stalled, more workers.  Returns 0 if at least one
 * worker is running, or a negative errno.
 */
static int start_workers(struct pool *pool)
{
	size_t n = 1, left = n_left(pool);
	int rc = 0;

	if (left == 0 || (pool->n_running > 0 && !all_stalled(pool)))
		return 0;
	if (pool->n_running > 0)
		n = 2 * pool->n_running;
	if (n > left)
		n = left;
	for (size_t i = 0; i < n && rc == 0 && pool->n_running < WORKER_POOL_MAX; i++)
		rc = start_one(pool);
	return pool->n_running > 0 ? 0 : rc;
}

static void wait_and_read(struct pool *pool)
{
	struct pollfd fds[WORKER_POOL_MAX];
	int ms = n_left(pool) > 0 ? STALL_MS : WORKER_TASK_MS / 10;

	for (size_t i = 0; i < WORKER_POOL_MAX; i++)
		fds[i] = (struct pollfd){
			.fd = pool->workers[i].pid > 0 ? pool->workers[i].sock : -1,
			.events = POLLIN,
		};
	(void)poll(fds, WORKER_POOL_MAX, ms);
	for (size_t i = 0; i < WORKER_POOL_MAX; i++) {
		struct worker *w = &pool->workers[i];

		if (w->pid <= 0)
			continue;
		if (fds[i].revents)
			read_worker(pool, w);
		else
			check_worker(pool, w);
	}
}

int worker_pool_run(const struct worker_tasks *tasks)
{
	_cleanup_free_ bool *done = xcalloc(tasks->n + 1, sizeof(*done));
	size_t size = sizeof(struct shared) + tasks->n * sizeof(struct task);
	struct pool pool = { .tasks = tasks, .done = done };
	int rc;

	if (tasks->n == 0) {
		if (tasks->meanwhile)
			tasks->meanwhile(tasks->arg);
		return 0;
	}
	pool.shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pool.shared == MAP_FAILED)
		return -errno;
	reap_ended();
	(void)worker_pool_reap_killed();
	rc = start_workers(&pool);
	if (rc == 0 && tasks->meanwhile)
		tasks->meanwhile(tasks->arg);
	while (rc == 0 && pool.n_running > 0) {
		wait_and_read(&pool);
		rc = start_workers(&pool);
	}
	(void)munmap(pool.shared, size);
	return rc;
}
