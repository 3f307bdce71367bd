/* Limits and usage of a process's cgroup, versions 1 and 2. */
#ifndef JTOOL_DISCOVER_CGROUP_H
#define JTOOL_DISCOVER_CGROUP_H

#include <stdbool.h>
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

/* The lowest CPU quota of a process's group and the groups above it; -1: none, or not visible. */
struct cgroup_cpu {
	double cpus;        /* average CPUs allowed */
	double throttled_s; /* how long the group with this quota was throttled so far */
};
void cgroup_cpu_read(const struct procfs *proc, pid_t pid, struct cgroup_cpu *out);

/* A group with a memory limit: a process's own, or one above it. */
struct cgroup_level {
	int64_t limit, free; /* bytes; file pages that the kernel reclaims first count as free */
	int64_t used;        /* bytes, with these pages; -1: unknown */
	bool shared;         /* jtool is in it, too: jtool's memory counts */
	/* Version 2, memory.oom.group: when the limit kills one process, it kills all of them. */
	bool kills_all;
};
#define CGROUP_LEVELS_MAX 16

/*
 * Reads the groups that limit a process's memory, from its own upwards, as far as our own mounts
 * show them.  Returns their number, or -ENOENT if they do not show the process's group.
 */
int cgroup_levels(const struct procfs *proc, pid_t pid,
		  struct cgroup_level levels[CGROUP_LEVELS_MAX]);

/*
 * Reads those that the process itself can see, below its root: for a process in another container,
 * whose groups our mounts do not show.  None is shared.  A worker looks, because the process's
 * file system may hang.  Returns their number; 0: none is visible; or a negative errno: the worker
 * was given up, see worker_call().
 */
int cgroup_levels_inside(const struct procfs *proc, pid_t pid,
			 struct cgroup_level levels[CGROUP_LEVELS_MAX]);

/* Returns the lowest limit of the groups that either function finds, in bytes; -1: none. */
int64_t cgroup_lowest_limit(const struct procfs *proc, pid_t pid);

#endif
