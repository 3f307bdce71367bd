/*
 * Wakes an agent that sleeps since its JVM's start, instead of loading one.  The JVM need not
 * permit dynamic loading, prints nothing, and maps nothing.  agent/wire/wake.h describes the
 * request.
 *
 * The diagnostic command JVMTI.data_dump wakes it; JDK 8 has no such command.  The attach operation
 * "datadump" would print a thread dump, too.  Other agents may also act upon the event, so the
 * command is run only if an agent is believed to sleep.
 */
#ifndef JTOOL_SESSION_WAKE_H
#define JTOOL_SESSION_WAKE_H

#include "attach/attach.h"
#include "session/loaded_agents.h"
#include "session/staging/staged_file.h"

/* Returns the name of a request, which the caller frees. */
char *wake_request_name(uint64_t address, const char *token) _must_check_;

/*
 * Lets the agent connect to `listener`, an unbound socket.  *request must exist until the
 * connection is accepted; the caller frees it in any case.  Returns 0 when the agent has connected,
 * 1 if it does not wake, or -1 with `err` set: EXIT_AGENT if the request cannot be staged, or an
 * attach error.
 */
int wake_agent(const struct jvm *jvm, const struct attach_opts *opts,
	       const struct loaded_agent *agent, int listener, const char *token,
	       struct staged_file **request, struct err *err) _must_check_;

#endif
