/* The JVMs of `top` as rows.  Pure. */
#ifndef JTOOL_MODEL_TOP_TOP_JVMS_H
#define JTOOL_MODEL_TOP_TOP_JVMS_H

#include <stddef.h>
#include <stdint.h>

#include "model/top/top_threads.h"
#include "model/top/vm_rates.h"

/* Texts are not owned, not trusted, and may be NULL.  -1: unknown. */
struct top_jvm {
	int pid;
	const char *main; /* the simple name */
	const char *version, *gc;
	double uptime;
	double cpu_s, cpu_limit; /* cpu_limit: the CPUs that it may use */
	int64_t resident, memory_limit, heap_max;
	unsigned threads;
	struct vm_rates rates;
};

/* Returns the indexes of the JVMs that match, in their order; the caller frees them. */
size_t *top_jvms_choose(const struct top_jvm *jvms, size_t n_jvms, const struct top_filter *filter,
			size_t *n);

#endif
