/*
 * The output of `jtool top`, as lines of text or as a JSON document: either a head about one JVM
 * and a row for each of its threads, or a row for each JVM.  Does no I/O.
 */
#ifndef JTOOL_RENDER_TOP_TOP_VIEW_H
#define JTOOL_RENDER_TOP_TOP_VIEW_H

#include <stdio.h>

#include "base/buf.h"
#include "model/top/top_jvms.h"
#include "render/json.h"

struct top_view {
	int64_t when_ns;  /* time of the reading in ns since the epoch */
	double seconds;   /* time since the previous reading; 0: this is the first one */
	const struct top_jvm *jvm; /* the JVM whose threads are the rows; NULL: the rows are JVMs */
	const struct top_threads *threads;
	const struct top_jvm *jvms;
	size_t n_jvms;
	/* indexes of the threads or JVMs that are shown, in the order of the output */
	const size_t *rows;
	size_t n;
	unsigned limit;     /* value of the option -n, --limit (OPT_LIMIT) */
};

/* Appends the lines of the head.  Each has at most `width` cells, unless a word is longer. */
void top_view_head(const struct top_view *v, size_t width, struct buf *out);

/*
 * Append one line without a line feed: the headings, or row v->rows[i].  The name is the last
 * column and is not cut off; if it has no room in `width` cells, other columns are omitted.
 */
void top_view_heading(const struct top_view *v, size_t width, struct buf *out);
void top_view_row(const struct top_view *v, size_t i, size_t width, struct buf *out);

/* Prints the head, the rows up to v->limit, and an empty line. */
void top_view_print(const struct top_view *v, FILE *out);

/*
 * Returns {"time","interval","pid","jvm","threads"} or {"time","interval","jvms"}.  The caller
 * frees it.
 */
struct json *top_view_json(const struct top_view *v);

#endif
