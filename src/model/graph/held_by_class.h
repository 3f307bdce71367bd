/*
 * Counts, by class, the objects that big objects (big_objects.h) dominate directly.
 *
 * The caller assigns a holder to each big object: the object itself, or the first object of the
 * list or tree that it is a part of.  An object is counted for the holder of its dominator.
 */
#ifndef JTOOL_MODEL_GRAPH_HELD_BY_CLASS_H
#define JTOOL_MODEL_GRAPH_HELD_BY_CLASS_H

#include "model/graph/big_objects.h"

/* The objects of one class that are counted for one holder. */
struct held_row {
	uint32_t holder, class; /* holder: a number from held_by_class_wanted.holders */
	uint32_t biggest;       /* of these objects, the node with the largest retained size */
	uint64_t n, bytes;      /* number of these objects; total of retained or shallow sizes */
};

struct held_by_class {
	struct held_row *list; /* sorted by holder, then in descending order of bytes */
	size_t n;
};

/* How an object is counted for the holder of its dominator. */
enum held_role {
	HELD_RETAINED, /* with its retained size */
	HELD_SHALLOW,  /* with its shallow size */
	HELD_APART,    /* not at all */
};

struct held_by_class_wanted {
	/* indexed by big object: the holder of the objects that it dominates; GRAPH_NONE: none */
	const uint32_t *holders;
	const uint8_t *roles;    /* indexed by big object: enum held_role */
	uint32_t roots;          /* the holder for objects that only the roots dominate */
	/*
	 * If true, objects that are not big can also belong to a holder's list or tree
	 * (big_objects_continues()).  They are counted with their shallow size, and the objects
	 * that they dominate count for the holder, too.
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
