/* Tables.  The declarations of the columns define the text, the JSON and the option -o. */
#ifndef JTOOL_RENDER_TABLE_H
#define JTOOL_RENDER_TABLE_H

#include <stdio.h>

#include "base/err.h"
#include "render/cell.h"

/* Text is aligned left, all other types right. */
struct column {
	const char *name; /* heading, upper case; for CELL_STACK: shown for an empty stack */
	const char *key;  /* in JSON, and for -o; NULL: text only */
	enum cell_type type;
	bool hidden;      /* shown only after table_show() or table_select() */
};

struct table;

/* Copies the columns; those that are not hidden are shown. */
struct table *table_new(const struct column *columns, size_t n_columns);
void table_free(struct table *t);

/* Adds a row.  Cells that are never set are absent: "-" in the table, null in JSON. */
void table_row(struct table *t);
/* Adds the last row, the total, which is not in the JSON. */
void table_total(struct table *t);
void table_set(struct table *t, size_t column, struct cell cell); /* a text is copied */
void table_text(struct table *t, size_t column, const char *text); /* copied; NULL: absent */
void table_number(struct table *t, size_t column, int64_t value);
void table_unsigned(struct table *t, size_t column, uint64_t value);
void table_real(struct table *t, size_t column, double value);
/* Appends a frame to the stack of the last row.  `text` must outlive the table. */
void table_frame(struct table *t, const char *text);

/* Returns the first row that repeats the text of an earlier row, or the number of rows. */
size_t table_first_duplicate(const struct table *t, size_t column);

/* Shows the column as the last one. */
void table_show(struct table *t, size_t column);
/*
 * Shows the columns of a list "a,b,c" of names or keys, ignoring case; each column must have a key.
 * Returns -1 with err set (EXIT_USAGE) for an unknown column.
 */
int table_select(struct table *t, const char *list, struct err *err) _must_check_;
/* Prints at most n frames of each stack and the number of the others; n = 0 (default): all. */
void table_limit_stacks(struct table *t, size_t n);

/* Prints aligned columns without truncation.  Cells wider than 256 do not widen their column. */
void table_print(const struct table *t, FILE *out);
/* Appends to a buffer what table_print() prints. */
void table_add(const struct table *t, struct buf *out);

/* Prints the table, or the JSON document {"pid":…,KEY:[…]}. */
void table_output(const struct table *t, const char *key, int64_t pid, bool json, FILE *out);

/* Returns an array with an object for each row, of the columns with a key.  The caller frees it. */
struct json *table_json(const struct table *t);
/* Adds the cells of one row to an object. */
void table_put(const struct table *t, size_t row, struct json *object);
/* Appends each row as a JSON object on its own line. */
void table_add_json(const struct table *t, struct buf *out);

#endif
