/* trace --collapsed, --flamegraph and --pprof: sums up the calls by stack. */
#ifndef JTOOL_CMD_TRACE_TRACE_STACKS_H
#define JTOOL_CMD_TRACE_TRACE_STACKS_H

#include "cmd/stack_files.h"
#include "model/profile/call_tree.h"
#include "model/profile/trace.h"

struct trace_opts;

struct trace_stacks {
	struct stack_files files;
	struct call_tree tree;
	struct buf name; /* name of a method; the buffer is reused for each call */
};

/*
 * Opens the output files that the given options name.  Returns -1 with err set on failure; release
 * `s` in either case.
 */
int trace_stacks_open(struct trace_stacks *s, const struct trace_opts *opts, struct err *err)
	_must_check_;
void trace_stacks_add(struct trace_stacks *s, const struct trace *t,
		      const struct trace_call *call);
/* Writes the files, with the calls that were added so far. */
int trace_stacks_write(struct trace_stacks *s, const struct ctx *ctx, const struct trace *t,
		       struct err *err) _must_check_;
void trace_stacks_release(struct trace_stacks *s);

#endif
