/*
 * The counters that a JVM publishes in its hsperfdata file, read again and again: no attaching,
 * no signal, nothing that the JVM could notice.
 */
#ifndef JTOOL_TARGET_COUNTERS_H
#define JTOOL_TARGET_COUNTERS_H

#include "base/err.h"
#include "proc/perfdata.h"
#include "proc/procfs.h"
#include "target/jvm.h"

struct counters {
	const struct jvm *jvm;
	struct procfs proc;
	int fd; /* of the file */
};

/*
 * Open the file of this JVM, by the same rules as discovery: a regular file of its user's, which
 * the JVM itself has mapped.  -1 with err set: EXIT_ANSWER when the JVM publishes none (naming
 * the flag that does it, and what to do instead), EXIT_ATTACH while it is still starting,
 * EXIT_PERMISSION, EXIT_PARTIAL when it is gone.
 */
int counters_open(struct counters *c, const struct jvm *jvm, struct err *err) _must_check_;
void counters_close(struct counters *c); /* one that counters_open() has opened */

/*
 * What they are now.  -1 with err set; EXIT_PARTIAL when the JVM has ended, whose file would
 * show its last figures for ever.
 */
int counters_read(const struct counters *c, struct perfdata *perf, struct err *err) _must_check_;

/* Open, read and close, for who wants them only once.  The same errors. */
int counters_read_once(const struct jvm *jvm, struct perfdata *perf, struct err *err) _must_check_;

/*
 * For discovery, which tells less where something fails: the file, below the root of the JVM
 * (an O_PATH directory), and what is in it.  A descriptor or 0, or a negative errno: -ENOENT
 * when it has mapped none, and those of perfdata_parse().
 */
int counters_open_file(const struct procfs *proc, const struct jvm *jvm, int root_fd) _must_check_;
int counters_read_file(int fd, struct perfdata *perf) _must_check_;

#endif
