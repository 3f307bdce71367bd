/* The CPU limit of a process: its cgroup's quota, or the CPUs of its affinity if they are fewer. */
#ifndef JTOOL_DISCOVER_CPU_LIMIT_H
#define JTOOL_DISCOVER_CPU_LIMIT_H

#include <sys/types.h>

/* Returns how many CPUs a process may use at the same time, such as 2 or 0.5; -1: unknown. */
double cpu_limit(pid_t pid);

#endif
