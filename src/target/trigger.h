/*
 * Waking a JVM's attach listener: the trigger file, SIGQUIT, and the wait for the socket.
 *
 * On SIGQUIT HotSpot looks for .attach_pid<pid> in its working directory, then in its tmp
 * directory; when it finds one of its own user's, it opens the attach socket, else it prints a
 * thread dump.  So the file must be there until the JVM has taken the signal, however late.
 */
#ifndef JTOOL_TARGET_TRIGGER_H
#define JTOOL_TARGET_TRIGGER_H

#include "base/err.h"
#include "base/steps.h"
#include "target/point.h"

/*
 * Make the JVM open its socket, and wait until the file is there.  The caller knows that the
 * JVM catches SIGQUIT; it is looked up again just before the signal.  A child with the target's
 * ids does it all, and stays with the trigger file until the JVM has answered or a minute after
 * the deadline, even if we are killed.
 */
int trigger_pull(const struct point *point, unsigned timeout_ms, const struct steps *steps,
		 struct err *err) _must_check_;

#endif
