/* Retained sizes as tables and as JSON. */
#ifndef JTOOL_RENDER_HEAP_RETAINED_H
#define JTOOL_RENDER_HEAP_RETAINED_H

#include <stdio.h>

#include "model/heap/retained.h"
#include "render/json.h"

struct retained_view {
	const struct heap *heap;
	const struct dominators *tree;
	const struct retained *rows;
	enum histo_group by; /* the grouping of the rows */
	size_t n_rows;       /* rows that are shown */
	const struct retained_tree *top; /* NULL: not requested */
	const struct retained_suspects *suspects; /* NULL: not requested */
	const struct graph_bfs *bfs; /* paths to the suspects */
	/* Unreachable objects of a heap dump; NULL for a heap walk, which does not visit any. */
	const struct graph_sum *unreached;
};

void retained_print_rows(const struct retained_view *view, FILE *out);
void retained_print_tree(const struct retained_view *view, FILE *out);
void retained_print_suspects(const struct retained_view *view, FILE *out);
/* Prints how much is unreachable, or reachable only by soft, weak, final or phantom references. */
void retained_print_held(const struct retained_view *view, FILE *out);

/* Adds everything in the view to a JSON document. */
void retained_put(const struct retained_view *view, struct json *doc);
void retained_put_tree(const struct retained_view *view, struct json *doc);
void retained_put_suspects(const struct retained_view *view, struct json *doc);

double retained_percent(uint64_t bytes, uint64_t total);

/* Appends "12030 a.b.Entry (34.1 MiB), 40 int[] (1.20 MiB), 4 others (2.00 KiB)". */
void retained_add_pieces(struct buf *out, const struct heap *h, const struct held_by_class *pieces,
			 const struct held_by_class_sum *sum);
/* Returns {"instances","retained","classes":[…]} with all classes, which the caller frees. */
struct json *retained_pieces_json(const struct heap *h, const struct held_by_class *pieces,
				  const struct held_by_class_sum *sum);

#endif
