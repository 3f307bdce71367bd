/* The JVMs that `jtool top` shows as rows.  Pure. */
#ifndef JTOOL_MODEL_TOP_TOP_JVMS_H
#define JTOOL_MODEL_TOP_TOP_JVMS_H

#include <stddef.h>
#include <stdint.h>

#include "model/top/top_threads.h"
#include "model/top/vm_rates.h"

/* Texts are not owned and untrusted, and may be NULL.  Numbers may be -1: unknown. */
struct top_jvm {
	int pid;
	const char *main; /* simple name of the main class */
	const char *version, *gc;
	double uptime;
	double cpu_s, cpu_limit; /* cpu_limit: number of CPUs that the JVM may use */
	int64_t resident, memory_limit, heap_max;
	unsigned threads;
	struct vm_rates rates;
};

/*
 * Returns the indexes of the JVMs that match the filter, in its sort order, and their number in *n.
 * The caller frees the array.
 */
size_t *top_jvms_choose(const struct top_jvm *jvms, size_t n_jvms, const struct top_filter *filter,
			size_t *n);

#endif
