#include "model/heap/retained_rows.h"

#include <string.h>

#include "base/xalloc.h"

/*
 * A big object (big_objects.h) in the outline, which is the part of the dominator tree that
 * consists of big objects.
 */
struct outline_node {
	uint32_t first, last, next; /* first and last child, and next sibling; GRAPH_NONE: none */
	bool has_edge;
	struct graph_edge edge;
};

struct outline {
	const struct retained_tree_opts *opts;
	struct big_objects bigs;
	struct outline_node *nodes;  /* one for each big object, and a last one for the roots */
	uint32_t *holders;    /* for held_by_class_wanted.holders */
	uint8_t *roles;
};

static void link_nodes(struct outline *l)
{
	size_t n = l->bigs.n;

	for (size_t i = 0; i <= n; i++)
		l->nodes[i].first = l->nodes[i].next = GRAPH_NONE;
	for (size_t i = 0; i < n; i++) {
		uint32_t number = l->bigs.order[i], above = l->bigs.list[number].above;
		struct outline_node *holder = &l->nodes[above == GRAPH_NONE ? n : above];

		if (holder->first == GRAPH_NONE)
			holder->first = number;
		else
			l->nodes[holder->last].next = number;
		holder->last = number;
	}
}

static bool may_hold(const struct outline *l, const struct graph_edge *edge)
{
	if (edge->via == GRAPH_CLASS || (edge->via == GRAPH_REFERENT && !l->opts->weak))
		return false;
	return l->bigs.tree->retained[edge->to] >= l->bigs.least;
}

/*
 * Finds one edge, if any, from the holder to each big object that the holder directly dominates.
 * Scans the edges of the holder only once, because a holder may have many edges.
 */
static void find_edges(struct outline *l, uint32_t holder)
{
	const struct big_objects *b = &l->bigs;
	struct graph_edges edges = graph_edges(b->graph, b->list[holder].node);
	struct graph_edge edge;

	while (graph_next(&edges, &edge)) {
		uint32_t number;

		if (!may_hold(l, &edge))
			continue;
		number = big_objects_number(b, edge.to);
		if (l->nodes[number].has_edge || b->list[number].above != holder)
			continue;
		l->nodes[number].has_edge = true;
		l->nodes[number].edge = edge;
	}
}

static struct retained_entry *add_entry(struct retained_tree *t, uint32_t node, uint32_t holder,
					unsigned depth)
{
	t->entries = xgrow(t->entries, t->n, &t->cap, sizeof(*t->entries));
	t->entries[t->n] = (struct retained_entry){
		.node = node, .holder = holder, .depth = depth,
	};
	return &t->entries[t->n++];
}

static uint32_t node_above(const struct outline *l, uint32_t number)
{
	uint32_t above = l->bigs.list[number].above;

	return above == GRAPH_NONE ? l->bigs.tree->n : l->bigs.list[above].node;
}

/* Removes all children of a holder except the first opts->children. */
static void cut_children(struct outline *l, struct outline_node *holder)
{
	uint32_t *link = &holder->first;

	if (l->opts->children == 0)
		return;
	for (size_t i = 0; i < l->opts->children && *link != GRAPH_NONE; i++)
		link = &l->nodes[*link].next;
	*link = GRAPH_NONE;
}

/*
 * Adds an entry for an object.  Removes the object's children if the object is at the last of the
 * opts->depth levels.
 */
static void add_object(struct outline *l, struct retained_tree *t, uint32_t number, unsigned depth)
{
	struct outline_node *item = &l->nodes[number];
	struct retained_entry *entry =
		add_entry(t, l->bigs.list[number].node, node_above(l, number), depth);

	entry->has_edge = item->has_edge;
	entry->edge = item->edge;
	l->holders[number] = number;
	l->roles[number] = HELD_APART;
	if (depth + 1 >= l->opts->depth)
		item->first = GRAPH_NONE;
	if (item->first == GRAPH_NONE)
		return;
	cut_children(l, item);
	find_edges(l, number);
}

/*
 * Adds one entry that stands for all objects that a holder dominates and that have no entry of
 * their own.  fill_rests() sets the entry's total.
 */
static void add_rest(struct outline *l, struct retained_tree *t, uint32_t number, unsigned depth)
{
	uint32_t node = number < l->bigs.n ? l->bigs.list[number].node : l->bigs.tree->n;

	add_entry(t, GRAPH_NONE, node, depth);
}

static void add_entries(struct outline *l, struct retained_tree *t)
{
	uint32_t roots = (uint32_t)l->bigs.n, at;
	unsigned depth = 0;

	cut_children(l, &l->nodes[roots]);
	at = l->nodes[roots].first;
	while (at != GRAPH_NONE) {
		uint32_t above;

		add_object(l, t, at, depth);
		if (l->nodes[at].first != GRAPH_NONE) {
			at = l->nodes[at].first;
			depth++;
			continue;
		}
		add_rest(l, t, at, depth + 1);
		while (at != GRAPH_NONE && l->nodes[at].next == GRAPH_NONE) {
			above = l->bigs.list[at].above;
			if (above != GRAPH_NONE)
				add_rest(l, t, above, depth--);
			at = above;
		}
		if (at != GRAPH_NONE)
			at = l->nodes[at].next;
	}
	add_rest(l, t, roots, 0);
}

/*
 * Fills in the totals of the entries that add_rest() has added.  Removes such an entry if its total
 * is too small to be shown.
 */
static void fill_rests(struct outline *l, struct retained_tree *t)
{
	const struct held_by_class_wanted wanted = { l->holders, l->roles, (uint32_t)l->bigs.n,
						     false };
	size_t kept = 0;

	held_by_class_find(&t->pieces, &l->bigs, &wanted);
	for (size_t i = 0; i < t->n; i++) {
		struct retained_entry entry = t->entries[i];

		if (entry.node == GRAPH_NONE) {
			uint32_t number = big_objects_number(&l->bigs, entry.holder);

			entry.rest = held_by_class_of(&t->pieces,
						      number == GRAPH_NONE ? wanted.roots : number);
			if (entry.rest.n == 0 || entry.rest.bytes < l->bigs.least)
				continue;
		}
		t->entries[kept++] = entry;
	}
	t->n = kept;
}

void retained_tree_find(struct retained_tree *t, const struct graph *g,
			const struct dominators *tree, const struct retained_tree_opts *opts)
{
	struct outline l = { .opts = opts };

	*t = (struct retained_tree){ 0 };
	big_objects_find(&l.bigs, g, tree, opts->least);
	l.nodes = xcalloc(l.bigs.n + 1, sizeof(*l.nodes));
	l.holders = xreallocarray(NULL, l.bigs.n + 1, sizeof(*l.holders));
	/* Set all holders to GRAPH_NONE. */
	memset(l.holders, 0xff, (l.bigs.n + 1) * sizeof(*l.holders));
	l.roles = xcalloc(l.bigs.n + 1, sizeof(*l.roles));
	link_nodes(&l);
	add_entries(&l, t);
	fill_rests(&l, t);
	free(l.nodes);
	free(l.holders);
	free(l.roles);
	big_objects_release(&l.bigs);
}

void retained_tree_release(struct retained_tree *t)
{
	free(t->entries);
	held_by_class_release(&t->pieces);
	*t = (struct retained_tree){ 0 };
}
