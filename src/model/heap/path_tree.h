/* A tree of merged paths.  Each step is a run of objects of one class.  Private to refpaths.c. */
#ifndef JTOOL_MODEL_HEAP_PATH_TREE_H
#define JTOOL_MODEL_HEAP_PATH_TREE_H

#include "base/intern.h"
#include "model/heap/heap.h"

/* State of a node on a path. */
struct path_tree_node {
	uint32_t step;  /* 1 + index of its step; 0: not on a path, or not visited yet */
	uint32_t run;   /* position in the run, from 1 */
	uint32_t depth; /* position on the path, from 1 */
	uint32_t seen;  /* 1 + the last group that measured the path to here; 0: none */
};

struct path_tree_step {
	uint32_t level;   /* number of steps before this one on the path */
	uint32_t count;   /* targets whose path ends with this step */
	uint32_t example; /* the target with the shortest path so far */
	uint32_t length;  /* objects on the example's path */
	uint32_t group;   /* 1 + index of its group; 0: not examined */
};

struct path_tree {
	const struct heap *heap;
	const struct graph *graph;
	const struct graph_bfs *bfs;
	struct intern names;   /* of classes, and descriptions of roots */
	uint32_t *class_names; /* by class: index in `names`; last entry: unknown class */
	struct intern keys;    /* struct step_key by step */
	struct path_tree_step *steps;
	size_t n_steps, cap_steps;
	struct path_tree_node *nodes; /* only pages with nodes on paths are backed by memory */
	uint32_t *stack;
	size_t cap_stack;
};

void path_tree_init(struct path_tree *s, const struct heap *h, const struct graph_bfs *bfs);
void path_tree_release(struct path_tree *s);

/*
 * Returns the last step of the path to a target.  *length: objects on the path.  A class object
 * counts as its class, but as a java.lang.Class if it is the target.  May move s->steps.
 */
uint32_t path_tree_last(struct path_tree *s, uint32_t target, uint32_t *length);

static inline bool refpaths_is_class_object(const struct path_tree *s, uint32_t node)
{
	return graph_stands_for(s->graph, node) != GRAPH_NONE;
}

#endif
