/*
 * Traced calls as text: a line for each call, followed by the stack of the call:
 *
 *     12:30:45.123  main         1.24 ms  a.b.Shop.order(7, "tea") = true
 *     12:30:45.130  http-8080-1   612 us  a.b.Shop.pay(a.b.Card@1f2e) ! java.io.IOException: no
 *         at a.b.Shop.pay(Shop.java:30)
 *         at a.b.Till.run(Till.java:12)
 *
 * The time is the start of the call in local time.  Control characters in the target's texts are
 * escaped.  Traced calls as JSON: one object for each call, each object on one line:
 *
 *     {"time":"2025-07-01T12:30:45.123456Z","thread":"main","thread_id":1,
 *      "method":"a.b.Shop.order","nanos":1240000,"args":[7,"tea"],"returned":"value",
 *      "result":true,"exception":null,"cut":false,"stack":["a.b.Shop.order(Shop.java:12)"]}
 *
 * args:      null if the arguments were not recorded
 * returned:  "value", "void", "exception", or null if the result was not recorded
 * exception: "java.io.IOException: message", or "java.lang.Throwable" if the exception was not
 *            recorded
 * cut:       true if a string, an array or the list of arguments is truncated
 * stack:     null if the stack was not recorded
 */
#ifndef JTOOL_RENDER_PROFILE_TRACE_CALL_H
#define JTOOL_RENDER_PROFILE_TRACE_CALL_H

#include "model/profile/trace.h"

/* State that aligns the lines of successive calls.  Initialise it with zeros. */
struct trace_text {
	size_t thread_width; /* width in cells of the widest thread name so far, up to 40 */
};

/* Append a call: as text, with a line for each frame of its stack; or as one line of JSON. */
void trace_text_add(struct trace_text *text, struct buf *out, const struct trace *t,
		    const struct trace_call *call);
void trace_json_add(struct buf *out, const struct trace *t, const struct trace_call *call);

/* Appends "1,204 calls".  If calls were skipped, appends how many and why.  Appends no newline. */
void trace_text_state(struct buf *out, const struct trace_state *state);

#endif
