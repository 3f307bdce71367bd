/* Limits and usage of a process's cgroup, versions 1 and 2. */
#ifndef JTOOL_DISCOVER_CGROUP_H
#define JTOOL_DISCOVER_CGROUP_H

#include <stdint.h>

#include "proc/procfs.h"

struct cgroup {
	int64_t memory_limit; /* bytes; -1: none, or not visible to us */
	int64_t memory_used;  /* bytes, of the group with memory_limit; -1: as memory_limit */
	int64_t memory_free;  /* bytes free in this and every group above; -1: as memory_limit */
	double cpus;          /* average CPUs allowed; -1: as memory_limit */
};

/*
 * Reads the lowest limits of the process's group and the groups above it, as far as our own mounts
 * show them.  Reads nothing if the process's group is uncertain.
 */
void cgroup_read(const struct procfs *proc, pid_t pid, struct cgroup *out);

#endif
