/*
 * A command: one kind of request, run on the agent's thread.  What it refers to for its own time
 * it does in a local reference frame of its own; the roster's references outlive it.
 */
#ifndef JTOOL_AGENT_CMD_CMD_H
#define JTOOL_AGENT_CMD_CMD_H

#include "base/chan.h"
#include "jvm/ti.h"

/*
 * Read the request, do it, write its result frames.  -1: the error is recorded in jvm->err, or
 * the channel is broken.  Capabilities, tags, memory and references are given back either way.
 */
typedef int ag_cmd_fn(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request);

#define COMMAND(frame, name) ag_cmd_fn ag_cmd_##name;
#include "commands.def"
#undef COMMAND

#endif
