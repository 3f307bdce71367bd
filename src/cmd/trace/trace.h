/*
 * Parts of the command trace.
 */
#ifndef JTOOL_CMD_TRACE_H
#define JTOOL_CMD_TRACE_H

#include <limits.h>

#include "cmd/trace_plan.h"
#include "cmd/trace_stacks.h"

#define TRACE_COUNT_UNSET UINT_MAX

struct trace_opts {
	unsigned duration_ms; /* 0: not given */
	unsigned count;       /* TRACE_COUNT_UNSET: not given; 0: no limit */
	uint64_t min_ns;
	bool args, no_args, stack, summary;
	unsigned rate, strings, elements, budget, max_methods;
	const char *loader;
	const char *collapsed, *flamegraph; /* files; NULL: not wanted */
	bool force;
};

/* Are arguments and results told? */
static inline bool trace_has_values(const struct trace_opts *opts)
{
	return !opts->no_args && !opts->summary;
}

/* Are stacks added up for files? */
static inline bool trace_has_files(const struct trace_opts *opts)
{
	return opts->collapsed || opts->flamegraph;
}

static inline bool trace_has_stacks(const struct trace_opts *opts)
{
	return opts->stack || trace_has_files(opts);
}

/* How many calls are told of, at most; 0: no limit. */
uint64_t trace_calls_limit(const struct trace_opts *opts);
/* Ask the agent for the methods of the plan. */
int trace_request(const struct ctx *ctx, const struct trace_plan *plan, struct session *s,
		  struct err *err) _must_check_;

/*
 * Trace the methods of the plan until the trace ends: calls go to ctx->out as they come, and their
 * stacks to the files that are wanted.  -1 with err set also where it ended by itself before its
 * time; what came until then was shown, and is in the files.
 */
int trace_run(const struct ctx *ctx, struct trace_plan *plan, struct trace_stacks *stacks,
	      struct session *s, struct err *err) _must_check_;

/*
 * The agent could not be loaded, as err says: if this JVM can time methods by itself, say how at
 * the end of it.
 */
void trace_offer_jfr(const struct ctx *ctx, const struct trace_plan *plan, struct err *err);

#endif
