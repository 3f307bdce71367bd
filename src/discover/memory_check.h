/*
 * Checks whether enough memory is free for a request, on this machine and in the JVM's control
 * groups: enough for the growth of the JVM, and for jtool.  memory_room.h has the rules.
 */
#ifndef JTOOL_DISCOVER_MEMORY_CHECK_H
#define JTOOL_DISCOVER_MEMORY_CHECK_H

#include "base/err.h"
#include "discover/jvm.h"
#include "discover/memory_room.h"
#include "proc/procfs.h"

/*
 * Checks whether there is enough memory for a request of the kind `use`.  Call this function before
 * jtool sends the request.  Returns 0 with *room set to the memory that will remain (`room` may be
 * NULL).  Returns -1 with err set to EXIT_PARTIAL if the request could make the kernel kill the
 * JVM; the error text has a remedy.
 */
int memory_check(const struct jvm *jvm, enum memory_use use, struct memory_room *room,
		 struct err *err) _must_check_;

/*
 * Call memory_watch() repeatedly while a request is in progress.  It measures the free memory at
 * most every 20 ms.  Returns 0; or -1 with err set (EXIT_PARTIAL) if less memory than the reserve
 * (memory_room.h) is free.
 */
struct memory_watch {
	const struct jvm *jvm;
	int64_t next_ns; /* when to measure next, by monotonic_ns() */
};
int memory_watch(struct memory_watch *watch, struct err *err) _must_check_;

/* Returns the sum of the JVM's resident and swapped bytes; -1: unknown. */
int64_t memory_resident(const struct jvm *jvm);

/*
 * Returns the used heap in bytes, as the JVM last published it.  If the JVM has published nothing
 * (no counters, or G1 while all objects are in one region), returns an upper bound: the smaller of
 * the resident memory and the maximum heap size.  Returns -1 if no bound is known.
 */
int64_t memory_heap_used(const struct jvm *jvm);

/* Sets *level to the memory of this machine.  Returns 0, or -ENODATA if it is unknown. */
int memory_machine(const struct procfs *proc, struct cgroup_level *level) _must_check_;

/*
 * Returns how many bytes a process can allocate before the kernel swaps memory out or runs the OOM
 * killer: MemAvailable, or the free bytes of the process's cgroup if they are fewer; -1: unknown.
 */
int64_t memory_free(const struct procfs *proc, pid_t pid);

/*
 * Makes the OOM killer choose this process and its future children first, rather than a JVM in the
 * same cgroup.  Needs no privilege and cannot be undone.  Does nothing if the kernel refuses.
 */
void oom_score_raise(void);

/*
 * Returns how many bytes jtool may allocate now, by the limits of its cgroups and the free memory
 * of this machine; INT64_MAX: unknown.
 */
int64_t memory_left(void);

#endif
