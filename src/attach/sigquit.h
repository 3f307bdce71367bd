/*
 * Wakes a JVM's attach listener.
 *
 * On SIGQUIT, HotSpot looks for the trigger file .attach_pid<pid> in its working directory, then in
 * its tmp directory.  If the JVM's user owns that file, HotSpot opens the attach socket; otherwise
 * HotSpot prints a thread dump.  The trigger file must therefore exist until the JVM has handled
 * the signal.
 */
#ifndef JTOOL_ATTACH_SIGQUIT_H
#define JTOOL_ATTACH_SIGQUIT_H

#include "base/err.h"
#include "base/verbose.h"
#include "attach/attach_socket.h"

/*
 * Makes the JVM open its attach socket, and waits for the socket's file.  The caller has checked
 * that the JVM catches SIGQUIT; this is checked again just before the signal.  A child with the
 * target's user and group ids does the work.  Even if jtool is killed, the child keeps the trigger
 * file until the JVM has opened the socket, but for at most timeout_ms and a minute.
 */
int sigquit_wake(const struct attach_socket *asock, unsigned timeout_ms,
		 const struct verbose *verbose, struct err *err) _must_check_;

#endif
