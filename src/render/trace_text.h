/*
 * The calls of a trace as people read them, a line each, and below it where it came from:
 *
 *     12:30:45.123  main         1.24 ms  a.b.Shop.order(7, "tea") = true
 *     12:30:45.130  http-8080-1   612 us  a.b.Shop.pay(a.b.Card@1f2e) ! java.io.IOException: no
 *         at a.b.Shop.pay(Shop.java:30)
 *         at a.b.Till.run(Till.java:12)
 *
 * The time is when the call began, of the local clock.  Nothing that the target says breaks a
 * line.
 */
#ifndef JTOOL_RENDER_TRACE_TEXT_H
#define JTOOL_RENDER_TRACE_TEXT_H

#include "model/trace.h"

/* What lines have in common; zeroed at first. */
struct trace_text {
	size_t thread_width; /* of the widest name so far, up to a limit */
};

/* Add a call's lines, each with its newline. */
void trace_text_add(struct trace_text *text, struct buf *out, const struct trace *t,
		    const struct trace_call *call);

/*
 * "1,204 calls", and where some were passed over, how many and why: "…, 12 of them not told: 7
 * were more than may be told in a second, 5 had no room".  Without a newline.
 */
void trace_text_state(struct buf *out, const struct trace_state *state);

#endif
