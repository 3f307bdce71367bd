/* The agent, as the build put it into this binary: compressed, which halves it. */
#ifndef JTOOL_SESSION_EMBEDDED_H
#define JTOOL_SESSION_EMBEDDED_H

#include "base/buf.h"
#include "base/err.h"

/* The shared object, into an empty buffer.  -1 with err set: this binary is damaged. */
int embedded_agent(struct buf *agent, struct err *err) _must_check_;

#endif
