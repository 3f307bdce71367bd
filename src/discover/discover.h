/*
 * Finding JVMs: every process that maps a libjvm.so, told apart and described from /proc and
 * hsperfdata alone.  Nothing is sent to it and nothing of its memory is mapped.
 */
#ifndef JTOOL_TARGET_DISCOVER_H
#define JTOOL_TARGET_DISCOVER_H

#include "base/err.h"
#include "proc/procfs.h"
#include "target/jvm.h"

struct jvm_list {
	struct jvm **jvms; /* by pid, ascending */
	size_t n;
};

/*
 * All JVMs that the caller can see.  A process that is not ours to look into is left out when
 * nothing shows that it is a JVM.  -1 only when /proc itself cannot be read.
 */
int discover_all(const struct procfs *proc, struct jvm_list *list, struct err *err) _must_check_;

/*
 * The JVM of one pid, as the caller sees it.  NULL with err set: no such process, permission
 * (EXIT_PERMISSION), or not a JVM (EXIT_TARGET, naming what it is).
 */
struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err) _must_check_;

/*
 * How attaching to it would go right now: looks at the socket file, at who listens, at
 * SigCgt and at the flags.  Sends nothing.
 */
enum attach_state discover_attach_state(const struct procfs *proc, const struct jvm *jvm);

void jvm_list_release(struct jvm_list *list);

#endif
