/*
 * What the kernel allows a process's cgroup, and what it takes: versions 1 and 2.
 */
#ifndef JTOOL_TARGET_CGROUP_H
#define JTOOL_TARGET_CGROUP_H

#include <stdint.h>

#include "proc/procfs.h"

struct cgroup {
	int64_t memory_limit; /* bytes; -1: none, or not to be seen from here */
	int64_t memory_used;  /* of the group that has this limit; -1: as memory_limit */
	int64_t memory_free;  /* what it and all above it may still take; -1: as memory_limit */
	double cpus;          /* how many it may use on the average; -1: as memory_limit */
};

/*
 * The tightest limits of its group and those above, as far up as our own mounts show them.
 * Where they do not show its group for certain, nothing is told.
 */
void cgroup_read(const struct procfs *proc, pid_t pid, struct cgroup *out);

#endif
