/*
 * Lets a parent process kill a child that makes no progress.  A child that is blocked by a file
 * system which does not answer cannot end itself.
 *
 * Every loop that may run in such a child and waits with a deadline of its own calls
 * watchdog_extend().
 */
#ifndef JTOOL_FILEIO_WATCHDOG_H
#define JTOOL_FILEIO_WATCHDOG_H

#include <stdint.h>

/* Shared memory of parent and child.  The parent kills the child at due_ns. */
struct watchdog {
	_Atomic int64_t due_ns; /* on the clock of monotonic_ns() */
};

/* In the child: sets the struct that watchdog_extend() will update. */
void watchdog_attach(struct watchdog *w);
/*
 * Postpones due_ns: the child promises to call this function again, or to end, within `ms` plus
 * WATCHDOG_WORK_MS for computation.  Has no effect in a process without a watchdog.
 */
void watchdog_extend(unsigned ms);
#define WATCHDOG_WORK_MS 30000

#endif
