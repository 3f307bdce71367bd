/*
 * Prints the totals of a trace as a table.  The table has a row for each method that was called;
 * the row with the longest total time is the first:
 *
 *     METHOD             COUNT  ERRORS      MIN     MEAN      P50      P95      P99      MAX
 *     a.b.Shop.order     1,204       3   812 us  1.24 ms  1.10 ms  3.20 ms  9.91 ms  31.0 ms
 *     2 methods were not called
 *     1,204 calls
 */
#ifndef JTOOL_RENDER_PROFILE_TRACE_SUMMARY_H
#define JTOOL_RENDER_PROFILE_TRACE_SUMMARY_H

#include "base/terminal.h"
#include "model/profile/trace.h"

/* Appends the table as text. */
void trace_summary_add(struct buf *out, const struct trace *t);

/*
 * Appends a line for each method, also for methods that were not called.  A line is a JSON object;
 * times are in ns.
 */
void trace_summary_add_json(struct buf *out, const struct trace *t);

/* The table that the terminal shows at present.  Initialise it with zeros. */
struct trace_summary {
	size_t *widths; /* widths[i]: width of line i in cells */
	size_t n;
};

/*
 * Appends to `out` the control sequences and the text that replace the previous table on the
 * terminal by the current one.  The current table is clipped to the terminal, whose size may have
 * changed.  Write `out` before any other output, because other output moves the cursor.
 */
void trace_summary_draw(struct trace_summary *s, struct buf *out, const struct trace *t,
			struct terminal terminal);

/* Like trace_summary_draw(), but the new table is complete, not clipped.  Releases *s. */
void trace_summary_end(struct trace_summary *s, struct buf *out, const struct trace *t,
		       struct terminal terminal);

#endif
