/* A class histogram as a table, for output as text and (by histo_json.h) as JSON. */
#ifndef JTOOL_RENDER_HISTO_HISTO_TABLE_H
#define JTOOL_RENDER_HISTO_HISTO_TABLE_H

#include "model/histo/histo.h"
#include "render/table.h"

struct histo_view {
	enum histo_group by; /* what a row is: a class, package or loader */
	bool is_diff;        /* the values are differences to an earlier histogram */
	size_t n_rows;       /* number of rows that are shown */
	struct histo_total total;
};

/* Returns a table of the rows, without the total.  The caller frees it. */
struct table *histo_table(const struct histo *h, const struct histo_view *view);

/*
 * Prints the rows, the total, and the number of hidden rows.  Shows the class loaders if several
 * rows have the same name.
 */
void histo_print(const struct histo *h, const struct histo_view *view, FILE *out);

/*
 * Appends a line such as "… 834 more classes (-n 0 shows all)" (or packages, or loaders), for n
 * hidden rows; nothing if n is 0.
 */
void histo_add_more(struct buf *out, enum histo_group by, size_t n);

#endif
