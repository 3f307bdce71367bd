/*
 * Tables that are printed as text or as JSON.  A struct column says how a column is shown in text
 * and in JSON, and by which name the option -o selects it.
 */
#ifndef JTOOL_RENDER_TABLE_H
#define JTOOL_RENDER_TABLE_H

#include <stdio.h>

#include "base/err.h"
#include "render/cell.h"

/* A column.  Cells with text are aligned left; cells of all other types are aligned right. */
struct column {
	/* heading in upper case; in a column of stacks, the text in place of an empty stack */
	const char *name;
	const char *key;  /* key in JSON, and name for -o; NULL: the column is not in JSON */
	enum cell_type type;
	bool hidden;      /* shown only if table_show() or table_select() shows it */
};

struct table;

/* Returns an empty table with copies of the columns.  Hidden columns are not shown at first. */
struct table *table_new(const struct column *columns, size_t n_columns);
void table_free(struct table *t);

/* Adds a row.  A cell of the row that is never set is printed as "-", and is null in JSON. */
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
 * Returns the index of the first row that has the same text in this column as an earlier row; or
 * the number of rows if there is no such row.
 */
size_t table_first_duplicate(const struct table *t, size_t column);

/* Shows a hidden column, to the right of the columns that are shown already. */
void table_show(struct table *t, size_t column);
/*
 * Shows only the columns in `list`, in the order of the list, for example "a,b,c".  The list names
 * columns by name or key, in upper or lower case; the columns must have keys.  Returns 0; or -1
 * with err set (EXIT_USAGE) if a column is unknown.
 */
int table_select(struct table *t, const char *list, struct err *err) _must_check_;
/*
 * Of a stack with more than n + 1 frames, prints only n frames and the number of the other frames.
 * n = 0, the default, means no limit.
 */
void table_limit_stacks(struct table *t, size_t n);

/*
 * Prints the table with aligned columns.  No cell is cut off, but a cell of more than 256
 * characters does not widen its column.
 */
void table_print(const struct table *t, FILE *out);
/* Appends the text that table_print() would print. */
void table_add(const struct table *t, struct buf *out);

/* Prints the table; or, if `json` is true, the JSON document {"pid":…,KEY:[…]}. */
void table_output(const struct table *t, const char *key, int64_t pid, bool json, FILE *out);

/*
 * Returns a JSON array, which the caller frees.  It has an object for each row; the object contains
 * the columns that have a key.
 */
struct json *table_json(const struct table *t);
/* Adds the cells of a row to a JSON object, as members with the keys of the columns. */
void table_put(const struct table *t, size_t row, struct json *object);
/* Appends a line with a JSON object for each row. */
void table_add_json(const struct table *t, struct buf *out);

#endif
