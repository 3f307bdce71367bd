/* Prints the result of a query on a flight recording as a table, as lines, or as JSON. */
#ifndef JTOOL_RENDER_JFR_JFR_TABLE_H
#define JTOOL_RENDER_JFR_JFR_TABLE_H

#include "model/jfr/query/jfr_query.h"
#include "render/json.h"

/* Appends a cell as text, for example 31.0 ms, 1.50 KiB, 51.20 %; "-" if it has no value. */
void jfr_cell_show(const struct jfr_query_run *run, const struct jfr_cell *cell, struct buf *out);

/*
 * Appends the first n rows as a table.  If query->is_form is set, appends the only row as lines,
 * one for each column.  If there is no row, appends a line that says so.  If tells_more is set,
 * also appends how many rows come after the first n.
 */
void jfr_table_add(const struct jfr_query *query, const struct jfr_query_run *run, size_t n,
		   bool tells_more, struct buf *out);
/* Returns the first n rows as a JSON array, which the caller frees. */
struct json *jfr_table_json(const struct jfr_query *query, const struct jfr_query_run *run,
			    size_t n);

#endif
