/*
 * Finds dominators by semi-NCA: L. Georgiadis, "Linear-Time Algorithms for Dominators and Related
 * Problems", 2005.  Semidominators are computed as by Lengauer and Tarjan, with simple path
 * compression.  To find the dominator of a node, the search then starts at the node's parent and
 * goes up the dominator tree, to the first node whose number is at most the semidominator's number.
 * In a list whose elements are also referenced from elsewhere, that node is far up for each of the
 * elements, so each node has a second pointer that skips many levels: E. Myers, "An Applicative
 * Random-Access Stack", 1983.  A search takes logarithmic time.
 * Nodes are identified by depth-first number; ancestors have lower numbers.
 */
#include <string.h>

#include "model/graph/graph_dfs.h"

/* Number of edges or nodes by which a prefetch precedes the use. */
#define AHEAD 16

struct semi_nca {
	struct graph_dfs dfs;
	/*
	 * A range for each node: the depth-first numbers of its predecessors by the edges that are
	 * not in the search tree.
	 */
	uint32_t *others;
	/* Indexed by depth-first number. */
	union {
		/*
		 * While semidominators are computed: a forest of the processed nodes, with
		 * compressed paths to their ancestors.
		 */
		struct link {
			uint32_t up;    /* an ancestor */
			uint32_t least; /* the least semidominator on the path to `up` */
		} *links;
		/* then, in the same memory: the pointers that skip levels of the dominator tree */
		struct skip {
			uint32_t up;     /* an ancestor in the dominator tree */
			uint32_t levels; /* number of levels from the node to `up` */
		} *skips;
	};
	uint32_t *semi;      /* shares the memory of dfs.edge */
	/* shares the memory of dfs.parent, so dominator[n] is the parent of n at first */
	uint32_t *dominator;
};

/*
 * Replaces each count in graph_dfs_state.others by the start of a range in semi_nca.others.
 * list_others() then fills the ranges, and so advances each start to the end of its range.
 */
static void start_ranges(struct graph_dfs *d)
{
	uint32_t at = 0;

	for (uint32_t number = 1; number <= d->n; number++) {
		struct graph_dfs_state *state = &d->state[d->node[number]];
		uint32_t n = state->others;

		state->others = at;
		at += n;
	}
}

/* Prefetches the data of the edges after `at`, because most edges are visited in order. */
static void prefetch_edge(const struct semi_nca *r, uint32_t at)
{
	const struct graph *g = r->dfs.graph;
	uint32_t to;

	if (g->n_edges - at <= 2 * AHEAD)
		return;
	to = g->to[at + 2 * AHEAD];
	if (to != GRAPH_NONE)
		__builtin_prefetch(&r->dfs.state[to]);
	to = g->to[at + AHEAD];
	if (to != GRAPH_NONE)
		__builtin_prefetch(&r->others[r->dfs.state[to].others], 1);
}

static void list_other(struct semi_nca *r, uint32_t to, uint32_t from)
{
	struct graph_dfs_state *state = &r->dfs.state[to];

	if (state->number >= r->dfs.least)
		r->others[state->others++] = from;
}

static void list_others(struct semi_nca *r)
{
	struct graph_dfs *d = &r->dfs;
	const struct graph *g = d->graph;
	unsigned strength = 0;

	d->least = 0;
	for (uint32_t number = 1; number <= d->n; number++) {
		uint32_t node = d->node[number], to;

		while (strength < HEAP_STREAM_STRENGTHS && number >= d->below[strength])
			d->least = d->below[strength++];
		for (uint32_t at = g->first[node]; at != GRAPH_NONE;
		     at = graph_next_edge(g, at)) {
			bool skipped =
				!d->weak && graph_strength(g->tag[at]) < HEAP_STREAM_STRENGTHS;

			prefetch_edge(r, at);
			to = g->to[at];
			if (to != GRAPH_NONE && !skipped && !graph_bit(d->tree_edges, at))
				list_other(r, to, number);
		}
		to = graph_class_to(d, node);
		if (to != GRAPH_NONE)
			list_other(r, to, number);
	}
}

static void find_others(struct semi_nca *r)
{
	struct graph_dfs *d = &r->dfs;
	size_t n = 0;

	for (uint32_t number = 1; number <= d->n; number++)
		n += d->state[d->node[number]].others;
	r->others = mmap_array_new(n, sizeof(*r->others));
	start_ranges(d);
	list_others(r);
}

/*
 * Returns the least semidominator among v and those ancestors of v that have numbers above w.
 * Compresses the path from v to these ancestors.  Needs no stack, because it reverses the links on
 * the way up and follows them back down.
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

static uint32_t semi_of(struct semi_nca *r, uint32_t w, uint32_t from, uint32_t to)
{
	/* `up` is w's parent, because w's path is not compressed yet */
	uint32_t semi = r->links[w].up;

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

static void find_semidominators(struct semi_nca *r)
{
	const struct graph_dfs *d = &r->dfs;

	r->links = mmap_array_new((size_t)d->n + 1, sizeof(*r->links));
	for (uint32_t w = 1; w <= d->n; w++)
		r->links[w].up = d->parent[w];
	for (uint32_t w = d->n; w > 0; w--) {
		uint32_t to = d->state[d->node[w]].others;
		uint32_t from = w > 1 ? d->state[d->node[w - 1]].others : 0;

		if (w > AHEAD)
			__builtin_prefetch(&d->state[d->node[w - AHEAD]]);
		r->semi[w] = semi_of(r, w, from, to);
		r->links[w].least = r->semi[w];
	}
}

/*
 * Returns the skip pointer of a child of node v in the dominator tree.  It leads to v or, if the
 * pointers of v and of its target skip equally many levels, to where the second one leads.
 */
static struct skip skip_from_below(const struct skip *skips, uint32_t v)
{
	const struct skip first = skips[v], second = skips[first.up];

	if (first.levels == second.levels)
		return (struct skip){ second.up, first.levels + second.levels + 1 };
	return (struct skip){ v, 1 };
}

static void find_dominators(struct semi_nca *r)
{
	_Static_assert(sizeof(*r->skips) == sizeof(*r->links), "one becomes the other");
	r->skips[0] = (struct skip){ 0, 0 };
	for (uint32_t w = 1; w <= r->dfs.n; w++) {
		uint32_t dominator = r->dominator[w];

		while (dominator > r->semi[w]) {
			uint32_t up = r->skips[dominator].up;

			dominator = up >= r->semi[w] ? up : r->dominator[dominator];
		}
		r->dominator[w] = dominator;
		r->skips[w] = skip_from_below(r->skips, dominator);
	}
}

/*
 * Stores the dominators in the memory of dfs.edge.  New memory would cost time, because the kernel
 * clears new pages.
 */
static void store_dominators(struct semi_nca *r, struct dominators *tree)
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

static void sum_retained(struct semi_nca *r, struct dominators *tree)
{
	const uint32_t *node = r->dfs.node;

	_Static_assert(sizeof(*r->dfs.state) == sizeof(*tree->retained), "one becomes the other");
	tree->retained = (void *)TAKE_PTR(r->dfs.state);
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

static void sum_held(const struct graph_dfs *d, struct dominators *tree)
{
	for (unsigned strength = 0; strength < HEAP_STREAM_STRENGTHS; strength++) {
		for (uint32_t w = d->below[strength]; w < d->below[strength + 1]; w++) {
			tree->held[strength].n++;
			tree->held[strength].bytes += graph_size(d->graph, d->node[w]);
		}
	}
}

void dominators_find(const struct graph *g, bool weak, struct dominators *tree)
{
	struct semi_nca r = { .dfs = { .graph = g, .weak = weak } };

	*tree = (struct dominators){ .n = g->n };
	graph_dfs_run(&r.dfs);
	r.semi = r.dfs.edge;
	r.dominator = r.dfs.parent;
	find_others(&r);
	find_semidominators(&r);
	mmap_array_free(r.others);
	find_dominators(&r);
	mmap_array_free(r.links);
	sum_held(&r.dfs, tree);
	store_dominators(&r, tree);
	sum_retained(&r, tree);
	graph_dfs_release(&r.dfs);
}

void dominators_release(struct dominators *tree)
{
	mmap_array_free(tree->dominator);
	mmap_array_free(tree->retained);
	*tree = (struct dominators){ 0 };
}
