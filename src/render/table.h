/*
 * Tables.  The declaration of a column says how it is shown as text and in JSON, and its name for
 * -o.
 */
#ifndef JTOOL_RENDER_TABLE_H
#define JTOOL_RENDER_TABLE_H

#include <stdio.h>

#include "base/err.h"
#include "render/cell.h"

/* A column.  Text is aligned left, cells of all other types right. */
struct column {
	/* heading in upper case; for CELL_STACK, the text that is shown for an empty stack */
	const char *name;
	const char *key;  /* key in JSON, and name for -o; NULL: the column is only in text */
	enum cell_type type;
	bool hidden;      /* not shown unless table_show() or table_select() is called for it */
};

struct table;

/* Returns an empty table with copies of the columns.  Hidden columns are not shown at first. */
struct table *table_new(const struct column *columns, size_t n_columns);
void table_free(struct table *t);

/* Adds a row.  A cell that is not set is shown as "-", and is null in JSON. */
void table_row(struct table *t);
/* Adds a last row for the total.  This row is not in JSON. */
void table_total(struct table *t);
void table_set(struct table *t, size_t column, struct cell cell); /* copies the cell's text */
/* Sets a cell to a copy of the text; NULL leaves the cell unset. */
void table_text(struct table *t, size_t column, const char *text);
void table_number(struct table *t, size_t column, int64_t value);
void table_unsigned(struct table *t, size_t column, uint64_t value);
void table_real(struct table *t, size_t column, double value);
/* Appends a frame to the last row's stack.  `text` must outlive the table. */
void table_frame(struct table *t, const char *text);

/*
 * Returns the index of the first row whose text in this column also occurs in an earlier row, or
 * the number of rows if there is none.
 */
size_t table_first_duplicate(const struct table *t, size_t column);

/* Shows a hidden column, after the columns that are shown already. */
void table_show(struct table *t, size_t column);
/*
 * Shows only the columns in the list "a,b,c" of names or keys, whose case is ignored.  Each column
 * in the list must have a key.  Returns -1 with err set (EXIT_USAGE) for an unknown column.
 */
int table_select(struct table *t, const char *list, struct err *err) _must_check_;
/*
 * Limits the frames that are printed of each stack to n, and prints the number of frames that are
 * not printed.  The default, n = 0, means no limit.
 */
void table_limit_stacks(struct table *t, size_t n);

/*
 * Prints aligned columns.  Nothing is cut off; a cell of more than 256 characters does not widen
 * its column.
 */
void table_print(const struct table *t, FILE *out);
/* Appends the text that table_print() would print. */
void table_add(const struct table *t, struct buf *out);

/* Prints the table, or the JSON document {"pid":…,KEY:[…]}. */
void table_output(const struct table *t, const char *key, int64_t pid, bool json, FILE *out);

/*
 * Returns a JSON array that has an object for each row, with the columns that have a key.  The
 * caller frees it.
 */
struct json *table_json(const struct table *t);
/* Adds the cells of a row to a JSON object. */
void table_put(const struct table *t, size_t row, struct json *object);
/* Appends each row as a JSON object in a line of its own. */
void table_add_json(const struct table *t, struct buf *out);

#endif
