/*
 * Checks that --exact, which replaces hundreds of classes, does not exceed the JVM's
 * MaxMetaspaceSize.  A JVM that runs out of metaspace may even exit (ExitOnOutOfMemoryError and
 * similar flags).
 */
#ifndef JTOOL_CMD_ALLOC_METASPACE_H
#define JTOOL_CMD_ALLOC_METASPACE_H

#include "cli/command.h"
#include "model/vm/vmflags.h"

/*
 * Returns -1 with err set (EXIT_ANSWER) if the JVM might exceed MaxMetaspaceSize with --exact.
 * Returns 0 if MaxMetaspaceSize suffices or is unlimited, or if the JVM does not report its used
 * metaspace.
 */
int metaspace_refuse(const struct ctx *ctx, const struct vmflags *flags,
		     struct err *err) _must_check_;

#endif
