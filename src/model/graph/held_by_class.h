/*
 * Counts, by class, the objects that big objects (big_objects.h) dominate directly.  The caller
 * assigns a holder, or none, to each big object: the big object itself or, if it is a part of a
 * list or tree, the first object of the list or tree.  An object counts for its dominator's holder.
 */
#ifndef JTOOL_MODEL_GRAPH_HELD_BY_CLASS_H
#define JTOOL_MODEL_GRAPH_HELD_BY_CLASS_H

#include "model/graph/big_objects.h"

/* The objects of one class that are counted for one holder. */
struct held_row {
	uint32_t holder, class; /* holder: a value of held_by_class_wanted.holders[] */
	uint32_t biggest;       /* of these objects, the node with the largest retained size */
	uint64_t n, bytes;      /* number of these objects; total of retained or shallow sizes */
};

struct held_by_class {
	struct held_row *list; /* sorted by holder, then in descending order of bytes */
	size_t n;
};

/* With which size a big object counts for the holder of its dominator. */
enum held_role {
	HELD_RETAINED, /* its retained size */
	HELD_SHALLOW,  /* its shallow size */
	HELD_APART,    /* it does not count */
};

struct held_by_class_wanted {
	/* indexed by big object: the holder of the objects that it dominates; GRAPH_NONE: none */
	const uint32_t *holders;
	const uint8_t *roles;    /* indexed by big object: enum held_role */
	uint32_t roots;          /* the holder for objects that only the roots dominate */
	/*
	 * If true, objects that are not big can also belong to a holder's list or tree
	 * (big_objects_continues()).  Such an object counts as HELD_SHALLOW, and the objects that
	 * it dominates count for the holder.
	 */
	bool follow;
};

void held_by_class_find(struct held_by_class *p, const struct big_objects *b,
			const struct held_by_class_wanted *wanted);
void held_by_class_release(struct held_by_class *p);

/* All rows of one holder, and their total. */
struct held_by_class_sum {
	size_t first, n_classes; /* the rows are list[first] to list[first + n_classes - 1] */
	uint64_t n, bytes;
};
struct held_by_class_sum held_by_class_of(const struct held_by_class *p, uint32_t holder);

#endif
