/*
 * Lets a parent process kill a child process that makes no progress, because a child that waits for
 * a file system which does not answer cannot end itself.
 *
 * A loop that may run in such a child, and that waits up to a deadline of its own, must call
 * watchdog_extend().
 */
#ifndef JTOOL_FILEIO_WATCHDOG_H
#define JTOOL_FILEIO_WATCHDOG_H

#include <stdint.h>

/* In memory that parent and child share.  The parent kills the child at the time due_ns. */
struct watchdog {
	_Atomic int64_t due_ns; /* on the clock of monotonic_ns() */
};

/* In the child: sets the struct that watchdog_extend() will update. */
void watchdog_attach(struct watchdog *w);
/*
 * In the child: sets due_ns to `ms` + WATCHDOG_WORK_MS milliseconds from now.  Before due_ns, the
 * child must call this function again or end.  WATCHDOG_WORK_MS is for computation, `ms` for
 * waiting.  Has no effect in a process without a watchdog.
 */
void watchdog_extend(unsigned ms);
#define WATCHDOG_WORK_MS 30000

#endif
