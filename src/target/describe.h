/*
 * Filling in what a JVM is, from each of the sources that tell.  Pure: no file is opened.
 */
#ifndef JTOOL_TARGET_DESCRIBE_H
#define JTOOL_TARGET_DESCRIBE_H

#include <stdbool.h>

#include "proc/perfdata.h"
#include "target/cmdline.h"
#include "target/jvm.h"

/*
 * From hsperfdata: version, VM, collector, heap, command line, and whether attaching is enabled.
 * cmd helps where hsperfdata has cut a text or blurred where the main class ends.
 */
void describe_perfdata(struct jvm *jvm, const struct perfdata *perf, const struct cmdline *cmd);

/*
 * What the names of a JVM's threads tell about its collector: feed them in the order of their
 * ids until it returns false.  Start with gc NULL.
 */
struct gc_clues {
	const char *gc; /* NULL: no thread of a collector so far */
	bool is_whole;  /* whatever threads the collector has at first were seen */
};
bool describe_thread(struct gc_clues *clues, const char *name);

/*
 * Without hsperfdata: from the command line, from the flags in /proc/PID/environ, and from the
 * threads.
 */
void describe_cmdline(struct jvm *jvm, const struct cmdline *cmd, const char *env, size_t len,
		      const struct gc_clues *clues);

/* The collector that a text of flags chooses; NULL: none. */
const char *describe_gc_flag(const char *flags);

/* JAVA_VERSION of a `release` file, allocated; NULL when there is none. */
char *describe_release(const char *text);

#endif
