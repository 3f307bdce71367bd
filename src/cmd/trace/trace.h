/* Declarations shared by the files of the command trace. */
#ifndef JTOOL_CMD_TRACE_TRACE_H
#define JTOOL_CMD_TRACE_TRACE_H

#include <limits.h>

#include "cmd/trace/trace_plan.h"
#include "cmd/trace/trace_stacks.h"

#define TRACE_COUNT_UNSET UINT_MAX

struct trace_opts {
	unsigned duration_ms; /* duration of the trace; 0: -d was not given */
	unsigned count;       /* limit for the calls; TRACE_COUNT_UNSET: not given; 0: no limit */
	uint64_t min_ns;
	bool args, no_args, stack, summary;
	unsigned rate, strings, elements, budget, max_methods;
	const char *loader;
	bool no_lines; /* write collapsed stacks without line numbers */
	const char *paths[STACKFILE_KINDS]; /* paths of the output files; NULL: not given */
	bool force;
};

/* Returns whether the agent must report arguments and results. */
static inline bool trace_has_values(const struct trace_opts *opts)
{
	return !opts->no_args && !opts->summary;
}

/* Returns whether calls are summed up by stack for --collapsed, --flamegraph or --pprof. */
static inline bool trace_has_files(const struct trace_opts *opts)
{
	return opts->paths[STACKFILE_COLLAPSED] || opts->paths[STACKFILE_FLAMEGRAPH] ||
	       opts->paths[STACKFILE_PPROF];
}

static inline bool trace_has_stacks(const struct trace_opts *opts)
{
	return opts->stack || trace_has_files(opts);
}

/* Returns the number of calls after which the trace ends; 0: no limit. */
uint64_t trace_calls_limit(const struct trace_opts *opts);
/* Sends the request TRACE (agent/wire/frames.def) with the options and the methods of the plan. */
int trace_request(const struct ctx *ctx, const struct trace_plan *plan, struct session *s,
		  struct err *err) _must_check_;

/*
 * Traces the methods of the plan until the trace ends.  Writes calls to ctx->out as they arrive,
 * and adds their stacks to `stacks`.  Returns 0, or -1 with err set if the trace fails or ends
 * early; the calls that arrived until then are printed and added nevertheless.
 */
int trace_run(const struct ctx *ctx, struct trace_plan *plan, struct trace_stacks *stacks,
	      struct session *s, struct err *err) _must_check_;

/*
 * If `err` says that the agent cannot be loaded (EXIT_AGENT), appends to its text how to time the
 * methods with the JVM's flight recorder instead.  Does nothing after another error, or before
 * JDK 25, whose flight recorder is the first that can time methods.
 */
void trace_offer_jfr(const struct ctx *ctx, const struct trace_plan *plan, struct err *err);

#endif
