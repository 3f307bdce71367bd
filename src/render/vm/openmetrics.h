/* Metrics of JVMs as one document that is valid OpenMetrics 1.0 and Prometheus text format. */
#ifndef JTOOL_RENDER_VM_OPENMETRICS_H
#define JTOOL_RENDER_VM_OPENMETRICS_H

#include <stdio.h>

#include "model/vm/metrics.h"

/* A JVM of the document.  Texts may be NULL, and are untrusted. */
struct openmetrics_jvm {
	int pid;
	const char *main, *container; /* with `pid`, the labels of every time series */
	/* Kubernetes' names: each is a label of every time series, too, unless it is NULL. */
	const char *namespace, *pod, *container_name;
	const char *pod_uid; /* a label of jvm_info, unless NULL */
	const char *version, *vm, *gc;
	double uptime; /* seconds; NAN: unknown */
	struct counter_source source;
};

/* Metrics of jtool itself. */
struct openmetrics_self {
	size_t found, skipped; /* JVMs, and those that are not in the document */
	double seconds; /* to find and read them */
};

/* Prints the document.  The pids of the JVMs must be different.  self: NULL: none. */
void openmetrics_print(const struct openmetrics_jvm *jvms, size_t n,
		       const struct openmetrics_self *self, FILE *out);

#endif
