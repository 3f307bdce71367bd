/* Limits and usage of a process's cgroup, versions 1 and 2. */
#ifndef JTOOL_DISCOVER_CGROUP_H
#define JTOOL_DISCOVER_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/procfs.h"

struct cgroup {
	int64_t memory_limit; /* limit in bytes; -1: no limit, or not visible to jtool */
	/* bytes used in the group to which memory_limit belongs; -1: no limit, or not visible */
	int64_t memory_used;
	/*
	 * bytes that the process can still use: the smallest free memory among the process's group
	 * and its parent groups; -1: no limit, or not visible
	 */
	int64_t memory_free;
	double cpus;          /* number of CPUs allowed on average; -1: no quota, or not visible */
};

/*
 * Reads the lowest limits of the process's group and its parent groups, as far as jtool's cgroup
 * mounts show these groups.  Sets all values to -1 if jtool cannot determine the process's group.
 */
void cgroup_read(const struct procfs *proc, pid_t pid, struct cgroup *out);

/* The lowest CPU quota among a process's group and its parent groups. */
struct cgroup_cpu {
	double cpus;        /* number of CPUs allowed on average; -1: no quota, or not visible */
	double throttled_s; /* seconds of throttling in the group with this quota; -1: unknown */
};
void cgroup_cpu_read(const struct procfs *proc, pid_t pid, struct cgroup_cpu *out);

/* A group with a memory limit: the process's own group or a parent of it. */
struct cgroup_level {
	/*
	 * The limit and the free memory in bytes.  `free` includes the inactive file pages, which
	 * the kernel reclaims first; 0 if the memory in use is unknown.
	 */
	int64_t limit, free;
	int64_t used;        /* bytes in use, including inactive file pages; -1: unknown */
	/*
	 * true: jtool itself is in this group too, so jtool's memory and the process's memory both
	 * count towards `limit`
	 */
	bool shared;
	/*
	 * true: memory.oom.group (cgroup version 2) is set, so the kernel kills all processes of
	 * the group when the limit is exceeded, and not only one process
	 */
	bool kills_all;
};
#define CGROUP_LEVELS_MAX 16

/*
 * Reads the groups that limit a process's memory, from the process's own group upwards, as far as
 * jtool's cgroup mounts show these groups.  Returns the number of groups, or -ENOENT if jtool's
 * mounts do not show the process's group.
 */
int cgroup_levels(const struct procfs *proc, pid_t pid,
		  struct cgroup_level levels[CGROUP_LEVELS_MAX]);

/*
 * Reads the groups that the process itself can see in its own cgroup mounts.  Call it for a process
 * in another container: jtool's own mounts do not show the groups of that process, and jtool is in
 * none of these groups.  A worker reads the files of the groups, because the process's file systems
 * may not answer.  Returns the number of groups; 0 if the process can see none or has jtool's
 * mounts; or the negative errno of worker_run() if the worker failed.
 */
int cgroup_levels_inside(const struct procfs *proc, pid_t pid,
			 struct cgroup_level levels[CGROUP_LEVELS_MAX]);

/*
 * Returns the lowest limit, in bytes, among the groups of cgroup_levels(); if that function fails,
 * among the groups of cgroup_levels_inside().  Returns -1 if no group has a limit or if the groups
 * cannot be read.
 */
int64_t cgroup_lowest_limit(const struct procfs *proc, pid_t pid);

#endif
