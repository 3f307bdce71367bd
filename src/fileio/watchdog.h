/*
 * Lets a parent process kill a child that makes no progress: a process that waits for a file system
 * which does not answer cannot end itself.
 *
 * Every loop that waits with a deadline of its own calls watchdog_extend().
 */
#ifndef JTOOL_FILEIO_WATCHDOG_H
#define JTOOL_FILEIO_WATCHDOG_H

#include <stdint.h>

/* In memory that parent and child share: by when the child must end or call watchdog_extend(). */
struct watchdog {
	_Atomic int64_t due_ns; /* as monotonic_ns() */
};

/* In the child: sets the struct that watchdog_extend() updates. */
void watchdog_attach(struct watchdog *w);
/*
 * Promises that the next call, or the process's end, follows within `ms` plus WATCHDOG_WORK_MS for
 * computation.  Has no effect in a process without a watchdog.
 */
void watchdog_extend(unsigned ms);
#define WATCHDOG_WORK_MS 30000

#endif
