/*
 * A session: the agent's work for one client, from the attach until the client disconnects.  It has
 * one JVMTI environment and one thread of its own.
 *
 * The client loads the agent with the options "PATH,TOKEN".  PATH is the path at which the JVM sees
 * the client's listening AF_UNIX socket; TOKEN is WIRE_TOKEN_LEN hexadecimal digits that only the
 * client knows.  The session connects to PATH and serves requests until the client sends BYE or
 * closes the connection.  After the session, the library stays mapped in the JVM, with the
 * patches that it has installed.
 */
#ifndef JTOOL_AGENT_SESSION_H
#define JTOOL_AGENT_SESSION_H

#include <jni.h>

#define AG_OPTIONS_MAX 1024 /* bytes; limit of the attach protocol */

/*
 * Starts a session.  Returns 0 once the session's thread runs.  On a failure frees everything and
 * returns a WIRE_REFUSED_* code: Agent_OnAttach returns this code, and the attach protocol sends it
 * to the client.
 */
jint ag_session_start(JavaVM *vm, const char *options);

#endif
