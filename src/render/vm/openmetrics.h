/*
 * Metrics of any number of JVMs as one document: OpenMetrics 1.0, and Prometheus' text format.
 */
#ifndef JTOOL_RENDER_OPENMETRICS_H
#define JTOOL_RENDER_OPENMETRICS_H

#include <stdio.h>

#include "model/metrics.h"

/* Texts may be NULL, and hold anything. */
struct openmetrics_jvm {
	int pid;
	const char *main, *container; /* with the pid: labels of every series */
	const char *version, *vm, *gc;
	double uptime; /* seconds; NAN: unknown */
	struct readings readings;
};

/* No two of them have the same pid. */
void openmetrics_print(const struct openmetrics_jvm *jvms, size_t n, FILE *out);

#endif
