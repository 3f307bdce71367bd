/*
 * A JVM whose classes may have no more than MaxMetaspaceSize: that they are replaced by hundreds
 * must not be what it runs out of memory over, or even ends itself (ExitOnOutOfMemoryError and the
 * like).
 */
#ifndef JTOOL_CMD_METASPACE_H
#define JTOOL_CMD_METASPACE_H

#include "cmd.h"
#include "model/vmflags.h"

/*
 * -1 with err set (EXIT_ANSWER): it might.  How much is used the JVM is asked only where there is a
 * limit; that it does not tell is no reason.
 */
int metaspace_refuse(const struct ctx *ctx, const struct vmflags *flags, struct err *err)
	_must_check_;

#endif
