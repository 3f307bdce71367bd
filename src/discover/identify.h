/* Fills in a JVM's properties from its sources.  Pure: opens no file. */
#ifndef JTOOL_DISCOVER_IDENTIFY_H
#define JTOOL_DISCOVER_IDENTIFY_H

#include <stdbool.h>

#include "proc/perfdata.h"
#include "discover/cmdline.h"
#include "discover/jvm.h"

/*
 * Fills in version, VM, collector, heap, command line, and whether attaching is enabled, from
 * hsperfdata.  `cmd` completes texts that hsperfdata has cut, and shows where the main class ends.
 */
void identify_perfdata(struct jvm *jvm, const struct perfdata *perf, const struct cmdline *cmd);

/*
 * What the names of a JVM's threads imply about its collector.  Call identify_thread() for each
 * thread in ascending order of ids until it returns false.  Initially all fields are zero.
 */
struct gc_clues {
	const char *gc; /* NULL: no thread of a collector was seen so far */
	bool saw_all;   /* every thread that the collector starts initially was seen */
};
bool identify_thread(struct gc_clues *clues, const char *name);

/* Fills in what is known without hsperfdata: from `cmd`, `env` (/proc/PID/environ) and threads. */
void identify_cmdline(struct jvm *jvm, const struct cmdline *cmd, const char *env, size_t len,
		      const struct gc_clues *clues);

/* Returns the collector that `flags` selects; NULL: none. */
const char *identify_gc_flag(const char *flags);

/* Returns the allocated JAVA_VERSION of a `release` file; NULL if there is none. */
char *identify_release(const char *text);

#endif
