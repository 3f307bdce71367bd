/* A path from a GC root to an object. */
#ifndef JTOOL_MODEL_HEAP_REFPATH_H
#define JTOOL_MODEL_HEAP_REFPATH_H

#include "model/heap/heap.h"

struct refpath {
	uint32_t *nodes;          /* the objects on the path; the root's object comes first */
	/* edges[i] leads from nodes[i - 1] to nodes[i]; edges[0] is unused */
	struct graph_edge *edges;
	size_t n;
};

/* Finds the path to a node, which must be reachable.  Allocates the arrays of `path`. */
void refpath_find(const struct graph *g, const struct graph_bfs *bfs, uint32_t node,
		  struct refpath *path);
void refpath_release(struct refpath *path);

/*
 * Returns true if nodes[i - 1] and nodes[i] have the same class, and edges[i] is a field or an
 * element.
 */
bool refpath_continues(const struct heap *h, const struct refpath *path, size_t i);

/* Sets wanted[class] for each class whose field names are needed to show the path. */
void refpath_want_fields(const struct heap *h, const struct refpath *path, bool *wanted);

#endif
