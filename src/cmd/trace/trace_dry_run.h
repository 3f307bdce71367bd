/*
 * Rewrites a class in the client, in the same way as the agent will rewrite it, and verifies the
 * result.
 *
 * JDK 8 to 21 do not verify a boot class when it is redefined.  With -Xverify:none, no JDK
 * verifies any class.  Invalid code would then crash the JVM.  Therefore the client first runs the
 * agent's rewriter on the same bytes, before it asks the agent to change the class.
 */
#ifndef JTOOL_CMD_TRACE_TRACE_DRY_RUN_H
#define JTOOL_CMD_TRACE_TRACE_DRY_RUN_H

#include "base/buf.h"
#include "classfile/inject/inject.h"
#include "model/redefine/redefinition.h"

/*
 * Inserts hooks into a copy of the class, in the methods that the `n` probes name.  Sets `refused`
 * of each probe whose method cannot be instrumented.  Returns 0; or -1, with the reason in `why`,
 * if the class cannot be instrumented at all.
 */
int trace_dry_run(const struct cf_class *class, bool is_boot, const struct redefinition_jvm *jvm,
		  struct cf_probe *probes, size_t n, struct buf *why) _must_check_;

#endif
