#include "model/graph/graph_dfs.h"

/* Values of an element of graph_dfs.edge that are not numbers of edges. */
#define AT_CLASS (UINT32_MAX - 1) /* the class edge is the next edge to follow */
#define AT_END UINT32_MAX         /* all edges of the node were followed */

/*
 * Returns the last edge of a node, or AT_CLASS if it has no edges.  HotSpot's visit stack is
 * last-in first-out, so the heap stream describes the target of a node's last edge first.  The
 * search also follows the last edge first, so that it reads most edges in the order in which they
 * are stored.
 */
static uint32_t last_edge(const struct graph *g, uint32_t node)
{
	uint32_t at = g->first[node];

	if (at == GRAPH_NONE)
		return AT_CLASS;
	while (!(g->tag[at + 1] & GRAPH_FIRST))
		at++;
	return at;
}

/*
 * prefetch() loads graph_dfs.state for the targets of this many edges, because the state of a
 * target is rarely in the CPU's cache.
 */
#define AHEAD 4

static void prefetch(const struct graph_dfs *d, uint32_t number)
{
	const struct graph *g = d->graph;
	uint32_t at = d->edge[number];

	for (unsigned i = 0; i < AHEAD && at < g->n_edges; i++, at--) {
		if (g->to[at] != GRAPH_NONE)
			__builtin_prefetch(&d->state[g->to[at]], 1);
		if (g->tag[at] & GRAPH_FIRST)
			break;
	}
}

static uint32_t visit(struct graph_dfs *d, uint32_t node, uint32_t parent)
{
	uint32_t number = ++d->n;

	d->node[number] = node;
	d->parent[number] = parent;
	d->edge[number] = last_edge(d->graph, node);
	d->state[node].number = number;
	prefetch(d, number);
	return number;
}

static void note_referent(struct graph_dfs *d, uint32_t to, unsigned strength)
{
	if (to == GRAPH_NONE)
		return;
	d->referents = mmap_array_grow(d->referents, d->n_referents, &d->cap_referents,
				       sizeof(*d->referents));
	d->referents[d->n_referents++] = (struct graph_referent){ to, strength };
}

static void count_edge(struct graph_dfs *d, uint32_t to)
{
	struct graph_dfs_state *state = &d->state[to];

	state->others += state->number == 0 || state->number >= d->least;
}

/*
 * Follows the remaining edges of the node with this number, up to the first edge whose target was
 * not visited yet.  Returns that target; or GRAPH_NONE if there is no such edge.
 */
static uint32_t follow_edges(struct graph_dfs *d, uint32_t number)
{
	const struct graph *g = d->graph;
	uint32_t to;

	while (d->edge[number] < AT_CLASS) {
		uint32_t at = d->edge[number];
		unsigned strength = graph_strength(g->tag[at]);

		d->edge[number] = g->tag[at] & GRAPH_FIRST ? AT_CLASS : at - 1;
		to = g->to[at];
		if (!d->weak && strength < HEAP_STREAM_STRENGTHS) {
			note_referent(d, to, strength);
			continue;
		}
		if (to == GRAPH_NONE)
			continue;
		if (d->state[to].number == 0) {
			graph_set_bit(d->tree_edges, at);
			return to;
		}
		count_edge(d, to);
	}
	if (d->edge[number] == AT_END)
		return GRAPH_NONE;
	d->edge[number] = AT_END;
	to = graph_class_to(d, d->node[number]);
	if (to == GRAPH_NONE)
		return GRAPH_NONE;
	count_edge(d, to);
	return d->state[to].number == 0 ? to : GRAPH_NONE;
}

static void search(struct graph_dfs *d, uint32_t node)
{
	uint32_t number = visit(d, node, 0);

	while (number != 0) {
		uint32_t to = follow_edges(d, number);

		if (to != GRAPH_NONE) {
			number = visit(d, to, number);
			continue;
		}
		number = d->parent[number];
		prefetch(d, d->parent[number]);
	}
}

/*
 * Visits the nodes that are reachable through REFERENT edges of this strength or a stronger one.
 * The targets of these edges get an edge from the super-root, except those that were visited before
 * this call.  A target gets that edge even if another target leads to it.
 */
static void search_referents(struct graph_dfs *d, unsigned strength)
{
	d->least = d->below[strength];
	for (size_t i = 0; i < d->n_referents; i++) {
		struct graph_referent referent = d->referents[i];

		if (referent.strength > strength)
			continue;
		if (d->state[referent.to].number == 0)
			search(d, referent.to);
		if (d->state[referent.to].number >= d->below[strength])
			graph_set_bit(d->rooted, d->state[referent.to].number);
	}
	d->below[strength + 1] = d->n + 1;
}

static void set_class_to(struct graph_dfs *d)
{
	const struct graph *g = d->graph;

	d->class_to = mmap_array_new(g->n_classes, sizeof(*d->class_to));
	for (uint32_t class = 0; class < g->n_classes; class++) {
		uint32_t to = g->mirrors[class];
		bool none = to == GRAPH_NONE || g->class[to] & (GRAPH_OWN | GRAPH_ROOT);

		d->class_to[class] = none ? GRAPH_NONE : to;
	}
}

void graph_dfs_run(struct graph_dfs *d)
{
	const struct graph *g = d->graph;

	d->node = mmap_array_new((size_t)g->n + 1, sizeof(*d->node));
	d->parent = mmap_array_new((size_t)g->n + 1, sizeof(*d->parent));
	d->edge = mmap_array_new((size_t)g->n + 1, sizeof(*d->edge));
	d->parent[0] = 0;
	d->edge[0] = AT_END;
	d->rooted = mmap_array_new_zeroed((size_t)g->n / 64 + 1, sizeof(*d->rooted));
	d->state = mmap_array_new_zeroed(g->n, sizeof(*d->state));
	d->tree_edges = mmap_array_new_zeroed((size_t)g->n_edges / 64 + 1, sizeof(*d->tree_edges));
	set_class_to(d);
	for (size_t i = g->n_roots; i-- > 0;) {
		uint32_t node = g->roots[i].node;

		if (d->state[node].number == 0)
			search(d, node);
		graph_set_bit(d->rooted, d->state[node].number);
	}
	d->below[0] = d->n + 1;
	for (unsigned strength = 0; strength < HEAP_STREAM_STRENGTHS; strength++)
		search_referents(d, strength);
}

void graph_dfs_release(struct graph_dfs *d)
{
	mmap_array_free(d->node);
	mmap_array_free(d->parent);
	mmap_array_free(d->edge);
	mmap_array_free(d->rooted);
	mmap_array_free(d->state);
	mmap_array_free(d->tree_edges);
	mmap_array_free(d->class_to);
	mmap_array_free(d->referents);
	*d = (struct graph_dfs){ 0 };
}
