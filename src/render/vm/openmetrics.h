/* Metrics of JVMs as one document that is valid OpenMetrics 1.0 and Prometheus text format. */
#ifndef JTOOL_RENDER_VM_OPENMETRICS_H
#define JTOOL_RENDER_VM_OPENMETRICS_H

#include <stdio.h>

#include "model/vm/metrics.h"

/* A JVM of the document.  Texts may be NULL, and are untrusted. */
struct openmetrics_jvm {
	int pid;
	const char *main, *container; /* with `pid`, the labels of every time series */
	const char *version, *vm, *gc;
	double uptime; /* seconds; NAN: unknown */
	struct counter_source source;
};

/* Prints the document.  The pids of the JVMs must be different. */
void openmetrics_print(const struct openmetrics_jvm *jvms, size_t n, FILE *out);

#endif
