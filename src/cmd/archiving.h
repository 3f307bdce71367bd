/*
 * A JVM that will write an archive of its classes (CDS, AOT) must keep them as they are: what was
 * ever redefined or retransformed is left out, with all that inherits from it, also when it has
 * been put back.  If that is java.lang.Object, or another class that the archive cannot be
 * without, HotSpot crashes while it writes it (JDK 17, 25, 27), or writes none (21).
 */
#ifndef JTOOL_CMD_ARCHIVING_H
#define JTOOL_CMD_ARCHIVING_H

#include "cmd.h"
#include "model/vmflags.h"

/* -1 with err set (EXIT_ANSWER): it will write one. */
int archiving_refuse(const struct ctx *ctx, const struct vmflags *flags, struct err *err)
	_must_check_;
/* The same of a JVM that is asked.  What it does not tell is no reason. */
int archiving_check(const struct ctx *ctx, struct err *err) _must_check_;

#endif
