/* Free memory, and the OOM killer's choice when there is none. */
#ifndef JTOOL_DISCOVER_FREE_MEMORY_H
#define JTOOL_DISCOVER_FREE_MEMORY_H

#include <stdint.h>

#include "proc/procfs.h"

/*
 * Returns the bytes that a process can allocate before memory is swapped out or a process killed:
 * the lesser of the kernel's MemAvailable and the free bytes of its cgroup; -1: unknown.
 */
int64_t free_memory(const struct procfs *proc, pid_t pid);

/*
 * Makes this process and its future children the OOM killer's first choice, because a JVM may share
 * its cgroup.  Needs no privilege; permanent and best effort.
 */
void oom_score_raise(void);

#endif
