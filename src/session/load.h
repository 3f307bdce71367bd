/* What a JVM's answer to `load` says about jtool's own agent. */
#ifndef JTOOL_SESSION_LOAD_H
#define JTOOL_SESSION_LOAD_H

#include "base/buf.h"
#include "base/err.h"
#include "target/jvm.h"

#define LOAD_REPLY_MAX 65536

/* 0 when it is loaded and running, else -1 with EXIT_AGENT and the reason. */
int load_check(const struct jvm *jvm, int status, const struct buf *output, struct err *err)
	_must_check_;

#endif
