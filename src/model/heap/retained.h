/* Retained sizes by class, the top of the dominator tree, and leak suspects. */
#ifndef JTOOL_MODEL_HEAP_RETAINED_H
#define JTOOL_MODEL_HEAP_RETAINED_H

#include "model/heap/heap.h"
#include "model/histo/histo.h"
#include "model/graph/held_by_class.h"

struct retained_row {
	char *name;         /* of the class, package or loader */
	const char *loader; /* if by class, else NULL; belongs to the heap */
	struct graph_sum sum;
};

/* The groups that have instances. */
struct retained {
	struct retained_row *rows;
	size_t n;
	/* of all rows before filtering; excludes objects that are missing in a dump */
	uint64_t instances;
};

enum retained_sort {
	RETAINED_BY_RETAINED,
	RETAINED_BY_SHALLOW,
	RETAINED_BY_COUNT,
	RETAINED_BY_NAME,
};

/* Computes a row per class, package or loader; packages and loaders as of histo_group(). */
void retained_sum_up(struct retained *r, const struct heap *h, const struct dominators *tree,
		     enum histo_group by);
void retained_release(struct retained *r);
/* Sorts by size or count, descending, or by name; ties by name, then loader. */
void retained_sort(struct retained *r, enum retained_sort by);
/* Removes rows whose name does not match a glob. */
void retained_filter(struct retained *r, const char *glob);

/*
 * The top of the dominator tree in preorder: an object, then the large objects that it dominates,
 * largest first, then a total of the others.
 */
struct retained_entry {
	uint32_t node;   /* GRAPH_NONE: the other objects of `holder` */
	uint32_t holder; /* node of its dominator; graph_n(): only the roots dominate it */
	unsigned depth;  /* 0: directly below the roots */
	bool has_edge;   /* `edge` is a direct reference from the holder */
	struct graph_edge edge;
	struct held_by_class_sum rest; /* total of the other objects */
};

struct retained_tree {
	struct retained_entry *entries;
	size_t n, cap;
	struct held_by_class pieces;
};

struct retained_tree_opts {
	uint64_t least;  /* bytes: show objects that retain at least this */
	unsigned depth;  /* number of levels */
	size_t children; /* show at most so many per object; 0: all */
	bool weak;       /* as in dominators_find() */
};

void retained_tree_find(struct retained_tree *t, const struct graph *g,
			const struct dominators *tree, const struct retained_tree_opts *opts);
void retained_tree_release(struct retained_tree *t);

/*
 * A suspect is an object that retains at least `least` bytes, all in smaller pieces.  It ends a
 * chain in which each object retains nearly all that its dominator retains.  A list or tree, whose
 * nodes are of one class and refer to one another, counts as one object, its first node.  A
 * class is a suspect if those of its instances that only roots dominate retain at least `least`
 * bytes together, but none of them does alone.
 *
 * Suspects do not overlap, so there are at most 100 % / `least`.
 */
struct retained_suspect {
	uint32_t node;      /* the object; of a class, its instance that retains most */
	uint64_t instances; /* 1: a single object */
	uint64_t retained;  /* bytes retained by all of them */
	struct held_by_class_sum held; /* the pieces; for a class, its instances */
};

struct retained_suspects {
	struct retained_suspect *list; /* by retained bytes, descending */
	size_t n, cap;
	struct held_by_class pieces;
};

void retained_suspects_find(struct retained_suspects *s, const struct graph *g,
			    const struct dominators *tree, uint64_t least);
void retained_suspects_release(struct retained_suspects *s);

#endif
