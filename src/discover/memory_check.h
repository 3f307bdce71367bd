/*
 * Checks whether the control groups of a JVM, and this machine, have enough memory for a request:
 * for the JVM's growth and for jtool.  See memory_room.h.
 */
#ifndef JTOOL_DISCOVER_MEMORY_CHECK_H
#define JTOOL_DISCOVER_MEMORY_CHECK_H

#include "base/err.h"
#include "discover/jvm.h"
#include "discover/memory_room.h"
#include "proc/procfs.h"

/*
 * Checks whether there is enough memory for a request of the kind `use`; call it before jtool sends
 * the request.  Returns 0 with the remaining memory in *room (may be NULL).  Returns -1 with
 * EXIT_PARTIAL set if the request could make the kernel kill the JVM; the text has a remedy.
 */
int memory_check(const struct jvm *jvm, enum memory_use use, struct memory_room *room,
		 struct err *err) _must_check_;

/*
 * Repeats memory_check() while a request is in progress.  memory_watch() measures at most every 20
 * ms, and fails when less than the reserve (memory_room.h) is left.
 */
struct memory_watch {
	const struct jvm *jvm;
	int64_t next_ns; /* when to measure next, by monotonic_ns() */
	/*
	 * A snapshot is in use: the pages that the kernel copies for it need room in addition to
	 * the reserve.
	 */
	bool copies;
};
int memory_watch(struct memory_watch *watch, struct err *err) _must_check_;

/* Returns the resident and swapped bytes of the JVM; -1: unknown. */
int64_t memory_resident(const struct jvm *jvm);

/* Sets *level to the memory of this machine.  Returns 0, or -ENODATA if it is unknown. */
int memory_machine(const struct procfs *proc, struct cgroup_level *level) _must_check_;

/*
 * Returns how many bytes a process can allocate before memory is swapped out or the OOM killer
 * runs: the lesser of the kernel's MemAvailable and the free bytes of its cgroup; -1: unknown.
 */
int64_t memory_free(const struct procfs *proc, pid_t pid);

/*
 * Makes this process and its future children the OOM killer's first choice, because a JVM may share
 * their cgroup.  Needs no privilege and cannot be undone.  Does nothing if the kernel refuses.
 */
void oom_score_raise(void);

/* Returns how many bytes jtool may allocate now in its own cgroup; INT64_MAX: unknown. */
int64_t memory_left(void);

#endif
