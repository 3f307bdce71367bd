/* Detects JVMs that were started with jtool's agent to record their allocations. */
#ifndef JTOOL_CMD_ALLOC_RECORDING_H
#define JTOOL_CMD_ALLOC_RECORDING_H

#include "cli/command.h"
#include "discover/agents.h"

/* Whether `agent` is a command-line flag that starts a recording: -agentpath:FILE=alloc,... */
bool alloc_recording_wanted(const struct agent *agent);

/* Whether a flag in `agents` starts a recording in `mapped`, a mapped agent library of jtool. */
bool alloc_recording_by(const struct agents *agents, const struct agent *mapped);

/* Whether this JVM records its allocations; false if unknown.  Does not load an agent. */
bool alloc_recording_is_on(const struct ctx *ctx);

#endif
