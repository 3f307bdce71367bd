/*
 * Composes the output of `jtool top`, as lines of text or as a JSON document.  The output is about
 * one JVM, with a head and a row for each thread; or about all JVMs, with a row for each JVM.
 */
#ifndef JTOOL_RENDER_TOP_TOP_VIEW_H
#define JTOOL_RENDER_TOP_TOP_VIEW_H

#include <stdio.h>

#include "base/buf.h"
#include "model/top/top_jvms.h"
#include "render/json.h"

struct top_view {
	int64_t when_ns;  /* time of the reading in ns since the epoch */
	double seconds;   /* seconds since the previous reading; 0: this is the first reading */
	const struct top_jvm *jvm; /* the JVM whose threads are the rows; NULL: the rows are JVMs */
	const struct top_threads *threads;
	const struct top_jvm *jvms;
	size_t n_jvms;
	/* indexes in `threads` or `jvms` of the rows, in the order of the output */
	const size_t *rows;
	size_t n;
	unsigned limit;     /* value of the option -n, --limit (OPT_LIMIT) */
};

/* Appends the lines of the head.  A line has at most `width` cells, unless one part is wider. */
void top_view_head(const struct top_view *v, size_t width, struct buf *out);

/*
 * Append one line without a line feed: top_view_heading() appends the headings, top_view_row() the
 * row v->rows[i].  If `width` cells are not enough for all columns, some columns are omitted.  The
 * last column, the name, is never omitted and never cut off.
 */
void top_view_heading(const struct top_view *v, size_t width, struct buf *out);
void top_view_row(const struct top_view *v, size_t i, size_t width, struct buf *out);

/* Prints the head, at most v->limit rows, and an empty line. */
void top_view_print(const struct top_view *v, FILE *out);

/*
 * Returns a JSON object: for one JVM {"time","interval","pid","jvm","threads"}, for all JVMs
 * {"time","interval","jvms"}.  The caller frees the object.
 */
struct json *top_view_json(const struct top_view *v);

#endif
