/* A class histogram as a table, which is also the source of its JSON rows. */
#ifndef JTOOL_RENDER_HISTO_HISTO_TABLE_H
#define JTOOL_RENDER_HISTO_HISTO_TABLE_H

#include "model/histo/histo.h"
#include "render/table.h"

struct histo_view {
	enum histo_group by; /* the grouping of the rows */
	bool is_diff;        /* the values are differences */
	size_t n_rows;       /* rows that are shown */
	struct histo_total total;
};

/* Returns the rows without the total.  The caller frees the table. */
struct table *histo_table(const struct histo *h, const struct histo_view *view);

/*
 * Prints the rows, the total, and how many rows are hidden.  Shows the class loaders if rows have
 * equal names.
 */
void histo_print(const struct histo *h, const struct histo_view *view, FILE *out);

/* Appends "… 834 more classes (-n 0 shows all)", or packages, or loaders; nothing if n is 0. */
void histo_add_more(struct buf *out, enum histo_group by, size_t n);

#endif
