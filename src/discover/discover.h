/*
 * Finds JVMs: processes that map a libjvm.so, described from /proc and hsperfdata alone.  Sends the
 * processes no data and no signal, and maps none of their memory.
 *
 * Files below /proc/PID whose content the kernel generates always answer.  PID/root, PID/cwd and
 * PID/map_files lead to the target's file systems, which may not answer, so only workers open them.
 */
#ifndef JTOOL_DISCOVER_DISCOVER_H
#define JTOOL_DISCOVER_DISCOVER_H

#include "base/err.h"
#include "proc/procfs.h"
#include "discover/jvm.h"

struct jvm_list {
	struct jvm **jvms; /* in ascending order of pids */
	size_t n;
};

/*
 * Finds all JVMs that are visible to the caller.  An unreadable process is included if it is called
 * java.  With `states`, also sets jvm->attach.  Returns -1 only if /proc itself is unreadable.
 *
 * Workers inspect the processes, see worker_pool.h.  A JVM with a file system that does not answer
 * is listed with the properties that /proc shows and with jvm->hung set.  Such a JVM delays the
 * others by two seconds at most.
 */
int discover_all(const struct procfs *proc, bool states, struct jvm_list *list,
		 struct err *err) _must_check_;

/*
 * Returns the JVM with this pid.  Returns NULL with `err` set if no such process exists, permission
 * is denied (EXIT_PERMISSION), or the process is not a JVM (EXIT_TARGET; the text names the
 * process).  A worker inspects the process, and is then available in jvm->worker.  If a file system
 * of the JVM does not answer, jvm->hung is set.
 */
struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;

/*
 * Returns the JVM's current attach state, from its socket file, /proc/PID/net/unix, the signals
 * that it catches, and its flags.  Sends the JVM nothing.
 */
enum attach_state discover_attach_state(const struct procfs *proc, const struct jvm *jvm);

/*
 * As discover_pid() and discover_attach_state(), but without a worker, for code that runs in a
 * worker.
 */
struct jvm *inspect_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;
enum attach_state inspect_attach_state(const struct procfs *proc, const struct jvm *jvm);

/*
 * Sets `err` after the worker of this JVM has failed.  `error` is a negative errno: -ETIMEDOUT if a
 * file system does not answer.  Returns -1.
 */
int discover_lost_worker(const struct jvm *jvm, int error, struct err *err);

void jvm_list_release(struct jvm_list *list);

#endif
