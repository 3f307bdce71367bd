/*
 * The content of a terminal's screen, which is rows of text; and the escape sequences that change a
 * screen from one content to another.  Every terminal understands these sequences, which are those
 * of ECMA-48 and the VT100, so no database of terminals is needed.  Does no I/O.
 */
#ifndef JTOOL_RENDER_TOP_SCREEN_H
#define JTOOL_RENDER_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum screen_style { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_REVERSE };

struct screen_row {
	struct buf text; /* printable text, at most as wide as the screen */
	enum screen_style style;
};

struct screen {
	size_t columns, n_rows;
	struct screen_row *rows;
	size_t at; /* index of the next row that screen_add() sets */
};

void screen_init(struct screen *s, size_t n_rows, size_t columns);
void screen_release(struct screen *s);

/*
 * Sets the next row; does nothing if all rows are set.  The text is cut off at the width of the
 * screen, but no character is split.  Control characters are escaped.
 */
void screen_add(struct screen *s, enum screen_style style, const char *text, size_t len);
/* Sets the last row of the screen, no matter how many rows screen_add() has set. */
void screen_set_last(struct screen *s, enum screen_style style, const char *text, size_t len);
/* Returns the number of rows that screen_add() can still set. */
size_t screen_left(const struct screen *s);

/*
 * Appends the escape sequences and texts that change the screen from the content *before to *now:
 * only the rows that differ; or all rows, if the sizes differ or `before` is NULL.
 */
void screen_draw(const struct screen *before, const struct screen *now, struct buf *out);

/* ENTER switches to the alternate screen and hides the cursor; LEAVE undoes both. */
#define SCREEN_ENTER "\033[?1049h\033[?25l\033[H\033[2J"
#define SCREEN_LEAVE "\033[0m\033[?25h\033[?1049l"

#endif
