/*
 * What a monitoring system wants to know of a JVM, by families of metrics.
 *
 * A document is to be read as OpenMetrics and in Prometheus' text format 0.0.4, as node_exporter
 * reads it from files.  These name counters differently (the TYPE line with or without _total),
 * and the latter has neither `info` nor `unknown`, so there are gauges and summaries only:
 * whatever grows has a number of times and the seconds that they took, which is a summary, and
 * rate() works on both of its series.
 */
#ifndef JTOOL_MODEL_METRICS_H
#define JTOOL_MODEL_METRICS_H

#include "model/readings.h"

enum metric_type { METRIC_GAUGE, METRIC_SUMMARY };

/* One series of a family in one JVM. */
struct metric_value {
	const char *label, *label_value; /* NULL: none; the value may be hostile */
	double value; /* a summary's sum */
	double count; /* of a summary */
};

typedef void metric_visit(const struct metric_value *value, void *arg);

struct metric {
	const char *name; /* ends with the unit */
	const char *unit; /* NULL: none */
	enum metric_type type;
	const char *help;
	/* Call visit() for each value there is. */
	void (*read)(const struct metric *m, const struct readings *r, metric_visit *visit,
		     void *arg);
	const char *counters[2]; /* for read() */
};

/* Ends with a metric without a name. */
extern const struct metric metrics[];

#endif
