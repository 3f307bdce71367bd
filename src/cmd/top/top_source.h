/* What `top` reads of one JVM: its counters, its process and its control group. */
#ifndef JTOOL_CMD_TOP_TOP_SOURCE_H
#define JTOOL_CMD_TOP_TOP_SOURCE_H

#include "discover/jvm.h"
#include "model/top/top_jvms.h"
#include "proc/perfdata.h"
#include "proc/procfs.h"

/* State between readings. */
struct top_source {
	const struct jvm *jvm;
	struct vm_history history;
	double cpu_limit;
	int64_t memory_limit;
	int64_t limits_due_ns; /* when the limits are read again: they rarely change */
};

void top_source_begin(struct top_source *s, const struct jvm *jvm);

/*
 * Reads the process and its group, and takes the counters; `perf` is NULL if there are none.  The
 * row's texts belong to the JVM.  Returns -ESRCH if the JVM has exited.
 */
int top_source_read(struct top_source *s, const struct procfs *proc, const struct perfdata *perf,
		    struct top_jvm *row) _must_check_;

#endif
