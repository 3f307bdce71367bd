/* Reads a heap stream into a graph, and computes everything from it. */
#include "model/graph/graph.h"

#define CLASSES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct graph *g, uint32_t node)
{
	struct graph_edges edges = graph_edges(g, node);
	struct graph_edge edge;
	enum heap_stream_form form;
	uint32_t len;

	while (graph_next(&edges, &edge)) {
		if (edge.to >= graph_n(g) || graph_is_own(g, edge.to))
			__builtin_trap();
	}
	(void)graph_size(g, node);
	(void)graph_length(g, node);
	(void)graph_stands_for(g, node);
	(void)graph_text(g, node, &form, &len);
	(void)graph_root_of(g, node);
}

static void go_back(const struct graph *g, const struct graph_bfs *ways, uint32_t node)
{
	if (ways->parent[node] == GRAPH_NONE || ways->parent[node] == node)
		return;
	if (graph_bfs_edge(g, ways, node).to != node)
		__builtin_trap();
}

static void find_ways_to_first(const struct graph *g, bool weak)
{
	const uint32_t first = 0;
	struct graph_bfs ways;

	if (graph_n(g) == 0)
		return;
	graph_bfs_to(g, weak, &first, 1, &ways);
	for (uint32_t node = 0; node < graph_n(g); node++)
		go_back(g, &ways, node);
	graph_bfs_release(&ways);
}

static void reckon(const struct graph *g, bool weak)
{
	const uint32_t group[CLASSES] = { 0, 1, 2, 0, 1, 2, 0, 1 };
	struct graph_sum sums[3];
	struct dominators tree;
	struct graph_bfs ways;
	uint64_t sum = 0;

	find_ways_to_first(g, weak);
	graph_bfs(g, weak, &ways);
	dominators_find(g, weak, &tree);
	for (uint32_t node = 0; node < graph_n(g); node++) {
		go_back(g, &ways, node);
		if (tree.dominator[node] == tree.n)
			sum += tree.retained[node];
	}
	if (sum != tree.total)
		__builtin_trap();
	graph_sum_up(g, &tree, group, 3, sums);
	graph_bfs_release(&ways);
	dominators_release(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool permanent[CLASSES] = { true, false, true };
	const struct graph_facts facts = {
		.n_classes = CLASSES, .permanent = permanent, .own_thread = 1,
		.whole = size % 3 == 0,
	};
	struct graph_builder *b = graph_builder_new(size % 2 ? 0 : 100000);
	struct graph *g = NULL;
	int error;

	if (graph_builder_take(b, data, size) == 0)
		g = graph_build(b, &facts, &error);
	graph_builder_free(b);
	if (!g)
		return 0;
	for (uint32_t node = 0; node < graph_n(g); node++)
		look_at(g, node);
	reckon(g, false);
	reckon(g, true);
	graph_free(g);
	return 0;
}
