/* Functions that the files of the command stat share. */
#ifndef JTOOL_CMD_VM_STAT_H
#define JTOOL_CMD_VM_STAT_H

#include "cli/command.h"
#include "cmd/vm/interval.h"
#include "model/vm/jstat.h"
#include "render/json.h"
#include "discover/hsperf.h"

struct stat_opts {
	int table; /* enum jstat_table */
	bool openmetrics;
};

/*
 * Returns a counter_source from which jstat's formulas read the counters in `perf`.  `perf` must
 * stay valid as long as the counter_source is used.
 */
struct counter_source stat_counter_source(const struct perfdata *perf);

/* Returns the seconds since the start of the JVM; NAN if unknown. */
double stat_timestamp(const struct counter_source *r);

/* Appends a sample as a line of text, or as JSON without a newline. */
void stat_sample(const struct ctx *ctx, const struct perfdata *perf, struct buf *out);

/* Flushes stdout, so that each sample is visible at once.  Returns 0, or -1 with err set. */
int stat_flush(const struct ctx *ctx, struct err *err);

/*
 * Returns true if a heading must be printed now.  `lines` is the number of lines since the last
 * heading.  A heading is printed at the start, and on a terminal again after every 20 lines.
 */
bool stat_wants_heading(const struct ctx *ctx, size_t lines);

/* Returns 0; or -1 with err set if a signal has ended the command before its last sample. */
int stat_verdict(const struct interval *interval, struct err *err);

/* Runs `jtool stat all`: prints tables or JSON documents. */
int stat_all(const struct ctx *ctx, const struct jvm_list *jvms, struct err *err);

/* Prints one OpenMetrics document about all JVMs in the list. */
int stat_metrics(const struct ctx *ctx, struct jvm *const *jvms, size_t n, struct err *err);

#endif
