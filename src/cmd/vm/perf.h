/*
 * What `perf` prints, for jcmd: the JDK's own does PerfCounter.print itself.
 */
#ifndef JTOOL_CMD_PERF_H
#define JTOOL_CMD_PERF_H

#include "base/buf.h"
#include "cmd.h"

/* All counters of a JVM, NAME=VALUE one a line, at the end of `text`. */
int perf_text(const struct jvm *jvm, struct buf *text, struct err *err) _must_check_;

#endif
