/* The number of rows that -n, --limit shows, for all commands. */
#ifndef JTOOL_RENDER_LIMIT_H
#define JTOOL_RENDER_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define LIMIT_ROWS 20 /* default number of rows in text; JSON has all rows by default */

/*
 * Returns how many of n rows are shown.  `limit` is the value of the option (OPT_LIMIT): UINT_MAX
 * for -n 0; 0 if the option was not given.  Without the option, text shows at most text_rows rows,
 * and JSON shows all rows.
 */
size_t limit_rows(unsigned limit, bool json, size_t text_rows, size_t n);

/*
 * Appends a line such as "… 834 more classes (-n 0 shows all)", for n rows that are hidden; nothing
 * if n is 0.
 */
void limit_add_more(struct buf *out, size_t n, const char *one, const char *many);

#endif
