/* Completes a graph after the last record of the heap stream. */
#include "model/graph/graph_builder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"

static int set_mirrors(struct graph_builder *b, const struct graph_facts *facts)
{
	struct graph *g = b->graph;

	g->n_classes = facts->n_classes;
	g->class_class = facts->class_class < g->n_classes ? facts->class_class : GRAPH_NONE;
	if (b->classes.min > g->n_classes ||
	    (b->classes.of_objects != GRAPH_NONE && b->classes.of_objects != g->class_class))
		return -EBADMSG;
	g->mirrors = mmap_array_new(g->n_classes, sizeof(*g->mirrors));
	for (uint32_t i = 0; i < g->n_classes; i++)
		g->mirrors[i] = GRAPH_NONE;
	for (size_t i = 0; i < b->classes.n; i++) {
		const struct graph_class_object *o = &b->classes.list[i];

		if (o->class >= g->n_classes || g->mirrors[o->class] != GRAPH_NONE)
			return -EBADMSG;
		g->mirrors[o->class] = o->node;
	}
	return 0;
}

static void remove_edge(struct graph *g, uint32_t at)
{
	g->n_held -= g->to[at] != GRAPH_NONE;
	g->to[at] = GRAPH_NONE;
}

/* Removes all edges from and to objects of jtool's agent. */
static void remove_own_edges(struct graph *g)
{
	for (uint32_t at = 0; at < g->n_edges; at++) {
		if (g->class[g->to[at]] & GRAPH_OWN)
			remove_edge(g, at);
	}
	for (uint32_t node = 0; node < g->n; node++) {
		uint32_t at = g->class[node] & GRAPH_OWN ? g->first[node] : GRAPH_NONE;

		for (; at != GRAPH_NONE; at = graph_next_edge(g, at))
			remove_edge(g, at);
	}
}

static bool is_wanted_root(const struct graph *g, const struct graph_root *root,
			   uint64_t own_thread)
{
	if (g->class[root->node] & GRAPH_OWN)
		return false;
	return !own_thread || root->thread != own_thread ||
	       (root->kind != HEAP_STREAM_ROOT_STACK && root->kind != HEAP_STREAM_ROOT_JNI_LOCAL);
}

/*
 * The rank of each kind of root.  Of several roots of one object, the root with the lowest rank is
 * the most informative one, and comes first.
 */
static const uint8_t rank_of[HEAP_STREAM_ROOTS] = {
	[HEAP_STREAM_ROOT_CLASS] = 0,     [HEAP_STREAM_ROOT_THREAD] = 1,
	[HEAP_STREAM_ROOT_JNI_GLOBAL] = 2, [HEAP_STREAM_ROOT_STACK] = 3,
	[HEAP_STREAM_ROOT_JNI_LOCAL] = 4, [HEAP_STREAM_ROOT_MONITOR] = 5,
	[HEAP_STREAM_ROOT_VM] = 6,
};

static int compare_roots(const void *a_, const void *b_)
{
	const struct graph_root *a = a_, *b = b_;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->kind != b->kind)
		return rank_of[a->kind] - rank_of[b->kind];
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static void add_permanent(struct graph_builder *b, const bool *permanent)
{
	struct graph *g = b->graph;

	for (uint32_t class = 0; permanent && class < g->n_classes; class++) {
		uint32_t node = g->mirrors[class];

		if (!permanent[class] || node == GRAPH_NONE)
			continue;
		g->roots = mmap_array_grow(g->roots, g->n_roots, &b->cap.roots, sizeof(*g->roots));
		g->roots[g->n_roots++] =
			(struct graph_root){ node, HEAP_STREAM_ROOT_CLASS, 0, 0, 0 };
	}
}

static void set_roots(struct graph_builder *b, const struct graph_facts *facts)
{
	struct graph *g = b->graph;
	size_t n = 0;

	add_permanent(b, facts->permanent);
	if (g->n_roots > 0)
		qsort(g->roots, g->n_roots, sizeof(*g->roots), compare_roots);
	for (size_t i = 0; i < g->n_roots; i++) {
		if (!is_wanted_root(g, &g->roots[i], facts->own_thread) ||
		    (n > 0 && compare_roots(&g->roots[n - 1], &g->roots[i]) == 0))
			continue;
		g->class[g->roots[i].node] |= GRAPH_ROOT;
		g->roots[n++] = g->roots[i];
	}
	g->n_roots = n;
	g->class_roots = mmap_array_new(g->n_classes, sizeof(*g->class_roots));
	for (uint32_t class = 0; class < g->n_classes; class++)
		g->class_roots[class] = (struct graph_root){
			.node = g->mirrors[class],
			.kind = HEAP_STREAM_ROOT_CLASS,
		};
}

static int compare_lengths(const void *a_, const void *b_)
{
	const struct graph_length *a = a_, *b = b_;

	return a->node < b->node ? -1 : a->node > b->node;
}

static int compare_texts(const void *a_, const void *b_)
{
	const struct graph_text_entry *a = a_, *b = b_;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/*
 * Sorts the tables by node.  The table graph.lengths usually is in order already, because the first
 * reference to an array gives the array its node number and adds its length to the table.
 */
static void sort_tables(struct graph *g)
{
	size_t in_order = 1;

	while (in_order < g->n_lengths &&
	       g->lengths[in_order - 1].node < g->lengths[in_order].node)
		in_order++;
	if (in_order < g->n_lengths)
		qsort(g->lengths, g->n_lengths, sizeof(*g->lengths), compare_lengths);
	if (g->n_texts > 0)
		qsort(g->texts, g->n_texts, sizeof(*g->texts), compare_texts);
}

/*
 * Sets the class of the objects for which the heap stream had neither an OBJECT nor a MIRROR
 * record.  After a complete walk, these are the java.lang.Class objects of unknown classes.
 */
static void set_undescribed(struct graph *g)
{
	for (uint32_t node = 0; node < g->n; node++) {
		if (!(g->class[node] & (GRAPH_DESCRIBED | GRAPH_MIRROR | GRAPH_OWN)))
			g->class[node] |= GRAPH_MIRROR | GRAPH_NUMBER;
	}
}

struct graph *graph_build(struct graph_builder *b, const struct graph_facts *facts, int *error)
{
	struct graph *g = b->graph;
	int rc;

	address_map_release(&b->map);
	rc = set_mirrors(b, facts);
	if (rc < 0) {
		*error = rc;
		return NULL;
	}
	if (facts->whole)
		set_undescribed(g);
	g->tag = mmap_array_grow(g->tag, g->n_edges, &b->cap.tag, sizeof(*g->tag));
	g->tag[g->n_edges] = GRAPH_FIRST;
	g->n_held = g->n_edges;
	if (b->own.late)
		remove_own_edges(g);
	set_roots(b, facts);
	sort_tables(g);
	b->graph = xcalloc(1, sizeof(*b->graph));
	return g;
}
