/*
 * Prints the totals of a trace as a table with a row for each method, sorted by total time:
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
 * Appends a line with a JSON object for each method, including those that were not called.  Times
 * are in ns.
 */
void trace_summary_add_json(struct buf *out, const struct trace *t);

/* The table that is on the terminal.  Initialise it with zeros. */
struct trace_summary {
	size_t *widths; /* width of each line, in cells */
	size_t n;
};

/*
 * Appends the control sequences and text that replace the previous table.  The table is clipped to
 * the terminal, whose size may have changed.  Write the buffer at once, because other output in
 * between would move the cursor.
 */
void trace_summary_draw(struct trace_summary *s, struct buf *out, const struct trace *t,
			struct terminal terminal);

/* Replaces the previous table, if there is one, by the complete table, and releases *s. */
void trace_summary_end(struct trace_summary *s, struct buf *out, const struct trace *t,
		       struct terminal terminal);

#endif
