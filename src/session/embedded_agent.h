/* The agent's shared object, which the build embeds in this program in compressed form. */
#ifndef JTOOL_SESSION_EMBEDDED_AGENT_H
#define JTOOL_SESSION_EMBEDDED_AGENT_H

#include "base/buf.h"
#include "base/err.h"

/* Decompresses the agent into an empty buffer.  Returns -1 with `err` set if jtool is damaged. */
int embedded_agent(struct buf *agent, struct err *err) _must_check_;

#endif
