/*
 * How much of the machine's processors a process may use.
 */
#ifndef JTOOL_TARGET_PROCESSORS_H
#define JTOOL_TARGET_PROCESSORS_H

#include <sys/types.h>

/* What its affinity and its cgroup allow, whichever is less: 2, 0.5; -1 when it cannot be told. */
double processors_of(pid_t pid);

#endif
