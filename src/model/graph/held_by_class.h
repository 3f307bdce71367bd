/* Counts, by class, the objects whose dominator is a given big object, the holder. */
#ifndef JTOOL_MODEL_GRAPH_HELD_BY_CLASS_H
#define JTOOL_MODEL_GRAPH_HELD_BY_CLASS_H

#include "model/graph/big_objects.h"

/* The objects of one class that count for one holder. */
struct held_row {
	uint32_t holder, class; /* holder: a number from held_by_class_wanted */
	uint32_t biggest;       /* node of the object that retains most */
	uint64_t n, bytes;      /* n: number of objects */
};

struct held_by_class {
	struct held_row *list; /* sorted by holder, then by bytes, descending */
	size_t n;
};

/* How a big object counts in the total of its dominator. */
enum held_role {
	HELD_RETAINED, /* with its retained size */
	HELD_SHALLOW,  /* with its shallow size */
	HELD_APART,    /* not at all */
};

struct held_by_class_wanted {
	const uint32_t *holders; /* by big object: holder of what it dominates; GRAPH_NONE: none */
	const uint8_t *roles;    /* by big object: enum held_role */
	uint32_t roots;          /* holder of the objects that only the roots dominate */
	bool follow;             /* small objects of a holder's list are HELD_SHALLOW, too */
};

void held_by_class_find(struct held_by_class *p, const struct big_objects *b,
			const struct held_by_class_wanted *wanted);
void held_by_class_release(struct held_by_class *p);

/* The rows of one holder, and their total. */
struct held_by_class_sum {
	size_t first, n_classes; /* n_classes rows from list[first] on */
	uint64_t n, bytes;
};
struct held_by_class_sum held_by_class_of(const struct held_by_class *p, uint32_t holder);

#endif
