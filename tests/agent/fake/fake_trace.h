/*
 * Stand-ins for agent/jvm/trace/trace.c and the rewriter: instrumented code is a text ("code"
 * becomes "code#0"), and a test sets the calls that hooks have recorded.
 *
 * The beginning of the code decides: "odd" cannot be instrumented, "torn" cannot be read, "plain"
 * has no method, and "frail" becomes code that begins with "bad", which fails verification.  A
 * method with the name "abstract" has no code.
 */
#ifndef JTOOL_TESTS_FAKE_TRACE_H
#define JTOOL_TESTS_FAKE_TRACE_H

#include "jvm/trace/trace.h"

struct fake_trace {
	/* Called by ag_trace_tick(); n: the number of earlier calls. */
	void (*turn)(unsigned n);
	unsigned turns;
	uint64_t queued; /* ended calls that the agent has not drained, each equal to `call` */
	struct ag_call call;
	uint64_t hooks_ns;
	const char *refuses; /* the signature of a class that is refused */

	/* What the command has done */
	bool begun, ended;
	int open; /* traces that were not freed */
	uint64_t allowed_ns;
};
extern struct fake_trace fake_trace;

#endif
