/*
 * All calls of a trace added up, a row a method, those that took the most time together first:
 *
 *     METHOD             COUNT  ERRORS      MIN     MEAN      P50      P95      P99      MAX
 *     a.b.Shop.order     1,204       3   812 us  1.24 ms  1.10 ms  3.20 ms  9.91 ms  31.0 ms
 *     2 methods were not called
 *     1,204 calls
 */
#ifndef JTOOL_RENDER_TRACE_SUMMARY_H
#define JTOOL_RENDER_TRACE_SUMMARY_H

#include "base/terminal.h"
#include "model/trace.h"

/* The whole of it as plain text. */
void trace_summary_add(struct buf *out, const struct trace *t);

/* An object a line and method, also of those that were not called; times in nanoseconds. */
void trace_summary_add_json(struct buf *out, const struct trace *t);

/* What stands on the terminal of an earlier table; zeroed at first. */
struct trace_summary {
	size_t *widths; /* of its lines */
	size_t n;
};

/*
 * Draw it over the one before, cut to the size of the terminal so that this works the next time,
 * too; the size may have changed meanwhile.  To be written to the terminal at once, and with
 * nothing else in between.
 */
void trace_summary_draw(struct trace_summary *s, struct buf *out, const struct trace *t,
			struct terminal terminal);

/* The last one, in its place and whole: it stays.  Releases s; nothing need have been drawn. */
void trace_summary_end(struct trace_summary *s, struct buf *out, const struct trace *t,
		       struct terminal terminal);

#endif
