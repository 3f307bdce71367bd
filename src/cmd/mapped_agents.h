/* Finds the agent libraries that a JVM has mapped. */
#ifndef JTOOL_CMD_MAPPED_AGENTS_H
#define JTOOL_CMD_MAPPED_AGENTS_H

#include "cli/command.h"
#include "discover/agents.h"

/*
 * Appends to `agents` the agent libraries that ctx->jvm has mapped, see agents_from_maps().
 * Returns -1 with err set if the JVM has exited or denies access.
 */
int mapped_agents_find(const struct ctx *ctx, struct agents *agents, struct err *err) _must_check_;

#endif
