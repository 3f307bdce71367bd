/* The JVMs that `jtool top` shows as rows.  Does no I/O. */
#ifndef JTOOL_MODEL_TOP_TOP_JVMS_H
#define JTOOL_MODEL_TOP_TOP_JVMS_H

#include <stddef.h>
#include <stdint.h>

#include "model/top/top_threads.h"
#include "model/top/vm_rates.h"

/*
 * The texts are not owned, come from the target and may be NULL.  A number is -1 if it is unknown.
 */
struct top_jvm {
	int pid;
	const char *main; /* simple name of the main class */
	const char *version, *gc;
	double uptime; /* seconds since the start of the JVM */
	/* cpu_s: CPU time in seconds; cpu_limit: number of CPUs that the JVM may use */
	double cpu_s, cpu_limit;
	int64_t resident, memory_limit, heap_max;
	unsigned threads;
	struct vm_rates rates;
};

/*
 * Returns the indices of the JVMs that match `filter`, sorted as `filter` says, and their number in
 * *n.  The caller frees the array.
 */
size_t *top_jvms_choose(const struct top_jvm *jvms, size_t n_jvms, const struct top_filter *filter,
			size_t *n);

#endif
