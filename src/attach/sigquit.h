/*
 * Wakes a JVM's attach listener.
 *
 * On SIGQUIT, HotSpot looks for the trigger file .attach_pid<pid> in the JVM's working directory,
 * then in the JVM's tmp directory.  If HotSpot finds the file, and the JVM's user owns it (or root,
 * except in JDK 8), HotSpot opens the attach socket; otherwise HotSpot prints a thread dump.  The
 * trigger file must therefore exist until the JVM has handled the signal.
 */
#ifndef JTOOL_ATTACH_SIGQUIT_H
#define JTOOL_ATTACH_SIGQUIT_H

#include "base/err.h"
#include "base/verbose.h"
#include "attach/attach_socket.h"

/*
 * Makes the JVM open its attach socket.  Returns 0 when the socket's file exists; or -1 with `err`
 * set, for example if the file does not exist after timeout_ms.  The caller has checked that the
 * JVM catches SIGQUIT; sigquit_wake() checks it again just before it sends the signal.  A child
 * with the target's user and group ids does the work.  The child removes the trigger file when the
 * JVM has opened the socket, or timeout_ms + 60 s after the signal, even if jtool was killed.
 */
int sigquit_wake(const struct attach_socket *asock, unsigned timeout_ms,
		 const struct verbose *verbose, struct err *err) _must_check_;

#endif
