/*
 * What the agent will do to a class, done here first.
 *
 * JDK 8 to 21 do not verify boot classes when they are redefined: bad code there would end the
 * process.  So the very rewriter is run on the very bytes before the JVM is asked, and what comes
 * out is checked and verified.
 */
#ifndef JTOOL_CMD_TRACE_REHEARSE_H
#define JTOOL_CMD_TRACE_REHEARSE_H

#include "base/buf.h"
#include "classfile/inject.h"
#include "model/redefinition.h"

/*
 * Hook the probes' methods; those that cannot be are marked.  -1: the class is to be left alone,
 * and `why` says why.
 */
int trace_rehearse(const struct cf_class *class, bool is_boot, const struct redefinition_jvm *jvm,
		   struct cf_probe *probes, size_t n, struct buf *why) _must_check_;

#endif
