/* Detects JVMs that load jtool's agent at their start and make it record allocations. */
#ifndef JTOOL_CMD_ALLOC_RECORDING_H
#define JTOOL_CMD_ALLOC_RECORDING_H

#include "cli/command.h"
#include "discover/agents.h"

/*
 * Returns true if `agent` is from a flag -agentpath:FILE=OPTIONS whose OPTIONS contain "alloc",
 * which makes jtool's agent record allocations.
 */
bool alloc_recording_wanted(const struct agent *agent);

/*
 * Returns true if `mapped` is an agent library of jtool that the JVM has mapped, and if one of
 * `agents` is from a flag that makes this library record allocations.
 */
bool alloc_recording_by(const struct agents *agents, const struct agent *mapped);

/*
 * Returns true if an agent of jtool records the allocations of ctx->jvm; false if not, or if that
 * is unknown.  Loads no agent.
 */
bool alloc_recording_is_on(const struct ctx *ctx);

#endif
