/*
 * Lists the requests of other jtool clients in a JVM.  Asks all agent libraries of jtool that the
 * JVM has mapped, including those of other builds and those that were loaded at startup.  Maps no
 * library that is not mapped yet.
 */
#ifndef JTOOL_CMD_OTHER_SESSIONS_H
#define JTOOL_CMD_OTHER_SESSIONS_H

#include "cli/command.h"
#include "model/vm/activities.h"

/*
 * Finds the requests of other clients.  With `force`, makes all these requests end, and waits until
 * they have ended.  Prints a notice for a library that cannot be asked, and continues.  Returns 0
 * with *found filled in, or -1 with err set: EXIT_PARTIAL if a request did not end in time.
 */
int other_sessions_find(const struct ctx *ctx, bool force, struct activities *found,
			struct err *err) _must_check_;

#endif
