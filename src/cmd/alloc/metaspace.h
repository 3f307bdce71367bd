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
 * Returns -1 with err set (EXIT_ANSWER) if MaxMetaspaceSize might be exceeded.  Returns 0 if it
 * suffices, if it is unlimited, or if the JVM does not report how much metaspace is in use.
 */
int metaspace_refuse(const struct ctx *ctx, const struct vmflags *flags,
		     struct err *err) _must_check_;

#endif
