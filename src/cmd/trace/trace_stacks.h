/*
 * trace --collapsed, --flamegraph: its calls added up by the stacks that they came from.
 */
#ifndef JTOOL_CMD_TRACE_STACKS_H
#define JTOOL_CMD_TRACE_STACKS_H

#include "cmd/stackfiles.h"
#include "model/stacktree.h"
#include "model/trace.h"

struct trace_opts;

struct trace_stacks {
	struct stackfiles files;
	struct stacktree tree;
	struct buf name; /* of a method; kept for its memory */
};

/* Begin the files; -1 with err set.  To be released in any case. */
int trace_stacks_open(struct trace_stacks *s, const struct trace_opts *opts, struct err *err)
	_must_check_;
void trace_stacks_add(struct trace_stacks *s, const struct trace *t,
		      const struct trace_call *call);
/* Write them, with what has come until now. */
int trace_stacks_write(struct trace_stacks *s, const struct ctx *ctx, const struct trace *t,
		       struct err *err) _must_check_;
void trace_stacks_release(struct trace_stacks *s);

#endif
