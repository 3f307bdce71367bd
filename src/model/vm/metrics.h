/*
 * The metrics of a JVM for monitoring systems, in families.
 *
 * openmetrics.h prints the metrics as a document that is valid in two formats: OpenMetrics, and
 * Prometheus text format 0.0.4, which node_exporter reads from files.  All metrics are gauges or
 * summaries, because the formats differ in the other types: a counter's TYPE line has the suffix
 * _total in Prometheus only, and Prometheus has neither `info` nor `unknown`.  A summary is two
 * time series: a count of events and a total of seconds.  Prometheus' rate() works on both.
 */
#ifndef JTOOL_MODEL_VM_METRICS_H
#define JTOOL_MODEL_VM_METRICS_H

#include "model/vm/counter_source.h"

/*
 * Names of values that are not counters of the JVM.  The counter_source reads them from the kernel.
 */
#define METRIC_RESIDENT "jtool.process.resident"
#define METRIC_SWAPPED "jtool.process.swapped"
#define METRIC_LIMIT "jtool.cgroup.memory.limit"

enum metric_type { METRIC_GAUGE, METRIC_SUMMARY };

/* A value of a family in one JVM: one time series, or the two series of a summary. */
struct metric_value {
	/* label: NULL if the family has none; label_value is untrusted */
	const char *label, *label_value;
	double value; /* value of a gauge, or total of a summary */
	double count; /* count of a summary; unused in a gauge */
};

typedef void metric_visit(const struct metric_value *value, void *arg);

struct metric {
	const char *name; /* name of the family, with its unit as a suffix */
	const char *unit; /* NULL: none */
	enum metric_type type;
	const char *help;
	/* Calls visit() for each value that the JVM has. */
	void (*read)(const struct metric *m, const struct counter_source *r, metric_visit *visit,
		     void *arg);
	const char *counters[2]; /* names of the JVM's counters that read() uses */
};

/* All metrics.  The last element of the array has the name NULL and is not a metric. */
extern const struct metric metrics[];

#endif
