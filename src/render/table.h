/*
 * Rows and columns: a command declares its columns once, and the table, the JSON and -o all
 * come from them.  Knows no JVM.
 */
#ifndef JTOOL_RENDER_TABLE_H
#define JTOOL_RENDER_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "render/json.h"

enum column_type {
	COL_TEXT,    /* hostile until printed: control characters are escaped on the way out */
	COL_NUMBER,  /* right-aligned */
	COL_BYTES,   /* right-aligned, as 812, 1.5K, 64M; the plain number in JSON */
	COL_SECONDS, /* right-aligned, as 7s, 5m06s, 3h04m, 1d02h; the plain number in JSON */
	COL_NANOS,   /* right-aligned, as 812 ns, 1.24 us, 31.0 ms; the plain number in JSON */
};

struct column {
	const char *name; /* heading, upper case */
	const char *key;  /* JSON key; also the name for -o */
	enum column_type type;
	bool hidden;      /* in JSON always, in the table only when asked for with -o */
	const char *help;
};

struct table;

/* columns are kept by reference; those that are not hidden are selected. */
struct table *table_new(const struct column *columns, size_t n_columns);
void table_free(struct table *t);

/* A new row; cells that are never set are absent: "-" in the table, null in JSON. */
void table_row(struct table *t);
void table_text(struct table *t, size_t column, const char *text); /* copied; NULL: absent */
void table_number(struct table *t, size_t column, int64_t value);
void table_real(struct table *t, size_t column, double value); /* COL_NUMBER: two decimals */

/*
 * Choose the columns to print and their order from "a,b,c" (names or keys, in any case).
 * -1 with err set (EXIT_USAGE), naming what there is.
 */
int table_select(struct table *t, const char *list, struct err *err) _must_check_;

/*
 * Print it aligned; nothing is cut, whatever the width of the terminal.  A cell of more than some
 * hundred characters stands out of line.
 */
void table_print(const struct table *t, FILE *out);
/* The same at the end of a buffer. */
void table_add(const struct table *t, struct buf *out);

/* An array of objects, one a row, with every column; the caller's. */
struct json *table_json(const struct table *t);

#endif
