/* The rows that -n, --limit shows and hides, in every command the same. */
#ifndef JTOOL_RENDER_LIMIT_H
#define JTOOL_RENDER_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define LIMIT_ROWS 20 /* default in text; JSON has all rows by default */

/*
 * Returns how many of n rows are shown.  `limit` is the value of an OPT_LIMIT; text_rows is the
 * default for text.
 */
size_t limit_rows(unsigned limit, bool json, size_t text_rows, size_t n);

/* Appends "… 834 more classes (-n 0 shows all)" and a line feed; nothing if n is 0. */
void limit_add_more(struct buf *out, size_t n, const char *one, const char *many);

#endif
