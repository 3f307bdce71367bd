/* Detects JVMs that were started with jtool's agent to record their allocations. */
#ifndef JTOOL_CMD_ALLOC_RECORDING_H
#define JTOOL_CMD_ALLOC_RECORDING_H

#include "cli/command.h"
#include "discover/agents.h"

/*
 * Returns whether `agent` is a flag -agentpath:FILE=OPTIONS with the option "alloc", which makes
 * the JVM record its allocations.
 */
bool alloc_recording_wanted(const struct agent *agent);

/*
 * Returns whether one of `agents` is the flag that makes `mapped` record allocations.  `mapped` is
 * a library of jtool's agent that the JVM has mapped.
 */
bool alloc_recording_by(const struct agents *agents, const struct agent *mapped);

/* Returns whether ctx->jvm records its allocations; false if that is unknown.  Loads no agent. */
bool alloc_recording_is_on(const struct ctx *ctx);

#endif
