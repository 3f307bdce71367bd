/*
 * Lists the requests that other jtool clients have sent to agents in a JVM.  Asks all agent
 * libraries of jtool that the JVM has mapped, including libraries of other builds of jtool and
 * libraries that the JVM has loaded at startup.  The JVM loads no further library for this.
 */
#ifndef JTOOL_CMD_OTHER_SESSIONS_H
#define JTOOL_CMD_OTHER_SESSIONS_H

#include "cli/command.h"
#include "model/vm/activities.h"

/*
 * Finds the requests of other clients.  If `force` is true, makes all these requests end, and waits
 * until they have ended.  If jtool cannot connect to the agent of a library, prints a notice and
 * continues with the next library.  Returns 0 with *found filled in; or -1 with err set:
 * EXIT_PARTIAL if a request did not end in time.
 */
int other_sessions_find(const struct ctx *ctx, bool force, struct activities *found,
			struct err *err) _must_check_;

#endif
