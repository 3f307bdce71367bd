#include "discover/discover.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "discover/jvm_files.h"
#include "fileio/io.h"

static struct jvm *new_jvm(const struct procfs *proc, pid_t pid, const struct proc_status *status,
			   const struct jvm_files *files)
{
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	jvm->pid = pid;
	jvm->nspid = status->nspid;
	jvm->uid = status->euid;
	jvm->gid = status->egid;
	jvm->start_ticks = status->start_ticks;
	jvm->uptime = procfs_uptime(proc, status);
	jvm->heap_used = jvm->heap_max = jvm->heap_committed = jvm->heap_bound = jvm->classes = -1;
	jvm->is_hotspot = !files->is_openj9;
	jvm->listed_ns = monotonic_ns();
	jvm_files_read(proc, jvm, files);
	return jvm;
}

/* Returns the JVM of a process, or NULL if it is not a JVM or is gone. */
static struct jvm *inspect_process(const struct procfs *proc, pid_t pid)
{
	_cleanup_(jvm_files_release) struct jvm_files files = { 0 };
	struct proc_status status;
	unsigned threads;
	bool is_jvm;
	int rc;

	/*
	 * Reading maps costs 50 µs a process, most of a list's time.  A VM starts threads within
	 * its first milliseconds, so a process with one thread is not a JVM.
	 */
	if (procfs_threads(proc, pid, &threads) < 0 || threads == 1)
		return NULL;
	if (procfs_status(proc, pid, &status) < 0)
		return NULL;
	rc = jvm_files_find(proc, pid, status.nspid, &files);
	/* A process with unreadable mappings counts as a JVM if it is called java. */
	if (rc == -EACCES || rc == -EPERM)
		is_jvm = strcmp(status.name, "java") == 0;
	else
		is_jvm = rc == 0 && files.libjvm;
	return is_jvm ? new_jvm(proc, pid, &status, &files) : NULL;
}

static int not_mounted(const struct procfs *proc, struct err *err)
{
	return err_set(err, EXIT_PERMISSION,
		       "%s shows no process, not even jtool's; mount it with -t proc", proc->root);
}

int discover_all(const struct procfs *proc, struct jvm_list *list, struct err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	size_t n = 0, cap = 0;
	struct jvm_list found = { NULL, 0 };
	int rc = procfs_pids(proc, &pids, &n);

	if (rc < 0)
		return err_set(err, EXIT_PERMISSION, "cannot read %s: %s", proc->root,
			       strerror(-rc));
	if (n == 0) /* not even jtool's own process is listed */
		return not_mounted(proc, err);
	for (size_t i = 0; i < n; i++) {
		struct jvm *jvm = inspect_process(proc, pids[i]);

		if (!jvm)
			continue;
		found.jvms = xgrow(found.jvms, found.n, &cap, sizeof(struct jvm *));
		found.jvms[found.n++] = jvm;
	}
	*list = found;
	return 0;
}

static int refuse(const struct proc_status *status, pid_t pid, struct err *err)
{
	if (status->state == 'Z' || status->state == 'X')
		return err_set(err, EXIT_TARGET, "process %d (%s) has exited", (int)pid,
			       status->name);
	return err_set(err, EXIT_TARGET,
		       "process %d is not a JVM: it is '%s', which maps no libjvm.so", (int)pid,
		       status->name);
}

struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err)
{
	_cleanup_(jvm_files_release) struct jvm_files files = { 0 };
	_cleanup_free_ char *what = NULL;
	_cleanup_free_ pid_t *pids = NULL;
	size_t n = 0;
	struct proc_status status;
	int rc = procfs_status(proc, pid, &status);

	if (rc < 0) {
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
	if (rc == -EACCES || rc == -EPERM) {
		what = xasprintf("process %d (%s)", (int)pid, status.name);
		(void)jvm_denied_process(what, status.euid, status.egid, err);
		return NULL;
	}
	if (rc < 0 || !files.libjvm) {
		(void)refuse(&status, pid, err);
		return NULL;
	}
	return new_jvm(proc, pid, &status, &files);
}

void jvm_list_release(struct jvm_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		jvm_free(list->jvms[i]);
	free(list->jvms);
	*list = (struct jvm_list){ NULL, 0 };
}
