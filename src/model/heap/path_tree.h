/*
 * A tree of merged paths from GC roots to targets.  A target is an object whose path was requested.
 * A path consists of steps; a step is a run of consecutive objects of one class.  Private to
 * refpaths.c.
 */
#ifndef JTOOL_MODEL_HEAP_PATH_TREE_H
#define JTOOL_MODEL_HEAP_PATH_TREE_H

#include "base/intern.h"
#include "model/heap/heap.h"

/* The state of a node of the heap graph that is on a path. */
struct path_tree_node {
	uint32_t step;  /* 1 + index of the node's step; 0: not on a path, or not visited yet */
	uint32_t run;   /* position of the node in its step, from 1 */
	uint32_t depth; /* position of the node on the path, from 1 */
	/* 1 + index of the last group for which the path from the root to this node was measured */
	uint32_t seen;
};

struct path_tree_step {
	uint32_t level;   /* number of steps before this step on the path */
	uint32_t count;   /* number of targets whose path ends with this step */
	uint32_t example; /* of these targets, the one with the shortest path so far */
	uint32_t length;  /* number of objects on the path to `example` */
	uint32_t group;   /* 1 + index in refpaths.groups; 0: the step's group is not examined */
};

struct path_tree {
	const struct heap *heap;
	const struct graph *graph;
	const struct graph_bfs *bfs;
	struct intern names;   /* names of classes, and descriptions of roots */
	/* indexed by class: index in `names`; the last element is for an unknown class */
	uint32_t *class_names;
	struct intern keys;    /* indexed by step: the step's struct step_key (path_tree.c) */
	struct path_tree_step *steps;
	size_t n_steps, cap_steps;
	/* indexed by node; a page takes memory only if one of its nodes is on a path */
	struct path_tree_node *nodes;
	uint32_t *stack;
	size_t cap_stack;
};

void path_tree_init(struct path_tree *s, const struct heap *h, const struct graph_bfs *bfs);
void path_tree_release(struct path_tree *s);

/*
 * Returns the last step of the path to a target.  Sets *length to the number of objects on the
 * path.  A java.lang.Class before the end of the path counts as the class that it represents; at
 * the end, as the target, it counts as an instance of java.lang.Class.  May move s->steps.
 */
uint32_t path_tree_last(struct path_tree *s, uint32_t target, uint32_t *length);

static inline bool refpaths_is_class_object(const struct path_tree *s, uint32_t node)
{
	return graph_stands_for(s->graph, node) != GRAPH_NONE;
}

#endif
