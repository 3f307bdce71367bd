/*
 * Produces the output of `jtool counters`.  `jtool jcmd TARGET PerfCounter.print` has the same
 * output.
 */
#ifndef JTOOL_CMD_VM_COUNTERS_H
#define JTOOL_CMD_VM_COUNTERS_H

#include "base/buf.h"
#include "cli/command.h"

/* Appends all counters as lines NAME=VALUE.  Returns 0, or -1 with err set. */
int counters_text(const struct jvm *jvm, struct buf *text, struct err *err) _must_check_;

#endif
