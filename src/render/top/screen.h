/*
 * The content of a terminal: rows of text, and the escape sequences that turn one content into
 * another.  The sequences are those of ECMA-48 and the VT100, which every terminal has: no
 * database of terminals is needed.  Pure.
 */
#ifndef JTOOL_RENDER_TOP_SCREEN_H
#define JTOOL_RENDER_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum screen_style { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_REVERSE };

struct screen_row {
	struct buf text; /* printable, and not wider than the screen */
	enum screen_style style;
};

struct screen {
	size_t columns, n_rows;
	struct screen_row *rows;
	size_t at; /* the row that screen_add() sets */
};

void screen_init(struct screen *s, size_t n_rows, size_t columns);
void screen_release(struct screen *s);

/*
 * Sets the next row; none is left: no effect.  The text is cut at the width of the screen, never
 * inside a character.  Control characters are escaped.
 */
void screen_add(struct screen *s, enum screen_style style, const char *text, size_t len);
/* The last row, whatever was added so far. */
void screen_set_last(struct screen *s, enum screen_style style, const char *text, size_t len);
/* Returns how many rows are left. */
size_t screen_left(const struct screen *s);

/*
 * Appends what turns `before` into `now`: the rows that differ.  Another size, or `before` NULL:
 * everything.
 */
void screen_draw(const struct screen *before, const struct screen *now, struct buf *out);

/* Enter and leave the alternate screen, without a cursor. */
#define SCREEN_ENTER "\033[?1049h\033[?25l\033[H\033[2J"
#define SCREEN_LEAVE "\033[0m\033[?25h\033[?1049l"

#endif
