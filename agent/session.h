/*
 * A session: one attach, one JVMTI environment, one thread, one client.
 *
 * The agent is loaded with the options "PATH,TOKEN": the client's listening AF_UNIX socket as
 * this process sees it, and WIRE_TOKEN_LEN hexadecimal digits that only the client knows.  The
 * session connects to it and serves requests until the client says BYE or goes away, by whatever
 * end.  Then nothing of it is left in the JVM but the mapped library.
 */
#ifndef JTOOL_AGENT_SESSION_H
#define JTOOL_AGENT_SESSION_H

#include <jni.h>

#define AG_OPTIONS_MAX 1024 /* what the attach protocol lets through */

/*
 * Start one.  0 once its thread runs, otherwise a WIRE_REFUSED_* that Agent_OnAttach returns and
 * the attach protocol carries to the client; nothing is left behind then.
 */
jint ag_session_start(JavaVM *vm, const char *options);

#endif
