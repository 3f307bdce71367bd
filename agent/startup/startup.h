/*
 * The agent at JVM startup (-agentpath:FILE=alloc,file=OUT): records allocations without a client,
 * and writes a report when the JVM exits.  Clients that attach can read the recording with ALLOC.
 *
 * The recording begins at VMInit, before the main class is initialised.  Before VMInit, JDK 8 to 27
 * do not retransform classes, walk stacks or send allocation events.  A thread of the agent updates
 * the recording every second.  At JVM exit the agent writes the report; it does not remove hooks.
 */
#ifndef JTOOL_AGENT_STARTUP_STARTUP_H
#define JTOOL_AGENT_STARTUP_STARTUP_H

#include <jni.h>

/*
 * Returns 0, or JNI_ERR after a message on stderr.  Agent_OnLoad returns this value to the JVM,
 * which exits if it is JNI_ERR.
 */
jint ag_startup(JavaVM *vm, const char *options);

/* Prints "jtool agent: WHAT: WHYMORE" on the stderr of the JVM, in one write. */
void ag_startup_error(const char *what, const char *why, const char *more);

#endif
