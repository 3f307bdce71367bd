/*
 * What the parts of the command stat share.
 */
#ifndef JTOOL_CMD_STAT_H
#define JTOOL_CMD_STAT_H

#include "cmd.h"
#include "cmd/pace.h"
#include "model/jstat.h"
#include "render/json.h"
#include "target/counters.h"

struct stat_opts {
	int group; /* enum jstat_group */
	bool openmetrics;
};

/* The counters as the formulas take them; perf must stay. */
struct readings stat_readings(const struct perfdata *perf);

/* Seconds since the start of the VM, now. */
double stat_timestamp(const struct readings *r);

/* Read one sample: its line of text at the end of out, or its JSON without a newline. */
int stat_sample(const struct ctx *ctx, const struct counters *counters, struct buf *out,
		struct err *err);

/* Each sample is to be seen when it is taken. */
int stat_flush(const struct ctx *ctx, struct err *err);

/* Is it time for the heading, after that many lines?  On a terminal, again and again. */
bool stat_wants_heading(const struct ctx *ctx, size_t lines);

/* Set err when a signal came before COUNT was reached. */
int stat_verdict(const struct pace *pace, struct err *err);

/* stat all, as tables or documents. */
int stat_all(const struct ctx *ctx, const struct jvm_list *jvms, struct err *err);

/* One OpenMetrics document of these JVMs. */
int stat_metrics(const struct ctx *ctx, struct jvm *const *jvms, size_t n, struct err *err);

#endif
