/* Retained sizes as tables and as JSON. */
#ifndef JTOOL_RENDER_HEAP_RETAINED_VIEW_H
#define JTOOL_RENDER_HEAP_RETAINED_VIEW_H

#include <stdio.h>

#include "model/heap/retained_rows.h"
#include "render/json.h"

struct retained_view {
	const struct heap *heap;
	const struct dominators *tree;
	const struct retained *rows;
	enum histo_group by; /* what a row is: a class, package or loader */
	size_t n_rows;       /* number of rows that are shown */
	const struct retained_tree *top; /* top levels of the dominator tree; NULL: not requested */
	const struct retained_suspects *suspects; /* leak suspects; NULL: not requested */
	/* the shortest path from a GC root to each object; used for the paths to the suspects */
	const struct graph_bfs *bfs;
	/*
	 * Number and bytes of the unreachable objects in a heap dump.  NULL for a heap walk, which
	 * does not visit unreachable objects.
	 */
	const struct graph_sum *unreached;
};

void retained_print_rows(const struct retained_view *view, FILE *out);
void retained_print_tree(const struct retained_view *view, FILE *out);
void retained_print_suspects(const struct retained_view *view, FILE *out);
/*
 * Prints how many objects and bytes are unreachable, and how many are reachable only by soft, weak,
 * final or phantom references.
 */
void retained_print_held(const struct retained_view *view, FILE *out);

/*
 * These functions add results of the view to a JSON document: retained_put() adds all of them, the
 * other two only the tree or only the suspects.
 */
void retained_put(const struct retained_view *view, struct json *doc);
void retained_put_tree(const struct retained_view *view, struct json *doc);
void retained_put_suspects(const struct retained_view *view, struct json *doc);

double retained_percent(uint64_t bytes, uint64_t total);

/*
 * Appends, for each class, the number and bytes of the objects that `sum` counts: "12030 a.b.Entry
 * (34.1 MiB), 40 int[] (1.20 MiB), 4 others (2.00 KiB)".  Classes that have the same name but
 * different loaders are added up: "40 a.b.Plugin (34.1 MiB, of 40 class loaders)".
 */
void retained_add_pieces(struct buf *out, const struct heap *h, const struct held_by_class *pieces,
			 const struct held_by_class_sum *sum);
/*
 * Returns the same numbers as retained_add_pieces() appends, but of all classes and as JSON:
 * {"instances","retained","classes":[…]}.  The caller frees the JSON.
 */
struct json *retained_pieces_json(const struct heap *h, const struct held_by_class *pieces,
				  const struct held_by_class_sum *sum);

#endif
