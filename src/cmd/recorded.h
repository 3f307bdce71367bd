/*
 * JVMs that were started with jtool's agent, to record what they allocate.
 */
#ifndef JTOOL_CMD_RECORDED_H
#define JTOOL_CMD_RECORDED_H

#include "cmd.h"
#include "target/agents.h"

/* Is it one of the flags, and has an agent record: -agentpath:FILE=alloc,...? */
bool recorded_wanted(const struct agent *agent);

/* Do the flags among the agents say so of one that is mapped? */
bool recorded_by(const struct agents *agents, const struct agent *mapped);

/* Does this JVM have one?  Nothing is loaded to find out; false, too, where it cannot be told. */
bool recorded_is_on(const struct ctx *ctx);

#endif
