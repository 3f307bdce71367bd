/* Shortest paths: a breadth-first search from the roots. */
#include "model/graph/graph_internal.h"

/* Special values of graph_bfs.edge, which are not edge numbers. */
#define BY_CLASS (UINT32_MAX - 1) /* the node was reached by the class edge of its parent */
#define BYPASSED (UINT32_MAX - 2) /* bypass() has excluded the node from the search */

struct search {
	const struct graph *graph;
	struct graph_bfs *bfs;
	uint32_t *queue;
	uint32_t n;
	uint32_t done; /* number of nodes at the start of the queue that were visited */
};

static void reach(struct search *s, uint32_t to, uint32_t from, uint32_t edge)
{
	if (to == GRAPH_NONE || s->bfs->parent[to] != GRAPH_NONE)
		return;
	s->bfs->parent[to] = from;
	s->bfs->edge[to] = edge;
	s->queue[s->n++] = to;
}

/*
 * The groups of roots, in the order in which they are added to the queue.  Paths from classes are
 * the clearest.  A local variable, JNI local or monitor (OF_THREADS) is a root only until a method
 * or a synchronized block ends.  So the search uses it only for nodes that no root of the other
 * groups reaches, even if a path from another group is longer.
 */
enum root_group { CLASSES, LASTING, OF_THREADS };

static enum root_group group_of(enum heap_stream_root kind)
{
	switch (kind) {
	case HEAP_STREAM_ROOT_CLASS:
		return CLASSES;
	case HEAP_STREAM_ROOT_STACK:
	case HEAP_STREAM_ROOT_JNI_LOCAL:
	case HEAP_STREAM_ROOT_MONITOR:
		return OF_THREADS;
	case HEAP_STREAM_ROOT_JNI_GLOBAL:
	case HEAP_STREAM_ROOT_THREAD:
	case HEAP_STREAM_ROOT_VM:
	case HEAP_STREAM_ROOTS:
		break;
	}
	return LASTING;
}

static void reach_roots(struct search *s, enum root_group group)
{
	for (size_t i = 0; i < s->graph->n_roots; i++) {
		const struct graph_root *root = &s->graph->roots[i];

		if (group_of(root->kind) == group)
			reach(s, root->node, root->node, GRAPH_NONE);
	}
}

/*
 * Distance, in nodes of the queue, between a prefetch and the use of the data.  Each node causes
 * three cache misses, one after the other, so prefetch() starts 3 * AHEAD nodes before the use.
 */
#define AHEAD 8

static void prefetch(const struct search *s, uint32_t i)
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
			__builtin_prefetch(&s->bfs->parent[g->to[at]], 1);
		at = graph_next_edge(g, at);
	}
}

static void reach_targets(struct search *s, uint32_t from, bool weak)
{
	const struct graph *g = s->graph;

	for (uint32_t at = g->first[from]; at != GRAPH_NONE; at = graph_next_edge(g, at)) {
		if (weak || graph_strength(g->tag[at]) >= HEAP_STREAM_STRENGTHS)
			reach(s, g->to[at], from, at);
	}
	reach(s, graph_class_edge(g, from), from, BY_CLASS);
}

static void search_begin(struct search *s, const struct graph *g, struct graph_bfs *bfs)
{
	bfs->parent = mmap_array_new(g->n, sizeof(*bfs->parent));
	bfs->edge = mmap_array_new(g->n, sizeof(*bfs->edge));
	*s = (struct search){ g, bfs, mmap_array_new(g->n, sizeof(uint32_t)), 0, 0 };
	for (uint32_t node = 0; node < g->n; node++)
		bfs->parent[node] = GRAPH_NONE;
}

/* Visits all nodes that are reachable from the nodes in the queue. */
static void search_queue(struct search *s, bool weak)
{
	for (; s->done < s->n; s->done++) {
		prefetch(s, s->done);
		reach_targets(s, s->queue[s->done], weak);
	}
}

/* Adds all roots except the class roots to the queue, and visits all nodes that are reachable. */
static void search_all(struct search *s, bool weak)
{
	reach_roots(s, LASTING);
	search_queue(s, weak);
	reach_roots(s, OF_THREADS);
	search_queue(s, weak);
}

void graph_bfs(const struct graph *g, bool weak, struct graph_bfs *bfs)
{
	struct search s;

	search_begin(&s, g, bfs);
	reach_roots(&s, CLASSES);
	search_all(&s, weak);
	mmap_array_free(s.queue);
}

/* Marks nodes as reached but does not add them to the queue, so that the search bypasses them. */
static void bypass(struct search *s, const uint32_t *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		s->bfs->parent[nodes[i]] = nodes[i];
		s->bfs->edge[nodes[i]] = BYPASSED;
	}
}

/*
 * Returns whether the class has a bypassed loader.  Such a class is alive as long as its loader is,
 * so a path that starts at the class does not explain why an object is alive.
 */
static bool has_bypassed_loader(const struct search *s, uint32_t class)
{
	uint32_t loader = graph_loader(s->graph, class);

	return loader != GRAPH_NONE && s->bfs->edge[loader] == BYPASSED;
}

/*
 * Discards the paths, and begins the second search.  Its first starts are the class roots and the
 * class objects that the first search has reached, except those whose loader is bypassed.
 */
static void restart(struct search *s)
{
	const struct graph *g = s->graph;
	struct graph_bfs *bfs = s->bfs;
	uint32_t *starts = mmap_array_new(g->n_classes, sizeof(*starts));
	uint32_t n = 0;

	for (uint32_t class = 0; class < g->n_classes; class++) {
		uint32_t mirror = g->mirrors[class];

		if (mirror != GRAPH_NONE && bfs->parent[mirror] != GRAPH_NONE &&
		    bfs->edge[mirror] != BYPASSED && !has_bypassed_loader(s, class))
			starts[n++] = mirror;
	}
	for (uint32_t node = 0; node < g->n; node++)
		bfs->parent[node] = GRAPH_NONE;
	s->n = s->done = 0;
	reach_roots(s, CLASSES);
	for (uint32_t i = 0; i < n; i++)
		reach(s, starts[i], starts[i], GRAPH_NONE);
	mmap_array_free(starts);
}

void graph_bfs_to(const struct graph *g, bool weak, const uint32_t *nodes, size_t n,
		  struct graph_bfs *bfs)
{
	struct search s;

	search_begin(&s, g, bfs);
	bypass(&s, nodes, n);
	reach_roots(&s, CLASSES);
	search_all(&s, weak);
	restart(&s);
	search_all(&s, weak);
	mmap_array_free(s.queue);
}

void graph_bfs_release(struct graph_bfs *bfs)
{
	mmap_array_free(bfs->parent);
	mmap_array_free(bfs->edge);
	*bfs = (struct graph_bfs){ 0 };
}

struct graph_edge graph_bfs_edge(const struct graph *g, const struct graph_bfs *bfs, uint32_t node)
{
	if (bfs->edge[node] == BY_CLASS)
		return (struct graph_edge){ node, GRAPH_CLASS, 0 };
	return graph_edge_at(g, bfs->edge[node]);
}
