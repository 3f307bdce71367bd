/* Composes the screen that `jtool top` shows on a terminal.  Does no I/O. */
#ifndef JTOOL_RENDER_TOP_TOP_SCREEN_H
#define JTOOL_RENDER_TOP_TOP_SCREEN_H

#include "render/top/screen.h"
#include "render/top/top_view.h"

/* The position that the user has chosen with the keys. */
struct top_place {
	size_t selected; /* index of the selected row; valid only after top_screen_table() */
	size_t first;    /* index of the first row on the screen */
	size_t scroll;   /* index of the first line of a text on the screen */
	/* number of rows or lines on the screen; top_screen_table() and top_screen_text() set it */
	size_t page;
};

/*
 * Composes the screen with the table, and with `status` in the last line.  Corrects *place so that
 * the selected row exists and is on the screen.
 */
void top_screen_table(struct screen *s, const struct top_view *v, struct top_place *place,
		      const char *status);

/*
 * Composes the screen with a title, below it a text such as a stack, and `status` in the last line.
 * Corrects *place so that lines of the text are on the screen.
 */
void top_screen_text(struct screen *s, const char *title, const char *text,
		     struct top_place *place, const char *status);

/* The text that explains the keys. */
extern const char top_screen_help[];

#endif
