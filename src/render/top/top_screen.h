/* What `top` shows on a terminal.  Pure. */
#ifndef JTOOL_RENDER_TOP_TOP_SCREEN_H
#define JTOOL_RENDER_TOP_TOP_SCREEN_H

#include "render/top/screen.h"
#include "render/top/top_view.h"

/* What the user has chosen. */
struct top_place {
	size_t selected; /* a row; at most v->n - 1 */
	size_t first;    /* the first row that is shown */
	size_t scroll;   /* the first line of a text that is shown */
	size_t page;     /* set: how many rows or lines are shown */
};

/*
 * Composes the table, with `status` in the last row.  Corrects `place`: the selected row exists and
 * is shown.
 */
void top_screen_table(struct screen *s, const struct top_view *v, struct top_place *place,
		      const char *status);

/* Composes lines of text under a title, such as a stack.  Corrects `place`. */
void top_screen_text(struct screen *s, const char *title, const char *text,
		     struct top_place *place, const char *status);

/* The explanation of the keys. */
extern const char top_screen_help[];

#endif
