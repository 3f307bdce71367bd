/*
 * Memory of our own: how much there is, and whose life is dearer than ours when it is out.
 */
#ifndef JTOOL_TARGET_MEMORY_H
#define JTOOL_TARGET_MEMORY_H

#include <stdint.h>

#include "proc/procfs.h"

/*
 * Bytes that a process can take before anybody else is swapped out or killed: what the kernel
 * has free (MemAvailable) or what the process's own cgroup may still take, whichever is less.
 * -1: unknown.
 */
int64_t memory_free(const struct procfs *proc, pid_t pid);

/*
 * Should memory run out, have the kernel end this process before any other: the JVM that it
 * looks into may share its cgroup.  For good, and for children that are forked from now on; it
 * takes no privilege, and where it fails all is as it was.
 */
void memory_yield(void);

#endif
