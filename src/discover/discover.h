/*
 * Finds JVMs.  A JVM is a process that maps a libjvm.so.  All values of a JVM are read from /proc
 * and hsperfdata.  The process gets no data and no signal, and none of its memory is mapped.
 *
 * A read of a file below /proc/PID cannot block if the kernel generates the content.  PID/root,
 * PID/cwd and PID/map_files lead to the target's file systems, which may not answer.  So workers
 * open these three, unless mounts_are_local() shows that they cannot block (mounts.h).
 */
#ifndef JTOOL_DISCOVER_DISCOVER_H
#define JTOOL_DISCOVER_DISCOVER_H

#include "base/err.h"
#include "proc/process_set.h"
#include "proc/procfs.h"
#include "discover/jvm.h"

struct jvm_list {
	struct jvm **jvms; /* in ascending order of pids */
	size_t n;
};

/*
 * Finds all JVMs that are visible to the caller.  A process whose mappings are unreadable is in the
 * list if its name is java.  If `states` is set, also sets jvm->attach.  Returns 0; or -1 with err
 * set if /proc is unreadable or no worker can be started.
 *
 * Workers inspect the processes whose file systems may not answer (worker_pool.h).  If a file
 * system does not answer, its JVM is in the list with jvm->hung set, and with only those values
 * that /proc shows.  All such JVMs together delay discover_all() by two seconds at most.
 *
 * A worker that waits for the server of a FUSE file system cannot be killed.  A process that calls
 * discover_all() again and again passes the same `hung` each time, so that no further worker is
 * blocked by the same JVM: only /proc is read of the processes in *hung, and the JVMs whose file
 * system does not answer are added.  Other callers pass NULL.
 */
int discover_all(const struct procfs *proc, bool states, struct process_set *hung,
		 struct jvm_list *list, struct err *err) _must_check_;

/*
 * Returns the JVM with this pid.  Returns NULL with `err` set if no such process exists, if
 * permission is denied (EXIT_PERMISSION), or if the process is not a JVM (EXIT_TARGET; the error
 * text has the name of the process).
 *
 * If a file system of the JVM may not answer, a worker inspects the process.  If the file system
 * answers the worker, jvm->worker is this worker, which the caller can use again.  If not,
 * jvm->hung is set and jvm->worker is NULL.
 */
struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;

/*
 * Returns the JVM's current attach state.  Derives it from the JVM's socket file, its flags, the
 * signals that it catches, and /proc/PID/net/unix.  Sends the JVM nothing.
 */
enum attach_state discover_attach_state(const struct procfs *proc, const struct jvm *jvm);

/*
 * Like discover_pid() and discover_attach_state(), but without a worker.  Call these functions only
 * in a worker, or if the target's file systems cannot block.
 */
struct jvm *inspect_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;
enum attach_state inspect_attach_state(const struct procfs *proc, const struct jvm *jvm);

/*
 * Sets `err` after a worker for this JVM has failed.  `error` is the negative errno of the failure:
 * -ETIMEDOUT means that a file system does not answer.  Always returns -1.
 */
int discover_lost_worker(const struct jvm *jvm, int error, struct err *err);

void jvm_list_release(struct jvm_list *list);

#endif
