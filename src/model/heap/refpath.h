/*
 * One way from a GC root to an object: which objects are on it, and how each holds the next.
 */
#ifndef JTOOL_MODEL_REFPATH_H
#define JTOOL_MODEL_REFPATH_H

#include "model/heap.h"

struct refpath {
	uint32_t *nodes;          /* the root's object first */
	struct graph_edge *edges; /* [i]: how nodes[i] is held by the one before; [0]: nothing */
	size_t n;
};

/* The node is reached. */
void refpath_find(const struct graph *g, const struct graph_ways *ways, uint32_t node,
		  struct refpath *path);
void refpath_release(struct refpath *path);

/*
 * Is the i-th object of the class of the one before, which holds it in a field or as an array
 * does?  So do the nodes of lists and trees.
 */
bool refpath_continues(const struct heap *h, const struct refpath *path, size_t i);

/* Mark the classes whose fields name the edges of this way: wanted has a place for each class. */
void refpath_want_fields(const struct heap *h, const struct refpath *path, bool *wanted);

#endif
