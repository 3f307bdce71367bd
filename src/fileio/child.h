/*
 * Waits, with a deadline, for child processes that may never end: another user can stop a child
 * that has taken that user's ids, and a dead file system can block a child so that not even SIGKILL
 * ends it.
 */
#ifndef JTOOL_FILEIO_CHILD_H
#define JTOOL_FILEIO_CHILD_H

#include <sys/types.h>

#include "base/deadline.h"
#include "base/util.h"

/*
 * Waits until the child has ended, sets *status as waitpid(2) does, and returns 0.  At the
 * deadline, kills the child and returns -ETIMEDOUT.  Returns another negative errno if waitpid(2)
 * fails.
 */
int child_wait(pid_t pid, int *status, struct deadline d) _must_check_;

/*
 * Waits like child_wait() for a child whose exit status is 0 or an errno.  Returns 0 or that errno,
 * negated; -ECHILD if a signal has ended the child; or what child_wait() returns if it fails.
 */
int child_wait_errno(pid_t pid, struct deadline d) _must_check_;

/*
 * Kills the child with SIGKILL.  Does not wait for a child that is blocked in the kernel; init
 * reaps such a child after this process has ended.
 */
void child_kill(pid_t pid);

#endif
