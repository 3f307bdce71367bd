/* Objects of a dominator tree that retain at least a given size. */
#ifndef JTOOL_MODEL_GRAPH_BIG_OBJECTS_H
#define JTOOL_MODEL_GRAPH_BIG_OBJECTS_H

#include "model/graph/graph.h"

struct big_object {
	uint32_t node;
	/* index in `list` of the object's dominator; GRAPH_NONE: only the roots dominate it */
	uint32_t above;
};

struct big_objects {
	const struct graph *graph;
	const struct dominators *tree;
	uint64_t least;          /* minimum retained size in bytes */
	struct big_object *list; /* sorted by node */
	size_t n, cap;
	uint32_t *order; /* indices in `list`, in descending order of retained bytes */
};

void big_objects_find(struct big_objects *b, const struct graph *g, const struct dominators *tree,
		      uint64_t least);
void big_objects_release(struct big_objects *b);

static inline bool big_objects_has(const struct big_objects *b, uint32_t node)
{
	return b->tree->retained[node] >= b->least;
}

/* Returns the number of a node, which is its index in `list`; or GRAPH_NONE if it is not big. */
uint32_t big_objects_number(const struct big_objects *b, uint32_t node);
uint64_t big_objects_retained(const struct big_objects *b, uint32_t number);
/*
 * Returns whether an object probably belongs to the same linked list or tree as its dominator.
 * Returns true if the dominator has the class of `node`; or if the dominator's dominator has that
 * class, because an array may be between the objects of a list or tree.  Higher dominators do not
 * count: a map three levels below another map is not a part of that map.  Returns false for class
 * objects.
 */
bool big_objects_continues(const struct big_objects *b, uint32_t node);

#endif
