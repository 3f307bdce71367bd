/*
 * The metric families of a JVM for monitoring systems.
 *
 * The output is valid both as OpenMetrics and as Prometheus text format 0.0.4, which node_exporter
 * reads from files.  The formats name counters differently (TYPE with or without _total), and
 * Prometheus has neither `info` nor `unknown`; so all metrics are gauges or summaries.  A summary
 * has a count and a total of seconds; rate() works on both series.
 */
#ifndef JTOOL_MODEL_VM_METRICS_H
#define JTOOL_MODEL_VM_METRICS_H

#include "model/vm/counter_source.h"

/* Values that are not among the JVM's counters: the source has them from the kernel. */
#define METRIC_RESIDENT "jtool.process.resident"
#define METRIC_SWAPPED "jtool.process.swapped"
#define METRIC_LIMIT "jtool.cgroup.memory.limit"

enum metric_type { METRIC_GAUGE, METRIC_SUMMARY };

/* One series of a family in one JVM. */
struct metric_value {
	const char *label, *label_value; /* label: NULL if none; label_value: not trusted */
	double value; /* the value of a gauge, or the sum of a summary */
	double count; /* the count of a summary */
};

typedef void metric_visit(const struct metric_value *value, void *arg);

struct metric {
	const char *name; /* includes the unit as a suffix */
	const char *unit; /* NULL: none */
	enum metric_type type;
	const char *help;
	/* calls visit() for each available value */
	void (*read)(const struct metric *m, const struct counter_source *r, metric_visit *visit,
		     void *arg);
	const char *counters[2]; /* arguments of read() */
};

/* The last metric has no name. */
extern const struct metric metrics[];

#endif
