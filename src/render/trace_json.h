/*
 * The calls of a trace as JSON, an object a line:
 *
 *     {"time":"2025-07-01T12:30:45.123456Z","thread":"main","thread_id":1,
 *      "method":"a.b.Shop.order","nanos":1240000,"args":[7,"tea"],"returned":"value",
 *      "result":true,"exception":null,"cut":false,"stack":["a.b.Shop.order(Shop.java:12)"]}
 *
 * args:      null if they were not told
 * returned:  "value", "void", "exception", or null: the result was not told
 * exception: "java.io.IOException: message"; of one that was not told "java.lang.Throwable"
 * cut:       some string, array or list of arguments is not all there
 * stack:     null if it was not told
 *
 * Values are numbers, booleans, strings (also char, an enum's name, and what is no number: "NaN"),
 * null; {"class","length","elements"} of arrays; "a.b.C@1f2e" of other objects.
 */
#ifndef JTOOL_RENDER_TRACE_JSON_H
#define JTOOL_RENDER_TRACE_JSON_H

#include "model/trace.h"

/* Add a call's line, with its newline. */
void trace_json_add(struct buf *out, const struct trace *t, const struct trace_call *call);

#endif
