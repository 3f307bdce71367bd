/*
 * The ways to the targets as nodes of a tree, each of which is a stretch of all ways that are
 * alike so far: private to refpaths.
 */
#ifndef JTOOL_MODEL_REFPATHS_STEPS_H
#define JTOOL_MODEL_REFPATHS_STEPS_H

#include "base/intern.h"
#include "model/heap.h"

/* What is known of a node on one of the ways. */
struct refpaths_spot {
	uint32_t step;  /* + 1; 0: it is on none, or was not looked at yet */
	uint32_t run;   /* which object of its stretch it is, from 1 */
	uint32_t depth; /* which of the way, from 1 */
	uint32_t seen;  /* the last group, + 1, whose ways were measured from here up */
};

struct refpaths_step {
	uint32_t level;   /* how many there are before */
	uint32_t count;   /* targets */
	uint32_t example; /* the target with the shortest way so far */
	uint32_t length;  /* of that */
	uint32_t group;   /* + 1; 0: none that is looked into */
};

struct refpaths_steps {
	const struct heap *heap;
	const struct graph *graph;
	const struct graph_ways *ways;
	struct intern names;   /* of classes and of roots */
	uint32_t *class_names; /* of each class, and behind them of those that are none */
	struct intern keys;    /* of steps */
	struct refpaths_step *steps;
	size_t n_steps, cap_steps;
	struct refpaths_spot *spots; /* touched on the ways only: the rest takes no memory */
	uint32_t *climbed;
	size_t cap_climbed;
};

void refpaths_steps_init(struct refpaths_steps *s, const struct heap *h,
			 const struct graph_ways *ways);
void refpaths_steps_release(struct refpaths_steps *s);

/*
 * The step that a target's way ends with, and its length.  On the way to others, a class object
 * is that class; as an instance of java.lang.Class, it is one of many.  Moves s->steps.
 */
uint32_t refpaths_steps_last(struct refpaths_steps *s, uint32_t target, uint32_t *length);

static inline bool refpaths_is_class_object(const struct refpaths_steps *s, uint32_t node)
{
	return graph_stands_for(s->graph, node) != GRAPH_NONE;
}

#endif
