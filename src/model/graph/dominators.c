/*
 * Dominators by semi-NCA: L. Georgiadis, "Linear-Time Algorithms for Dominators and Related
 * Problems", 2005.  Semidominators as Lengauer and Tarjan have them, with simple path
 * compression; then each node's dominator is the nearest ancestor of its parent, in the tree so
 * far, that is not below its semidominator.  Everything goes by the numbers of a depth-first
 * search, in which an ancestor's is lower.
 */
#include <string.h>

#include "model/graph_dfs.h"

/* So many steps ahead memory is asked for what is met in no order. */
#define AHEAD 16

struct reckoning {
	struct graph_dfs dfs;
	uint32_t *others; /* who refers to a node besides its parent */
	/* A forest of the nodes above the one that is looked at, with shortened ways up. */
	struct link {
		uint32_t up, least; /* least semidominator on the way up to there */
	} *links;
	uint32_t *semi;      /* dfs.edge's memory */
	uint32_t *dominator; /* dfs.parent's: a number's is the parent's until it is found */
};

/* From here on a place's `others` is where the node's end in the array. */
static void number_others(struct graph_dfs *d)
{
	uint32_t at = 0;

	for (uint32_t number = 1; number <= d->n; number++) {
		struct graph_place *place = &d->place[d->node[number]];
		uint32_t n = place->others;

		place->others = at;
		at += n;
	}
}

/* Edges are mostly gone along in the order of their numbers. */
static void expect_edge(const struct reckoning *r, uint32_t at)
{
	const struct graph *g = r->dfs.graph;
	uint32_t to;

	if (g->n_edges - at <= 2 * AHEAD)
		return;
	to = g->to[at + 2 * AHEAD];
	if (to != GRAPH_NONE)
		__builtin_prefetch(&r->dfs.place[to]);
	to = g->to[at + AHEAD];
	if (to != GRAPH_NONE)
		__builtin_prefetch(&r->others[r->dfs.place[to].others], 1);
}

static void list_others(struct reckoning *r)
{
	struct graph_dfs *d = &r->dfs;
	const struct graph *g = d->graph;

	for (uint32_t number = 1; number <= d->n; number++) {
		uint32_t node = d->node[number], to;

		for (uint32_t at = g->first[node]; at != GRAPH_NONE;
		     at = graph_edge_behind(g, at)) {
			bool left_out = !d->weak && graph_strength(g->tag[at]) < TAPE_STRENGTHS;

			expect_edge(r, at);
			to = g->to[at];
			if (to != GRAPH_NONE && !left_out && !graph_bit(d->along, at))
				r->others[d->place[to].others++] = number;
		}
		to = graph_class_to(d, node);
		if (to != GRAPH_NONE)
			r->others[d->place[to].others++] = number;
	}
}

static void find_others(struct reckoning *r)
{
	struct graph_dfs *d = &r->dfs;
	size_t n = 0;

	for (uint32_t number = 1; number <= d->n; number++)
		n += d->place[d->node[number]].others;
	r->others = bigarray_new(n, sizeof(*r->others));
	number_others(d);
	list_others(r);
}

/*
 * The least semidominator on the way from v up to the last node above w; the way is made one
 * step long.  Going up turns the links around, so that the way back needs no memory.
 */
static uint32_t least_above(struct link *links, uint32_t v, uint32_t w)
{
	uint32_t below = 0, top = v, up, least;

	while (links[top].up > w) {
		up = links[top].up;
		links[top].up = below;
		below = top;
		top = up;
	}
	up = links[top].up;
	least = links[top].least;
	while (below != 0) {
		struct link *link = &links[below];

		below = link->up;
		link->up = up;
		if (link->least < least)
			least = link->least;
		link->least = least;
	}
	return least;
}

static uint32_t semi_of(struct reckoning *r, uint32_t w, uint32_t from, uint32_t to)
{
	uint32_t semi = r->links[w].up; /* its parent: w's way up is not shortened yet */

	if (graph_bit(r->dfs.rooted, w))
		return 0;
	for (uint32_t i = to; i > from && semi > 0; i--) {
		uint32_t v = r->others[i - 1];

		if (i > AHEAD)
			__builtin_prefetch(&r->links[r->others[i - 1 - AHEAD]], 1);

		if (v > w)
			v = least_above(r->links, v, w);
		if (v < semi)
			semi = v;
	}
	return semi;
}

static void find_semidominators(struct reckoning *r)
{
	const struct graph_dfs *d = &r->dfs;

	r->links = bigarray_new((size_t)d->n + 1, sizeof(*r->links));
	for (uint32_t w = 1; w <= d->n; w++)
		r->links[w].up = d->parent[w];
	for (uint32_t w = d->n; w > 0; w--) {
		uint32_t to = d->place[d->node[w]].others;
		uint32_t from = w > 1 ? d->place[d->node[w - 1]].others : 0;

		if (w > AHEAD)
			__builtin_prefetch(&d->place[d->node[w - AHEAD]]);
		r->semi[w] = semi_of(r, w, from, to);
		r->links[w].least = r->semi[w];
	}
}

static void find_dominators(struct reckoning *r)
{
	for (uint32_t w = 1; w <= r->dfs.n; w++) {
		uint32_t dominator = r->dominator[w];

		while (dominator > r->semi[w])
			dominator = r->dominator[dominator];
		r->dominator[w] = dominator;
	}
}

/* New memory has to be cleared by the kernel, which takes longer than this: use what is there. */
static void tell_dominators(struct reckoning *r, struct graph_tree *tree)
{
	const uint32_t *node = r->dfs.node;

	tree->dominator = TAKE_PTR(r->dfs.edge);
	for (uint32_t i = 0; i < tree->n; i++)
		tree->dominator[i] = GRAPH_NONE;
	for (uint32_t w = 1; w <= r->dfs.n; w++) {
		uint32_t above = r->dominator[w];

		tree->dominator[node[w]] = above == 0 ? tree->n : node[above];
	}
}

static void sum_retained(struct reckoning *r, struct graph_tree *tree)
{
	const uint32_t *node = r->dfs.node;

	_Static_assert(sizeof(*r->dfs.place) == sizeof(*tree->retained), "one becomes the other");
	tree->retained = (void *)TAKE_PTR(r->dfs.place);
	memset(tree->retained, 0, tree->n * sizeof(*tree->retained));
	for (uint32_t w = r->dfs.n; w > 0; w--) {
		uint64_t *retained = &tree->retained[node[w]];

		*retained += graph_size(r->dfs.graph, node[w]);
		if (r->dominator[w] == 0)
			tree->total += *retained;
		else
			tree->retained[node[r->dominator[w]]] += *retained;
	}
	tree->n_reached = r->dfs.n;
}

static void sum_held(const struct graph_dfs *d, struct graph_tree *tree)
{
	for (unsigned strength = 0; strength < TAPE_STRENGTHS; strength++) {
		for (uint32_t w = d->below[strength]; w < d->below[strength + 1]; w++) {
			tree->held[strength].n++;
			tree->held[strength].bytes += graph_size(d->graph, d->node[w]);
		}
	}
}

void graph_find_tree(const struct graph *g, bool weak, struct graph_tree *tree)
{
	struct reckoning r = { .dfs = { .graph = g, .weak = weak } };

	*tree = (struct graph_tree){ .n = g->n };
	graph_dfs_run(&r.dfs);
	r.semi = r.dfs.edge;
	r.dominator = r.dfs.parent;
	find_others(&r);
	find_semidominators(&r);
	bigarray_free(r.others);
	bigarray_free(r.links);
	find_dominators(&r);
	sum_held(&r.dfs, tree);
	tell_dominators(&r, tree);
	sum_retained(&r, tree);
	graph_dfs_release(&r.dfs);
}

void graph_tree_release(struct graph_tree *tree)
{
	bigarray_free(tree->dominator);
	bigarray_free(tree->retained);
	*tree = (struct graph_tree){ 0 };
}
