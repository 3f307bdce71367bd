#include "model/heap/refpath.h"

#include <string.h>

#include "base/xalloc.h"

void refpath_find(const struct graph *g, const struct graph_bfs *bfs, uint32_t node,
		  struct refpath *path)
{
	size_t n = 1;

	for (uint32_t at = node; bfs->parent[at] != at; at = bfs->parent[at])
		n++;
	path->n = n;
	path->nodes = xcalloc(n, sizeof(*path->nodes));
	path->edges = xcalloc(n, sizeof(*path->edges));
	for (;; node = bfs->parent[node]) {
		path->nodes[--n] = node;
		if (n == 0)
			return;
		path->edges[n] = graph_bfs_edge(g, bfs, node);
	}
}

void refpath_release(struct refpath *path)
{
	free(path->nodes);
	free(path->edges);
	*path = (struct refpath){ 0 };
}

bool refpath_continues(const struct heap *h, const struct refpath *path, size_t i)
{
	if (i == 0 || (path->edges[i].via != GRAPH_FIELD && path->edges[i].via != GRAPH_ELEMENT))
		return false;
	if (graph_stands_for(h->graph, path->nodes[i]) != GRAPH_NONE ||
	    graph_stands_for(h->graph, path->nodes[i - 1]) != GRAPH_NONE)
		return false;
	return strcmp(heap_node_class(h, path->nodes[i]),
		      heap_node_class(h, path->nodes[i - 1])) == 0;
}

void refpath_want_fields(const struct heap *h, const struct refpath *path, bool *wanted)
{
	for (size_t i = 1; i < path->n; i++) {
		uint32_t class = heap_via_class(h, path->nodes[i - 1], &path->edges[i]);

		if (class < h->n_classes)
			wanted[class] = true;
	}
}
