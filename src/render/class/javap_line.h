/*
 * Lines as javap lays them out: what explains stands in a column of its own, blanks at the end
 * go, and nothing in a name or a string reaches the terminal that is not safe to show.
 */
#ifndef JTOOL_RENDER_JAVAP_LINE_H
#define JTOOL_RENDER_JAVAP_LINE_H

#include <stdio.h>

#include "base/buf.h"

struct javap_lines {
	FILE *out;
	struct buf line; /* the one that is being written */
	struct buf shown;
};

void javap_lines_release(struct javap_lines *l);

/* Blanks up to this column, at least one. */
void javap_tab(struct javap_lines *l, size_t column);
/* The line is whole: print it, and begin the next. */
void javap_end_line(struct javap_lines *l);

#endif
