/*
 * Finds JVMs: processes that map a libjvm.so, described from /proc and hsperfdata alone.  Sends the
 * processes nothing and maps none of their memory.
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
 * java.  Returns -1 only if /proc itself is unreadable.
 */
int discover_all(const struct procfs *proc, struct jvm_list *list, struct err *err) _must_check_;

/*
 * Returns the JVM of a pid, as the caller sees it.  NULL with `err` set: no such process,
 * permission (EXIT_PERMISSION), or not a JVM (EXIT_TARGET, with its name).
 */
struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;

/*
 * Returns the JVM's current attach state, from its socket file, /proc/PID/net/unix, the signals
 * that it catches, and its flags.  Sends nothing.
 */
enum attach_state discover_attach_state(const struct procfs *proc, const struct jvm *jvm);

void jvm_list_release(struct jvm_list *list);

#endif
