/* Reads the counters that a JVM publishes in its hsperfdata file, without attaching or a signal. */
#ifndef JTOOL_DISCOVER_HSPERF_H
#define JTOOL_DISCOVER_HSPERF_H

#include "base/err.h"
#include "proc/perfdata.h"
#include "proc/procfs.h"
#include "discover/jvm.h"
#include "worker/worker.h"

/* An open hsperfdata file.  If its file system may not answer, a worker reads it. */
struct hsperf {
	const struct jvm *jvm;
	struct worker worker;
	/*
	 * the open file, if its file system cannot block, so that this process reads it; else NULL
	 */
	struct hsperf_source *here;
};

/*
 * Opens the JVM's hsperfdata file: a regular file of the JVM's user that the JVM has mapped.
 * Returns -1 with `err` set: EXIT_ANSWER if the JVM publishes no counters (the text names the flag
 * and an alternative), EXIT_ATTACH while the JVM is starting or if its file system does not answer,
 * EXIT_PERMISSION if jtool must not read the file, or EXIT_PARTIAL if the JVM has exited.
 */
int hsperf_open(struct hsperf *h, const struct jvm *jvm, struct err *err) _must_check_;
void hsperf_close(struct hsperf *h); /* call it only after hsperf_open() */

/*
 * Reads the current values.  Returns -1 with `err` set: EXIT_PARTIAL if the JVM has exited.  Each
 * call checks that the JVM is alive, because the file of a JVM that was killed keeps its last
 * values forever.
 */
int hsperf_read(struct hsperf *h, struct perfdata *perf, struct err *err) _must_check_;

/*
 * Opens, reads and closes the files of several JVMs, if necessary in workers, see worker_pool.h.
 * Calls visit() for each JVM in the order of `jvms`: with the values, or with NULL and an error of
 * hsperf_open() or hsperf_read().  hsperf_each() releases *perf after visit(); a visit() that keeps
 * the values copies the struct and sets *perf to zeros.
 */
typedef void hsperf_visit(void *arg, size_t i, struct perfdata *perf, const struct err *err);
void hsperf_each(struct jvm *const *jvms, size_t n, hsperf_visit *visit, void *arg);

/*
 * Opens, reads and closes the file of one JVM.  Errors are those of hsperf_open() and
 * hsperf_read().
 */
int hsperf_read_once(const struct jvm *jvm, struct perfdata *perf, struct err *err) _must_check_;

/*
 * For discovery, which needs no error texts.  hsperf_open_file() opens the file below the JVM's
 * root (an O_PATH directory) and returns the file's descriptor; hsperf_read_file() reads the file
 * and returns 0.  On an error, both return a negative errno: -ENOENT if the JVM has mapped no
 * hsperfdata file, or an error of perfdata_parse().
 */
int hsperf_open_file(const struct procfs *proc, const struct jvm *jvm, int root_fd) _must_check_;
int hsperf_read_file(int fd, struct perfdata *perf) _must_check_;

#endif
