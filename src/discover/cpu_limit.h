/* The CPU limit of a process: the lower of its CPU affinity and its cgroup's quota. */
#ifndef JTOOL_DISCOVER_CPU_LIMIT_H
#define JTOOL_DISCOVER_CPU_LIMIT_H

#include <sys/types.h>

/* Returns the number of CPUs that a process may use, such as 2 or 0.5; -1: unknown. */
double cpu_limit(pid_t pid);

#endif
