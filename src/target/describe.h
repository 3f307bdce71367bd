/*
 * Filling in what a JVM is, from each of the sources that tell.  Pure: no file is opened.
 */
#ifndef JTOOL_TARGET_DESCRIBE_H
#define JTOOL_TARGET_DESCRIBE_H

#include "proc/perfdata.h"
#include "target/cmdline.h"
#include "target/jvm.h"

/*
 * From hsperfdata: version, VM, collector, heap, command line, and whether attaching is enabled.
 * cmd helps where hsperfdata has cut a text or blurred where the main class ends.
 */
void describe_perfdata(struct jvm *jvm, const struct perfdata *perf, const struct cmdline *cmd);

/* Without hsperfdata: from the command line, and from the flags in /proc/PID/environ. */
void describe_cmdline(struct jvm *jvm, const struct cmdline *cmd, const char *env, size_t len);

/* JAVA_VERSION of a `release` file, allocated; NULL when there is none. */
char *describe_release(const char *text);

#endif
