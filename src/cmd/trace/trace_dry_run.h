/*
 * Rewrites a class in the client as the agent will, and verifies the result.
 *
 * JDK 8 to 21 do not verify boot classes when they are redefined: invalid code would crash the
 * JVM.  Therefore the same rewriter runs on the same bytes here before the JVM is asked.
 */
#ifndef JTOOL_CMD_TRACE_TRACE_DRY_RUN_H
#define JTOOL_CMD_TRACE_TRACE_DRY_RUN_H

#include "base/buf.h"
#include "classfile/inject/inject.h"
#include "model/redefine/redefinition.h"

/*
 * Inserts hooks into the methods of the probes, and sets `refused` in each probe that cannot be
 * instrumented.  Returns -1 with the reason in `why` if the class must not be changed.
 */
int trace_dry_run(const struct cf_class *class, bool is_boot, const struct redefinition_jvm *jvm,
		  struct cf_probe *probes, size_t n, struct buf *why) _must_check_;

#endif
