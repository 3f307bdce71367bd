/*
 * Output lines in javap's layout.  Comments start in a fixed column, trailing spaces are removed,
 * and control characters are escaped.
 */
#ifndef JTOOL_RENDER_CLASS_JAVAP_LINE_H
#define JTOOL_RENDER_CLASS_JAVAP_LINE_H

#include <stdio.h>

#include "base/buf.h"

struct javap_lines {
	FILE *out;
	struct buf line; /* the current line */
	struct buf shown;
};

void javap_lines_release(struct javap_lines *l);

/* Appends spaces up to this column, at least one. */
void javap_tab(struct javap_lines *l, size_t column);
/* Prints the current line and begins the next. */
void javap_end_line(struct javap_lines *l);

#endif
