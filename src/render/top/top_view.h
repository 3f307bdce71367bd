/*
 * The output of `top`: a head about one JVM and a row for each of its threads, or a row for each
 * JVM; as lines of text or as a JSON document.  Pure.
 */
#ifndef JTOOL_RENDER_TOP_TOP_VIEW_H
#define JTOOL_RENDER_TOP_TOP_VIEW_H

#include <stdio.h>

#include "base/buf.h"
#include "model/top/top_jvms.h"
#include "render/json.h"

struct top_view {
	int64_t when_ns;  /* since 1970 */
	double seconds;   /* between the readings; 0: there was only one so far */
	const struct top_jvm *jvm; /* whose threads are shown; NULL: JVMs are shown */
	const struct top_threads *threads;
	const struct top_jvm *jvms;
	size_t n_jvms;
	const size_t *rows; /* indexes of the threads or JVMs that are shown, in their order */
	size_t n;
	unsigned limit;     /* the value of an OPT_LIMIT */
};

/* Appends lines, each at most `width` cells wide where a word fits at all. */
void top_view_head(const struct top_view *v, size_t width, struct buf *out);

/*
 * Append one line without a line feed: the headings, or row i of v->rows.  Columns are omitted
 * where `width` cells leave no room for the name, which is the last column and is not cut.
 */
void top_view_heading(const struct top_view *v, size_t width, struct buf *out);
void top_view_row(const struct top_view *v, size_t i, size_t width, struct buf *out);

/* Prints the head and as many rows as v->limit says, and an empty line. */
void top_view_print(const struct top_view *v, FILE *out);

/*
 * Returns {"time","interval","pid","jvm","threads"} or {"time","interval","jvms"}, which the caller
 * frees.
 */
struct json *top_view_json(const struct top_view *v);

#endif
