/*
 * A set of processes.  It has no pointers, so that it can be in memory that is shared with child
 * processes.  The children are not trusted: they may write anything to it.
 */
#ifndef JTOOL_PROC_PROCESS_SET_H
#define JTOOL_PROC_PROCESS_SET_H

#include <stdbool.h>

#include "proc/procfs.h"

#define PROCESS_SET_MAX 128

struct process_set {
	size_t n;
	struct {
		pid_t pid;
		uint64_t start_ticks; /* differs for a later process with the same pid */
	} processes[PROCESS_SET_MAX];
};

/* Returns true if the process that has this pid now is in the set. */
bool process_set_has(const struct process_set *set, const struct procfs *proc, pid_t pid);

/* Adds a process.  If the set is full, or the process is in it, does nothing. */
void process_set_add(struct process_set *set, pid_t pid, uint64_t start_ticks);

#endif
