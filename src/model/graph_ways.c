/* Shortest ways: a breadth-first search from all the roots. */
#include "model/graph_in.h"

/* In place of an edge's number: the class edge. */
#define BY_CLASS (UINT32_MAX - 1)
#define SHUT (UINT32_MAX - 2) /* no edge: the search goes around that node */

struct search {
	const struct graph *graph;
	struct graph_ways *ways;
	uint32_t *queue;
	uint32_t n;
};

static void reach(struct search *s, uint32_t to, uint32_t from, uint32_t edge)
{
	if (to == GRAPH_NONE || s->ways->parent[to] != GRAPH_NONE)
		return;
	s->ways->parent[to] = from;
	s->ways->edge[to] = edge;
	s->queue[s->n++] = to;
}

/* Of equally short ways, one that begins at a class is the easiest to understand. */
static void reach_roots(struct search *s, bool classes)
{
	for (size_t i = 0; i < s->graph->n_roots; i++) {
		const struct graph_root *root = &s->graph->roots[i];

		if ((root->kind == TAPE_ROOT_CLASS) == classes)
			reach(s, root->node, root->node, GRAPH_NONE);
	}
}

/* What is done for a node waits for memory three times: ask for each well before. */
#define AHEAD 8

static void expect(const struct search *s, uint32_t i)
{
	const struct graph *g = s->graph;
	uint32_t node, at;

	if (i + 3 * AHEAD >= s->n)
		return;
	node = s->queue[i + 3 * AHEAD];
	__builtin_prefetch(&g->first[node]);
	__builtin_prefetch(&g->class[node]);
	at = g->first[s->queue[i + 2 * AHEAD]];
	if (at != GRAPH_NONE) {
		__builtin_prefetch(&g->to[at]);
		__builtin_prefetch(&g->tag[at]);
	}
	for (at = g->first[s->queue[i + AHEAD]], node = 0; at != GRAPH_NONE && node < 4; node++) {
		if (g->to[at] != GRAPH_NONE)
			__builtin_prefetch(&s->ways->parent[g->to[at]], 1);
		at = graph_edge_behind(g, at);
	}
}

static void reach_on(struct search *s, uint32_t from, bool weak)
{
	const struct graph *g = s->graph;

	for (uint32_t at = g->first[from]; at != GRAPH_NONE; at = graph_edge_behind(g, at)) {
		if (weak || graph_strength(g->tag[at]) >= TAPE_STRENGTHS)
			reach(s, g->to[at], from, at);
	}
	reach(s, graph_class_edge(g, from), from, BY_CLASS);
}

static void search_begin(struct search *s, const struct graph *g, struct graph_ways *ways)
{
	ways->parent = bigarray_new(g->n, sizeof(*ways->parent));
	ways->edge = bigarray_new(g->n, sizeof(*ways->edge));
	*s = (struct search){ g, ways, bigarray_new(g->n, sizeof(uint32_t)), 0 };
	for (uint32_t node = 0; node < g->n; node++)
		ways->parent[node] = GRAPH_NONE;
}

/* Whatever is referred to by what is reached. */
static void search_on(struct search *s, bool weak)
{
	for (uint32_t i = 0; i < s->n; i++) {
		expect(s, i);
		reach_on(s, s->queue[i], weak);
	}
}

void graph_find_ways(const struct graph *g, bool weak, struct graph_ways *ways)
{
	struct search s;

	search_begin(&s, g, ways);
	reach_roots(&s, true);
	reach_roots(&s, false);
	search_on(&s, weak);
	bigarray_free(s.queue);
}

/* What is reached already is not gone on from. */
static void shut(struct search *s, const uint32_t *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		s->ways->parent[nodes[i]] = nodes[i];
		s->ways->edge[nodes[i]] = SHUT;
	}
}

/* It is kept by its loader, which it keeps: that is no answer to what keeps the loader. */
static bool is_of_shut_loader(const struct search *s, uint32_t class)
{
	uint32_t loader = graph_loader(s->graph, class);

	return loader != GRAPH_NONE && s->ways->edge[loader] == SHUT;
}

/* Start anew, at the class objects that the search has come to, too. */
static void search_again(struct search *s)
{
	const struct graph *g = s->graph;
	struct graph_ways *ways = s->ways;
	uint32_t *kept = bigarray_new(g->n_classes, sizeof(*kept));
	uint32_t n = 0;

	for (uint32_t class = 0; class < g->n_classes; class++) {
		uint32_t mirror = g->mirrors[class];

		if (mirror != GRAPH_NONE && ways->parent[mirror] != GRAPH_NONE &&
		    ways->edge[mirror] != SHUT && !is_of_shut_loader(s, class))
			kept[n++] = mirror;
	}
	for (uint32_t node = 0; node < g->n; node++)
		ways->parent[node] = GRAPH_NONE;
	s->n = 0;
	reach_roots(s, true);
	for (uint32_t i = 0; i < n; i++)
		reach(s, kept[i], kept[i], GRAPH_NONE);
	reach_roots(s, false);
	bigarray_free(kept);
}

void graph_find_ways_to(const struct graph *g, bool weak, const uint32_t *nodes, size_t n,
			struct graph_ways *ways)
{
	struct search s;

	search_begin(&s, g, ways);
	shut(&s, nodes, n);
	reach_roots(&s, true);
	reach_roots(&s, false);
	search_on(&s, weak);
	search_again(&s);
	search_on(&s, weak);
	bigarray_free(s.queue);
}

void graph_ways_release(struct graph_ways *ways)
{
	bigarray_free(ways->parent);
	bigarray_free(ways->edge);
	*ways = (struct graph_ways){ 0 };
}

struct graph_edge graph_way_edge(const struct graph *g, const struct graph_ways *ways,
				 uint32_t node)
{
	if (ways->edge[node] == BY_CLASS)
		return (struct graph_edge){ node, GRAPH_CLASS, 0 };
	return graph_edge_at(g, ways->edge[node]);
}
