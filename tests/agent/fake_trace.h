/*
 * Hooks and their rewriter for traces to be tested with: what a class is instrumented to can be
 * read ("code" is "code#0"), and what hooks leave is what a test says.
 *
 * Code that begins with "odd" cannot be instrumented, "torn" not even be read, of "plain" no
 * method is there, and "frail" becomes "bad", which the JVM refuses.  A method `abstract` has no
 * code.
 */
#ifndef JTOOL_TESTS_FAKE_TRACE_H
#define JTOOL_TESTS_FAKE_TRACE_H

#include "jvm/trace.h"

struct fake_trace {
	/* What happens meanwhile, each time that more calls are allowed. */
	void (*turn)(unsigned n);
	unsigned turns;
	uint64_t queued; /* calls that have ended, each like this one */
	struct ag_call call;
	uint64_t hooks_ns;
	jclass hidden; /* one that does not find the class with the hooks */
	const char *refuses; /* the signature of a class that is not to be hooked */

	/* What came of it */
	bool begun, ended;
	int open; /* traces that were not freed */
	uint64_t allowed_ns;
};
extern struct fake_trace fake_trace;

#endif
