/*
 * Prints lines in javap's layout: comments start in a fixed column, spaces at the end of a line are
 * removed, and control characters are escaped.
 */
#ifndef JTOOL_RENDER_CLASS_JAVAP_LINE_H
#define JTOOL_RENDER_CLASS_JAVAP_LINE_H

#include <stdio.h>

#include "base/buf.h"

struct javap_lines {
	FILE *out;
	struct buf line; /* the line that is being composed */
	struct buf shown;
};

void javap_lines_release(struct javap_lines *l);

/* Appends spaces up to `column`, but at least one space. */
void javap_tab(struct javap_lines *l, size_t column);
/* Prints the line that was composed, and begins the next line. */
void javap_end_line(struct javap_lines *l);

#endif
