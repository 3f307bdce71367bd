/*
 * The sleeping agent: the JVM loads it at startup (-agentpath:FILE), and a client wakes it later.
 *
 * A sleeping agent has one JVMTI environment without capabilities, in which only the event
 * DataDumpRequest is enabled: no thread, no socket, no memory.  The event occurs when a client runs
 * the diagnostic command JVMTI.data_dump, and at SIGQUIT.  The agent then looks for requests, see
 * wire/wake.h, and starts a session for each one.  Without a request it does nothing.
 *
 * The event is sent on a thread of the JVM, at any time: the agent makes a limited number of system
 * calls, none of which waits.  A request whose client is gone is removed.
 */
#ifndef JTOOL_AGENT_WAKE_H
#define JTOOL_AGENT_WAKE_H

#include <jni.h>
#include <stdint.h>

/*
 * Lets the agent sleep until it is woken; does nothing if it sleeps already.  Returns NULL, or why
 * it failed.
 */
const char *ag_wake_enable(JavaVM *vm);

/*
 * Returns the token in `name` if it is the name of a request to the library at this address, else
 * NULL.  The token is not checked.
 */
const char *ag_wake_token(const char *name, uintptr_t address);

#endif
