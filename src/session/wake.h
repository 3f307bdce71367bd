/*
 * Wakes an agent that the JVM has loaded at its start and that sleeps.  No library is loaded, so
 * the JVM need not permit dynamic loading, prints no warning, and maps no further library.  The
 * request is described in agent/wire/wake.h.
 *
 * The diagnostic command JVMTI.data_dump sends the event DataDumpRequest, which wakes the agent.
 * JDK 8 does not have this command.  The attach operation "datadump" of JDK 8 sends the event, but
 * also prints a thread dump, so jtool does not wake an agent in JDK 8.  Agents of other vendors may
 * act upon the event, so jtool runs the command only if a jtool agent seems to sleep in the JVM.
 */
#ifndef JTOOL_SESSION_WAKE_H
#define JTOOL_SESSION_WAKE_H

#include "attach/attach.h"
#include "session/loaded_agents.h"
#include "session/staging/staged_file.h"

/* Returns the file name of a wake request; the caller frees it. */
char *wake_request_name(uint64_t address, const char *token) _must_check_;

/*
 * Binds the socket `listener` to the path of a new wake request, and makes the agent connect to the
 * socket.  Sets *request to the wake request, which must exist until the connection is accepted;
 * the caller frees *request in any case.  Returns 0 when the agent has connected; or 1 if the agent
 * does not wake; or -1 with `err` set: EXIT_AGENT if the request cannot be staged, or an error of
 * attaching.
 */
int wake_agent(const struct jvm *jvm, const struct attach_opts *opts,
	       const struct loaded_agent *agent, int listener, const char *token,
	       struct staged_file **request, struct err *err) _must_check_;

#endif
