/*
 * A command handles one kind of request on the agent thread.  It opens a JNI local frame for its
 * own references.  The references in the class index must outlive the command, so the command
 * creates them outside this frame.
 */
#ifndef JTOOL_AGENT_CMD_COMMAND_H
#define JTOOL_AGENT_CMD_COMMAND_H

#include "util/chan.h"
#include "jvm/jvmti.h"

/*
 * Reads and executes a request, and writes the result frames.  Returns 0; or -1 with the error in
 * jvm->err; or -1 without an error in jvm->err if the channel is broken.  Before the function
 * returns, even after an error, it releases its capabilities, tags, memory and references.
 */
typedef int ag_cmd_fn(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request);

#define COMMAND(frame, name) ag_cmd_fn ag_cmd_##name;
#include "cmd/commands.def"
#undef COMMAND

#endif
