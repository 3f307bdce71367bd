#include "discover/discover.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "discover/jvm_files.h"
#include "discover/jvm_record.h"
#include "fileio/io.h"
#include "proc/mounts.h"
#include "worker/worker_pool.h"

/* How a process is inspected. */
struct how {
	bool states;    /* also set jvm->attach */
	bool proc_only; /* read only /proc, not the target's file systems */
	bool here;      /* this process, not a worker, inspects the target */
};

/* Returns a JVM of which only the values in `status` are known. */
static struct jvm *bare_jvm(const struct procfs *proc, pid_t pid, const struct proc_status *status)
{
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	jvm->pid = pid;
	jvm->nspid = status->nspid;
	jvm->uid = status->euid;
	jvm->gid = status->egid;
	jvm->start_ticks = status->start_ticks;
	jvm->uptime = procfs_uptime(proc, status);
	jvm->heap_used = jvm->heap_max = jvm->heap_committed = jvm->heap_bound = jvm->classes = -1;
	jvm->is_hotspot = true; /* assume HotSpot: most JVMs are */
	jvm->listed_ns = monotonic_ns();
	return jvm;
}

static struct jvm *new_jvm(const struct procfs *proc, pid_t pid, const struct proc_status *status,
			   const struct jvm_files *files, struct how how)
{
	struct jvm *jvm = bare_jvm(proc, pid, status);

	jvm->is_hotspot = !files->is_openj9;
	if (how.proc_only)
		jvm_files_skip(proc, jvm, files);
	else
		jvm_files_read(proc, jvm, files);
	if (how.states && !how.proc_only)
		jvm->attach = inspect_attach_state(proc, jvm);
	return jvm;
}

/*
 * Returns false if a process has only one thread: then it is not a JVM, because a JVM starts more
 * threads within its first milliseconds.  This check is cheap.  Without it, jtool list would spend
 * most of its time reading PID/maps, which takes 50 µs for each process.
 */
static bool may_be_jvm(const struct procfs *proc, pid_t pid)
{
	unsigned threads;

	return procfs_threads(proc, pid, &threads) == 0 && threads != 1;
}

/* Returns true if a process with unreadable mappings may be a JVM, because its name is java. */
static bool may_be_denied_jvm(const struct proc_status *status)
{
	return strcmp(status->name, "java") == 0;
}

/*
 * Inspects a process.  Returns a new struct jvm; or NULL if the process is not a JVM or has ended.
 * If how.here is set, but only a worker may inspect the process, sets *is_remote to true and
 * returns NULL; in all other cases sets *is_remote to false.
 */
static struct jvm *inspect_process(const struct procfs *proc, pid_t pid, struct how how,
				   bool *is_remote)
{
	_cleanup_(jvm_files_release) struct jvm_files files = { 0 };
	struct proc_status status;
	bool is_jvm;
	int rc;

	*is_remote = false;
	if (procfs_status(proc, pid, &status) < 0)
		return NULL;
	rc = jvm_files_find(proc, pid, status.nspid, &files);
	is_jvm = files.is_denied ? may_be_denied_jvm(&status) : rc == 0 && files.libjvm;
	*is_remote = is_jvm && how.here && !mounts_are_below_our_root(proc, pid);
	return is_jvm && !*is_remote ? new_jvm(proc, pid, &status, &files, how) : NULL;
}

static int not_mounted(const struct procfs *proc, struct err *err)
{
	return err_set(err, EXIT_PERMISSION,
		       "%s shows no process, not even jtool's: it is not mounted; run mount -t "
		       "proc proc /proc", proc->root);
}

/* State of the inspection of many processes. */
struct survey {
	const struct procfs *proc;
	struct how how;
	const struct process_set *hung; /* processes of which only /proc is read; NULL: none */
	const pid_t *pids;
	struct jvm **found;   /* found[i] is the JVM with pids[i]; NULL: it is not a JVM */
	/* pids of the processes at which a worker has failed; add_lost() inspects them */
	pid_t *lost;
	size_t n_lost;
	size_t *remote;       /* indices in `pids` of the processes that workers inspect */
	size_t *local;        /* indices in `pids` of those that this process inspects */
	size_t n_local;
};

static void inspect_one(void *arg, size_t i, struct buf *answer)
{
	const struct survey *s = arg;
	bool is_remote;
	struct jvm *jvm =
		inspect_process(s->proc, s->pids[s->remote[i]], s->how, &is_remote);

	if (jvm)
		jvm_record_add(answer, jvm);
	jvm_free(jvm);
}

static void lose_one(void *arg, size_t i, int error)
{
	struct survey *s = arg;

	(void)error;
	s->lost[s->n_lost++] = s->pids[s->remote[i]];
}

static void take_one(void *arg, size_t i, const char *data, size_t len)
{
	struct survey *s = arg;
	struct jvm *jvm = jvm_record_parse(data, len);

	if (jvm && jvm->pid == s->pids[s->remote[i]]) {
		s->found[s->remote[i]] = jvm;
		return;
	}
	jvm_free(jvm);
	lose_one(arg, i, -EBADMSG);
}

static int inspect_remote(struct survey *s, size_t n, void (*meanwhile)(void *arg))
{
	const struct worker_tasks tasks = {
		.n = n, .max = JVM_RECORD_MAX, .keep = &s->proc->fd, .n_keep = 1, .arg = s,
		.inspects = true,
		.run = inspect_one, .take = take_one, .lost = lose_one, .meanwhile = meanwhile,
	};

	return worker_pool_run(&tasks);
}

/* Inspects the processes in s->local.  If one turns out to need a worker, it stays in s->local. */
static void inspect_local(void *arg)
{
	struct survey *s = arg;
	const struct how here = { .states = s->how.states, .here = true };
	size_t n_left = 0;

	for (size_t k = 0; k < s->n_local; k++) {
		size_t i = s->local[k];
		bool is_remote;

		s->found[i] = inspect_process(s->proc, s->pids[i], here, &is_remote);
		if (is_remote)
			s->local[n_left++] = i;
	}
	s->n_local = n_left;
}

/*
 * Inspects n processes.  This process inspects those processes whose files cannot block it; at the
 * same time, workers inspect the others.
 */
static int inspect_all(struct survey *s, size_t n)
{
	size_t n_remote = 0;
	int rc;

	s->found = xcalloc(n, sizeof(struct jvm *));
	s->lost = xcalloc(n, sizeof(pid_t));
	s->remote = xcalloc(n, sizeof(*s->remote));
	s->local = xcalloc(n, sizeof(*s->local));
	for (size_t i = 0; i < n; i++) {
		if (!may_be_jvm(s->proc, s->pids[i]))
			continue;
		if (s->hung && process_set_has(s->hung, s->proc, s->pids[i]))
			s->lost[s->n_lost++] = s->pids[i];
		else if (!s->how.proc_only && mounts_of_ns_are_local(s->proc, s->pids[i]))
			s->local[s->n_local++] = i;
		else
			s->remote[n_remote++] = i;
	}
	rc = inspect_remote(s, n_remote, inspect_local);
	if (rc == 0 && s->n_local > 0) {
		memcpy(s->remote, s->local, s->n_local * sizeof(*s->local));
		rc = inspect_remote(s, s->n_local, NULL);
	}
	free(s->remote);
	free(s->local);
	return rc;
}

/*
 * Returns a struct jvm with the few values that are known of a process when most of its files in
 * /proc cannot be read; NULL if the name of the process is not java.
 */
static struct jvm *unreadable_jvm(const struct procfs *proc, pid_t pid)
{
	struct proc_status status;
	struct jvm *jvm;

	if (procfs_status(proc, pid, &status) < 0 || strcmp(status.name, "java") != 0)
		return NULL;
	jvm = bare_jvm(proc, pid, &status);
	jvm->attach = ATTACH_UNREACHABLE;
	jvm->hung = xstrdup("its memory map is locked by a thread whose file system");
	return jvm;
}

/*
 * Inspects the processes in s->lost once more, but reads only /proc.  Appends the JVMs among them
 * to `found`.
 */
static void add_lost(const struct survey *s, struct jvm **found, size_t *n_found)
{
	struct survey again = {
		.proc = s->proc, .how = { .proc_only = true }, .pids = s->lost,
	};

	if (inspect_all(&again, s->n_lost) < 0)
		again.n_lost = 0;
	for (size_t i = 0; i < s->n_lost; i++) {
		if (again.found[i])
			found[(*n_found)++] = again.found[i];
	}
	for (size_t i = 0; i < again.n_lost; i++) {
		struct jvm *jvm = unreadable_jvm(s->proc, again.lost[i]);

		if (jvm)
			found[(*n_found)++] = jvm;
	}
	free(again.found);
	free(again.lost);
}

static int by_pid(const void *a, const void *b)
{
	const struct jvm *const *x = a, *const *y = b;

	return ((*x)->pid > (*y)->pid) - ((*x)->pid < (*y)->pid);
}

static int no_worker(int error, struct err *err)
{
	return err_not_started(err, EXIT_PARTIAL, error, "the process that inspects JVMs");
}

int discover_all(const struct procfs *proc, bool states, struct process_set *hung,
		 struct jvm_list *list, struct err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	size_t n = 0, n_found = 0;
	struct survey s = { .proc = proc, .how = { .states = states }, .hung = hung };
	int rc = procfs_pids(proc, &pids, &n);

	if (rc < 0)
		return err_set(err, EXIT_PERMISSION, "cannot list %s: %s; run jtool as root",
			       proc->root, strerror(-rc));
	if (n == 0) /* /proc does not even list jtool itself */
		return not_mounted(proc, err);
	s.pids = pids;
	rc = inspect_all(&s, n);
	for (size_t i = 0; i < n; i++) {
		if (s.found[i])
			s.found[n_found++] = s.found[i];
	}
	if (s.n_lost > 0) {
		/*
		 * s.found has room for the JVMs that add_lost() appends: it has an element for each
		 * process, and the lost processes have not used theirs.
		 */
		add_lost(&s, s.found, &n_found);
		qsort(s.found, n_found, sizeof(*s.found), by_pid);
	}
	free(s.lost);
	for (size_t i = 0; hung && i < n_found; i++) {
		if (s.found[i]->hung)
			process_set_add(hung, s.found[i]->pid, s.found[i]->start_ticks);
	}
	*list = (struct jvm_list){ s.found, n_found };
	if (rc == 0)
		return 0;
	jvm_list_release(list);
	return no_worker(rc, err);
}

static struct jvm *inspect_one_pid(const struct procfs *proc, pid_t pid, struct how how,
				   struct err *err)
{
	_cleanup_(jvm_files_release) struct jvm_files files = { 0 };
	_cleanup_close_ int root_fd = -1;
	_cleanup_free_ char *what = NULL;
	struct proc_status status;
	int rc = procfs_status(proc, pid, &status);

	if (rc < 0) {
		_cleanup_free_ pid_t *pids = NULL;
		size_t n = 0;

		if (procfs_pids(proc, &pids, &n) == 0 && n == 0)
			(void)not_mounted(proc, err);
		(void)err_set(err, EXIT_TARGET,
			      "no such process: %d; jtool list shows the JVMs", (int)pid);
		return NULL;
	}
	if (status.tgid != pid) {
		(void)err_set(err, EXIT_TARGET, "%d is a thread of process %d: give the process id",
			      (int)pid, (int)status.tgid);
		return NULL;
	}
	rc = jvm_files_find(proc, pid, status.nspid, &files);
	root_fd = files.is_denied && may_be_denied_jvm(&status) ? mounts_open_root(proc, pid) : -1;
	if (files.is_denied && root_fd < 0) {
		what = xasprintf("process %d (%s)", (int)pid, status.name);
		(void)jvm_denied_process(what, status.euid, status.egid, err);
		return NULL;
	}
	if (!files.is_denied && !files.libjvm) {
		(void)jvm_files_refuse(&status, pid, rc, err);
		return NULL;
	}
	return new_jvm(proc, pid, &status, &files, how);
}

struct jvm *inspect_pid(const struct procfs *proc, pid_t pid, struct err *err)
{
	return inspect_one_pid(proc, pid, (struct how){ .states = false }, err);
}

/* The request to the worker.  `proc` is valid in the worker, which is a fork of this process. */
struct query {
	const struct procfs *proc;
	pid_t pid;
	struct how how;
};

static int answer_pid(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	struct query q;
	struct jvm *jvm;

	(void)fd;
	memcpy(&q, request->data, sizeof(q));
	jvm = inspect_one_pid(q.proc, q.pid, q.how, err);
	if (!jvm)
		return -1;
	jvm_record_add(answer, jvm);
	jvm_free(jvm);
	return 0;
}

/*
 * Makes the worker inspect a process.  Returns 0 with *jvm set; 1 with `err` set if the process is
 * not a JVM or cannot be inspected; or a negative errno if the worker does not answer or has ended
 * (-ETIMEDOUT, -EPIPE …).
 */
static int ask_worker(struct worker *w, const struct procfs *proc, pid_t pid, bool proc_only,
		      struct jvm **jvm, struct err *err)
{
	struct query q = { proc, pid, { .proc_only = proc_only } };
	const struct buf request = { (char *)&q, sizeof(q), 0 };
	const struct worker_call call = {
		.fn = answer_pid, .request = &request, .max = JVM_RECORD_MAX,
		.deadline = deadline_in_ms(WORKER_TASK_MS),
	};
	_cleanup_buf_ struct buf answer = BUF_INIT;
	int rc = worker_start(w, &proc->fd, 1);

	if (rc == 0)
		rc = worker_call(w, &call, &answer, NULL, err);
	if (rc != 0)
		return rc;
	*jvm = jvm_record_parse(answer.data, answer.len);
	if (*jvm && (*jvm)->pid == pid)
		return 0;
	jvm_free(TAKE_PTR(*jvm));
	worker_end(w);
	return -EBADMSG;
}

struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err)
{
	struct worker *w;
	struct jvm *jvm = NULL;
	int rc;

	if (mounts_are_local(proc, pid))
		return inspect_pid(proc, pid, err);
	w = xcalloc(1, sizeof(*w));
	*w = (struct worker)WORKER_INIT;
	rc = ask_worker(w, proc, pid, false, &jvm, err);
	if (rc < 0 && ask_worker(w, proc, pid, true, &jvm, err) < 0) {
		jvm = unreadable_jvm(proc, pid);
		if (!jvm)
			(void)err_set(err, EXIT_ATTACH,
				      "the jtool process that inspects process %d did not "
				      "answer, or was killed: %s; if memory ran out, free "
				      "some, then try again", (int)pid, strerror(-rc));
	}
	if (jvm && !jvm->hung) {
		jvm->worker = w;
		return jvm;
	}
	worker_end(w);
	free(w);
	return jvm;
}

int discover_lost_worker(const struct jvm *jvm, int error, struct err *err)
{
	_cleanup_free_ char *what = NULL;
	struct procfs proc;

	if (error == -ETIMEDOUT && procfs_open(&proc, "/proc") == 0) {
		what = jvm_files_hung(&proc, jvm, NULL);
		procfs_close(&proc);
		return jvm_unreachable(jvm, what, err);
	}
	return err_set(err, EXIT_ATTACH,
		       "the jtool process that reads the files of JVM %d failed: %s; if memory ran "
		       "out, free some or raise the limit of jtool's control group, then try again",
		       (int)jvm->pid,
		       error == -EPIPE ? "it was killed" : strerror(-error));
}

void jvm_list_release(struct jvm_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		jvm_free(list->jvms[i]);
	free(list->jvms);
	*list = (struct jvm_list){ NULL, 0 };
}
