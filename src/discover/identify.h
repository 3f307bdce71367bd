/* Fills in a JVM's properties from the texts of its files.  Opens no file. */
#ifndef JTOOL_DISCOVER_IDENTIFY_H
#define JTOOL_DISCOVER_IDENTIFY_H

#include <stdbool.h>

#include "proc/perfdata.h"
#include "discover/cmdline.h"
#include "discover/jvm.h"

/*
 * Fills in version, VM, collector, heap, command line, and whether attaching is enabled, from
 * hsperfdata.  `cmd` is used to complete texts that the JVM has cut in hsperfdata, and to find the
 * end of the main class in the counter sun.rt.javaCommand.
 */
void identify_perfdata(struct jvm *jvm, const struct perfdata *perf, const struct cmdline *cmd);

/*
 * The collector that the names of a JVM's threads imply.  Call identify_thread() for each thread in
 * ascending order of ids until it returns false.  Initially all fields are zero.
 */
struct gc_clues {
	const char *gc; /* name of the collector; NULL: no collector's thread was seen so far */
	bool saw_all;   /* every thread that the collector starts initially was seen */
};
bool identify_thread(struct gc_clues *clues, const char *name);

/*
 * Fills in the properties of a JVM without hsperfdata, from `cmd`, `env` (the `len` bytes of
 * /proc/PID/environ) and `clues`.
 */
void identify_cmdline(struct jvm *jvm, const struct cmdline *cmd, const char *env, size_t len,
		      const struct gc_clues *clues);

/* Returns the collector that `flags` selects; NULL: none. */
const char *identify_gc_flag(const char *flags);

/*
 * Returns JAVA_VERSION from the text of a `release` file; NULL if it is missing.  The caller frees
 * it.
 */
char *identify_release(const char *text);

#endif
