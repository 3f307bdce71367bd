/*
 * What a heap's objects retain: as tables, and as JSON.
 */
#ifndef JTOOL_RENDER_RETAINED_H
#define JTOOL_RENDER_RETAINED_H

#include <stdio.h>

#include "model/retained.h"
#include "render/json.h"

struct retained_view {
	const struct heap *heap;
	const struct graph_tree *tree;
	const struct retained *rows;
	enum histo_group by; /* what the rows are */
	size_t n_rows;       /* how many of them to show */
	/* NULL: not asked for. */
	const struct retained_tree *top;
	const struct retained_suspects *suspects;
	const struct graph_ways *ways; /* with suspects */
	/* NULL: a walk meets nothing else.  A dump may have garbage in it. */
	const struct graph_sum *unreached;
};

void retained_print_rows(const struct retained_view *view, FILE *out);
void retained_print_tree(const struct retained_view *view, FILE *out);
void retained_print_suspects(const struct retained_view *view, FILE *out);
/*
 * What is alive only through references that are not strong: a line for each strength; and what
 * is not alive.
 */
void retained_print_held(const struct retained_view *view, FILE *out);

/* "rows", and what else was asked for, put into a document. */
void retained_put_json(const struct retained_view *view, struct json *doc);

double retained_percent(uint64_t bytes, uint64_t total);

/* "12030 a.b.Entry (34M), 40 int[] (1.2M), 4 others". */
void retained_add_pieces(struct buf *out, const struct heap *h, const struct pieces *pieces,
			 const struct pieces_sum *sum);

#endif
