/*
 * A class histogram as a table for people.
 */
#ifndef JTOOL_RENDER_HISTO_TABLE_H
#define JTOOL_RENDER_HISTO_TABLE_H

#include <stdio.h>

#include "model/histo.h"

struct histo_view {
	enum histo_group by; /* what the rows are */
	bool is_diff;        /* the figures are differences */
	size_t n_rows;       /* this many of the rows */
	struct histo_total total;
};

/*
 * Figures at the left, so that they stay aligned whatever the names; the total is the last
 * line.  Loaders are told where rows could not be told apart without.
 */
void histo_print(const struct histo *h, const struct histo_view *view, FILE *out);

#endif
