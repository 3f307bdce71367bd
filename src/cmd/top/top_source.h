/* The values of one JVM that `jtool top` reads: its counters, its process and its control group. */
#ifndef JTOOL_CMD_TOP_TOP_SOURCE_H
#define JTOOL_CMD_TOP_TOP_SOURCE_H

#include "discover/jvm.h"
#include "model/top/top_jvms.h"
#include "proc/perfdata.h"
#include "proc/procfs.h"

/* State that is needed from one reading to the next. */
struct top_source {
	const struct jvm *jvm;
	struct vm_history history;
	double cpu_limit;
	int64_t memory_limit;
	int64_t limits_due_ns; /* when the group's limits are read again; they rarely change */
};

void top_source_begin(struct top_source *s, const struct jvm *jvm);

/*
 * Fills in *row from the JVM's process, its group and the counters in `perf`, which is NULL if
 * there are none.  The texts of *row belong to the JVM.  Returns -ESRCH if the JVM has exited.
 */
int top_source_read(struct top_source *s, const struct procfs *proc, const struct perfdata *perf,
		    struct top_jvm *row) _must_check_;

#endif
