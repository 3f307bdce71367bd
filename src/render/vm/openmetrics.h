/* Metrics of JVMs as one document that is valid OpenMetrics 1.0 and Prometheus text format. */
#ifndef JTOOL_RENDER_VM_OPENMETRICS_H
#define JTOOL_RENDER_VM_OPENMETRICS_H

#include <stdio.h>

#include "model/vm/metrics.h"

/* A JVM of the document.  Texts may be NULL, and are untrusted. */
struct openmetrics_jvm {
	int pid;
	const char *main, *container; /* these and `pid` are labels of every time series */
	/* names in Kubernetes; each name that is not NULL is a further label of every series */
	const char *namespace, *pod, *container_name;
	const char *pod_uid; /* a label of jvm_info, unless NULL */
	const char *version, *vm, *gc;
	double uptime; /* seconds; NAN: unknown */
	struct counter_source source;
};

/* Metrics of jtool itself. */
struct openmetrics_self {
	/* number of JVMs that were found, and how many of these the document does not contain */
	size_t found, skipped;
	double seconds; /* time in which the JVMs were found and read */
};

/* Prints the document.  The pids of the JVMs must be different.  `self` may be NULL. */
void openmetrics_print(const struct openmetrics_jvm *jvms, size_t n,
		       const struct openmetrics_self *self, FILE *out);

#endif
