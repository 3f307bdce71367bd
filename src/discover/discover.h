/*
 * Finds JVMs: processes that map a libjvm.so, described from /proc and hsperfdata alone.  Sends the
 * processes nothing and maps none of their memory.
 *
 * Files below /proc/PID that belong to the kernel always answer.  PID/root, PID/cwd and
 * PID/map_files lead to the target's file systems, which may not: only workers touch these.
 */
#ifndef JTOOL_DISCOVER_DISCOVER_H
#define JTOOL_DISCOVER_DISCOVER_H

#include "base/err.h"
#include "proc/procfs.h"
#include "discover/jvm.h"

struct jvm_list {
	struct jvm **jvms; /* by pid, ascending */
	size_t n;
};

/*
 * Finds all JVMs that are visible to the caller.  An unreadable process is included if it is called
 * java.  With `states`, also sets jvm->attach.  Returns -1 only if /proc itself is unreadable.
 *
 * Workers inspect the processes, see worker_pool.h.  A JVM with a file system that does not answer
 * is listed with what /proc shows and jvm->hung set, and delays the others by two seconds at most.
 */
int discover_all(const struct procfs *proc, bool states, struct jvm_list *list,
		 struct err *err) _must_check_;

/*
 * Returns the JVM of a pid, as the caller sees it.  NULL with `err` set: no such process,
 * permission (EXIT_PERMISSION), or not a JVM (EXIT_TARGET, with its name).  A worker inspects the
 * process, and stays in jvm->worker; jvm->hung as above.
 */
struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;

/*
 * Returns the JVM's current attach state, from its socket file, /proc/PID/net/unix, the signals
 * that it catches, and its flags.  Sends nothing.
 */
enum attach_state discover_attach_state(const struct procfs *proc, const struct jvm *jvm);

/* The last two functions without a worker: for a process that is one. */
struct jvm *inspect_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;
enum attach_state inspect_attach_state(const struct procfs *proc, const struct jvm *jvm);

/*
 * Sets the error of a worker for this JVM that has failed with a negative errno: -ETIMEDOUT if a
 * file system does not answer.  Returns -1.
 */
int discover_lost_worker(const struct jvm *jvm, int error, struct err *err);

void jvm_list_release(struct jvm_list *list);

#endif
