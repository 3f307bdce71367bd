/*
 * The sleeping agent: the JVM loads it at startup (-agentpath:FILE), and a client wakes it later.
 *
 * A sleeping agent has no thread and no socket, and allocates no memory.  It has one JVMTI
 * environment without capabilities, in which only the event DataDumpRequest is enabled.  HotSpot
 * sends this event when a client runs the diagnostic command JVMTI.data_dump, and at SIGQUIT.  The
 * agent then looks for the requests of clients (wire/wake.h), and starts a session for each.
 *
 * The JVM sends the event on one of its own threads, which the agent must not delay.  So the agent
 * makes a limited number of system calls, none of which waits.  The agent removes the requests of
 * clients that have exited.
 */
#ifndef JTOOL_AGENT_WAKE_H
#define JTOOL_AGENT_WAKE_H

#include <jni.h>
#include <stdint.h>

/*
 * Puts the agent to sleep until a client wakes it; does nothing if the agent sleeps already.
 * Returns NULL, or the reason of a failure.
 */
const char *ag_wake_enable(JavaVM *vm);

/*
 * Returns the token in `name` if `name` is the name of a request to the library mapped at
 * `address`, else NULL.  The token is not checked.
 */
const char *ag_wake_token(const char *name, uintptr_t address);

#endif
