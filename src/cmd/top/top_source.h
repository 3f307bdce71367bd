/* Reads the values of a JVM for `jtool top`: its counters, its process, its control group. */
#ifndef JTOOL_CMD_TOP_TOP_SOURCE_H
#define JTOOL_CMD_TOP_TOP_SOURCE_H

#include "discover/jvm.h"
#include "model/top/top_jvms.h"
#include "proc/perfdata.h"
#include "proc/procfs.h"

/* The state of one JVM that is needed from one reading to the next. */
struct top_source {
	const struct jvm *jvm;
	struct vm_history history;
	double cpu_limit;
	int64_t memory_limit;
	/* monotonic_ns() at which the two limits are read again; limits rarely change */
	int64_t limits_due_ns;
};

void top_source_begin(struct top_source *s, const struct jvm *jvm);

/*
 * Fills in *row from the JVM's process, its control group and its counters.  `perf` has the
 * counters; NULL: the JVM has none.  The texts of *row belong to s->jvm.  Returns 0, or -ESRCH if
 * the JVM has exited.
 */
int top_source_read(struct top_source *s, const struct procfs *proc, const struct perfdata *perf,
		    struct top_jvm *row) _must_check_;

#endif
