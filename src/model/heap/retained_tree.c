#include "model/retained.h"

#include <string.h>

#include "base/xalloc.h"

/* A big object while the tree is laid out. */
struct leaf {
	uint32_t first, last, next; /* of what it dominates: numbers of big ones, or GRAPH_NONE */
	bool has_edge;
	struct graph_edge edge;
};

struct outline {
	const struct retained_tree_opts *opts;
	struct bigs bigs;
	struct leaf *leaves;  /* of each big object; one more, for the roots */
	uint32_t *holders;    /* for pieces_wanted */
	uint8_t *roles;
};

static void link_leaves(struct outline *l)
{
	size_t n = l->bigs.n;

	for (size_t i = 0; i <= n; i++)
		l->leaves[i].first = l->leaves[i].next = GRAPH_NONE;
	for (size_t i = 0; i < n; i++) {
		uint32_t number = l->bigs.order[i], above = l->bigs.list[number].above;
		struct leaf *holder = &l->leaves[above == GRAPH_NONE ? n : above];

		if (holder->first == GRAPH_NONE)
			holder->first = number;
		else
			l->leaves[holder->last].next = number;
		holder->last = number;
	}
}

static bool may_hold(const struct outline *l, const struct graph_edge *edge)
{
	if (edge->via == GRAPH_CLASS || (edge->via == GRAPH_REFERENT && !l->opts->weak))
		return false;
	return l->bigs.tree->retained[edge->to] >= l->bigs.least;
}

/* One look at all edges, as an array may have ten million. */
static void find_edges(struct outline *l, uint32_t holder)
{
	const struct bigs *b = &l->bigs;
	struct graph_edges edges = graph_edges(b->graph, b->list[holder].node);
	struct graph_edge edge;

	while (graph_next(&edges, &edge)) {
		uint32_t number;

		if (!may_hold(l, &edge))
			continue;
		number = bigs_number(b, edge.to);
		if (l->leaves[number].has_edge || b->list[number].above != holder)
			continue;
		l->leaves[number].has_edge = true;
		l->leaves[number].edge = edge;
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

/* Cut what is beyond the `children` biggest of one holder. */
static void cut_children(struct outline *l, struct leaf *holder)
{
	uint32_t *link = &holder->first;

	if (l->opts->children == 0)
		return;
	for (size_t i = 0; i < l->opts->children && *link != GRAPH_NONE; i++)
		link = &l->leaves[*link].next;
	*link = GRAPH_NONE;
}

/* Show an object: what it dominates follows when there are levels left. */
static void show_leaf(struct outline *l, struct retained_tree *t, uint32_t number, unsigned depth)
{
	struct leaf *leaf = &l->leaves[number];
	struct retained_entry *entry =
		add_entry(t, l->bigs.list[number].node, node_above(l, number), depth);

	entry->has_edge = leaf->has_edge;
	entry->edge = leaf->edge;
	l->holders[number] = number;
	l->roles[number] = PIECE_APART;
	if (depth + 1 >= l->opts->depth)
		leaf->first = GRAPH_NONE;
	if (leaf->first == GRAPH_NONE)
		return;
	cut_children(l, leaf);
	find_edges(l, number);
}

/* A place for what else a holder holds; filled when all is known. */
static void show_rest(struct outline *l, struct retained_tree *t, uint32_t number, unsigned depth)
{
	uint32_t node = number < l->bigs.n ? l->bigs.list[number].node : l->bigs.tree->n;

	add_entry(t, GRAPH_NONE, node, depth);
}

static void lay_out(struct outline *l, struct retained_tree *t)
{
	uint32_t roots = (uint32_t)l->bigs.n, at;
	unsigned depth = 0;

	cut_children(l, &l->leaves[roots]);
	at = l->leaves[roots].first;
	while (at != GRAPH_NONE) {
		uint32_t above;

		show_leaf(l, t, at, depth);
		if (l->leaves[at].first != GRAPH_NONE) {
			at = l->leaves[at].first;
			depth++;
			continue;
		}
		show_rest(l, t, at, depth + 1);
		while (at != GRAPH_NONE && l->leaves[at].next == GRAPH_NONE) {
			above = l->bigs.list[at].above;
			if (above != GRAPH_NONE)
				show_rest(l, t, above, depth--);
			at = above;
		}
		if (at != GRAPH_NONE)
			at = l->leaves[at].next;
	}
	show_rest(l, t, roots, 0);
}

/* What else there is, where it is worth a line. */
static void fill_rests(struct outline *l, struct retained_tree *t)
{
	const struct pieces_wanted wanted = { l->holders, l->roles, (uint32_t)l->bigs.n, false };
	size_t kept = 0;

	pieces_find(&t->pieces, &l->bigs, &wanted);
	for (size_t i = 0; i < t->n; i++) {
		struct retained_entry entry = t->entries[i];

		if (entry.node == GRAPH_NONE) {
			uint32_t number = bigs_number(&l->bigs, entry.holder);

			entry.rest = pieces_of(&t->pieces,
					       number == GRAPH_NONE ? wanted.roots : number);
			if (entry.rest.n == 0 || entry.rest.bytes < l->bigs.least)
				continue;
		}
		t->entries[kept++] = entry;
	}
	t->n = kept;
}

void retained_tree_find(struct retained_tree *t, const struct graph *g,
			const struct graph_tree *tree, const struct retained_tree_opts *opts)
{
	struct outline l = { .opts = opts };

	*t = (struct retained_tree){ 0 };
	bigs_find(&l.bigs, g, tree, opts->least);
	l.leaves = xcalloc(l.bigs.n + 1, sizeof(*l.leaves));
	l.holders = xreallocarray(NULL, l.bigs.n + 1, sizeof(*l.holders));
	memset(l.holders, 0xff, (l.bigs.n + 1) * sizeof(*l.holders)); /* GRAPH_NONE */
	l.roles = xcalloc(l.bigs.n + 1, sizeof(*l.roles));
	link_leaves(&l);
	lay_out(&l, t);
	fill_rests(&l, t);
	free(l.leaves);
	free(l.holders);
	free(l.roles);
	bigs_release(&l.bigs);
}

void retained_tree_release(struct retained_tree *t)
{
	free(t->entries);
	pieces_release(&t->pieces);
	*t = (struct retained_tree){ 0 };
}
