/*
 * What other clients of jtool do in a JVM.  Queries all agent libraries of jtool that the JVM has
 * mapped, also those of other builds and those that it has started with; loads none.
 */
#ifndef JTOOL_CMD_OTHER_SESSIONS_H
#define JTOOL_CMD_OTHER_SESSIONS_H

#include "cli/command.h"
#include "model/vm/activities.h"

/*
 * Finds what goes on.  With `force` asks all of it to end, and waits until it has.  Prints a notice
 * for a library that cannot be queried.  Returns 0 with *found filled, or -1 with err set, also if
 * something has not ended (EXIT_PARTIAL).
 */
int other_sessions_find(const struct ctx *ctx, bool force, struct activities *found,
			struct err *err) _must_check_;

#endif
