/* Interprets a JVM's reply to the operation `load` with jtool's own agent. */
#ifndef JTOOL_SESSION_LOAD_REPLY_H
#define JTOOL_SESSION_LOAD_REPLY_H

#include "base/buf.h"
#include "base/err.h"
#include "discover/jvm.h"

#define LOAD_REPLY_MAX 65536 /* limit in bytes; the rest of a longer reply is ignored */

/*
 * Returns 0 if the reply says that the agent is loaded and running; else -1 with err set to
 * EXIT_AGENT and the reason.  `remedy` is a text that says what to do if the JVM does not permit
 * dynamic loading.
 */
int load_reply_check(const struct jvm *jvm, int status, const struct buf *output,
		     const char *remedy, struct err *err) _must_check_;

#endif
