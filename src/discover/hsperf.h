/* Reads the counters that a JVM publishes in its hsperfdata file.  Neither attaches nor signals. */
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
	 * If the file system cannot block this process: the open file, which this process reads;
	 * else NULL.
	 */
	struct hsperf_source *here;
};

/*
 * Opens the JVM's hsperfdata file, which must be a regular file that the JVM has mapped.  The JVM's
 * user must own the file, unless it was deleted.  Returns 0, or -1 with `err` set to
 * - EXIT_ANSWER if the JVM publishes no counters; the error text has the reason, and a command to
 *   use instead;
 * - EXIT_ATTACH if the JVM is still starting, or if the file's file system does not answer;
 * - EXIT_PERMISSION if jtool has no permission to read the file;
 * - EXIT_PARTIAL if the JVM has exited.
 */
int hsperf_open(struct hsperf *h, const struct jvm *jvm, struct err *err) _must_check_;
void hsperf_close(struct hsperf *h); /* call it only after hsperf_open() */

/*
 * Reads the current values of the counters.  Returns 0; or -1 with `err` set, to EXIT_PARTIAL if
 * the JVM has exited.  Each call checks that the JVM is alive, because a JVM that is killed leaves
 * its file, with its last values.
 */
int hsperf_read(struct hsperf *h, struct perfdata *perf, struct err *err) _must_check_;

/*
 * Opens, reads and closes the files of several JVMs, in workers where necessary (worker_pool.h).
 * With `as_found`, takes the counters that discover_all() has read, if it has read them in this
 * process: a caller that has just called it needs no newer ones.
 *
 * Calls visit() for each JVM, in the order of `jvms`, with the JVM's counters in *perf; or with
 * `perf` NULL and an error of hsperf_open() or hsperf_read().  hsperf_each() releases *perf after
 * visit().  To keep the counters, visit() copies *perf and then sets *perf to zeros.
 */
typedef void hsperf_visit(void *arg, size_t i, struct perfdata *perf, const struct err *err);
void hsperf_each(struct jvm *const *jvms, size_t n, bool as_found, hsperf_visit *visit, void *arg);

/*
 * Opens, reads and closes the file of one JVM.  Returns 0; or -1 with an error of hsperf_open() or
 * hsperf_read().
 */
int hsperf_read_once(const struct jvm *jvm, struct perfdata *perf, struct err *err) _must_check_;

/*
 * For jvm_files.c, which needs no error texts.  hsperf_open_file() opens the file below root_fd, an
 * O_PATH descriptor of the JVM's root directory.  Returns a descriptor; -ENOENT if the JVM has
 * mapped no hsperfdata file; or another negative errno.  hsperf_read_file() reads and parses the
 * file.  Returns 0; an error of perfdata_parse(); or another negative errno.
 */
int hsperf_open_file(const struct procfs *proc, const struct jvm *jvm, int root_fd) _must_check_;
int hsperf_read_file(int fd, struct perfdata *perf) _must_check_;

/*
 * For hsperf*.c: a JVM's hsperfdata file.  The process that reads the file, a worker or jtool, has
 * it open.
 */
struct hsperf_source {
	const struct jvm *jvm;
	struct procfs proc;
	int fd; /* -1: not open */
};
/* The errors are those of hsperf_open() and hsperf_read(). */
int hsperf_source_open(struct hsperf_source *s, const struct jvm *jvm,
		       struct err *err) _must_check_;
void hsperf_source_close(struct hsperf_source *s);
/* Appends the content of the file to `bytes`. */
int hsperf_source_read(const struct hsperf_source *s, struct buf *bytes,
		       struct err *err) _must_check_;
/* Parses the content of the file, and takes the data. */
int hsperf_source_parse(const struct jvm *jvm, struct buf *bytes, struct perfdata *perf,
			struct err *err) _must_check_;
/* Opens, reads, closes and parses the file in this process. */
int hsperf_source_read_once(const struct jvm *jvm, struct perfdata *perf,
			    struct err *err) _must_check_;

#endif
