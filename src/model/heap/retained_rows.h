/* Retained sizes by class, the top of the dominator tree, and leak suspects. */
#ifndef JTOOL_MODEL_HEAP_RETAINED_ROWS_H
#define JTOOL_MODEL_HEAP_RETAINED_ROWS_H

#include "model/heap/heap.h"
#include "model/histo/histo.h"
#include "model/graph/held_by_class.h"

struct retained_row {
	char *name;         /* name of the class, package or loader */
	/* if rows are classes, the loader's label, owned by the heap; else NULL */
	const char *loader;
	struct graph_sum sum;
};

/* The classes, packages or loaders that have instances. */
struct retained {
	struct retained_row *rows;
	size_t n;
	/*
	 * Number of instances in all rows before retained_filter().  Objects that are missing in a
	 * dump are not counted.
	 */
	uint64_t instances;
};

enum retained_sort {
	RETAINED_BY_RETAINED,
	RETAINED_BY_SHALLOW,
	RETAINED_BY_COUNT,
	RETAINED_BY_NAME,
};

/*
 * Computes a row for each class, package or loader.  Packages and loaders are those of
 * histo_group().
 */
void retained_sum_up(struct retained *r, const struct heap *h, const struct dominators *tree,
		     enum histo_group by);
void retained_release(struct retained *r);
/* Sorts in descending order of size or count, or by name; equal rows by name, then loader. */
void retained_sort(struct retained *r, enum retained_sort by);
/* Removes the rows whose name does not match the glob. */
void retained_filter(struct retained *r, const char *glob);

/*
 * An entry in the top levels of the dominator tree.  The entries are in preorder: an object, then
 * the large objects that it dominates, largest first, then a total of the other objects that it
 * dominates.
 */
struct retained_entry {
	/* the object; GRAPH_NONE: the entry is the total of other objects below `holder` */
	uint32_t node;
	uint32_t holder; /* node of the dominator; graph_n(): only the roots dominate the object */
	unsigned depth;  /* level in the tree; 0: directly below the roots */
	bool has_edge;   /* the holder refers directly to the object, by `edge` */
	struct graph_edge edge;
	struct held_by_class_sum rest; /* if `node` is GRAPH_NONE: the total of the other objects */
};

struct retained_tree {
	struct retained_entry *entries;
	size_t n, cap;
	struct held_by_class pieces;
};

struct retained_tree_opts {
	uint64_t least;  /* show objects that retain at least so many bytes */
	unsigned depth;  /* number of levels to show */
	size_t children; /* maximum number of objects to show below one object; 0: no maximum */
	bool weak;       /* as in dominators_find() */
};

void retained_tree_find(struct retained_tree *t, const struct graph *g,
			const struct dominators *tree, const struct retained_tree_opts *opts);
void retained_tree_release(struct retained_tree *t);

/*
 * A suspect is an object that retains at least `least` bytes, while each object that it dominates
 * retains less.  It is the end of a chain in which each object retains nearly as much as its
 * dominator.  A list or tree, whose nodes are of one class and refer to one another, counts as one
 * object, its first node.  A class is also a suspect if its instances that only the roots dominate
 * together retain at least `least` bytes, but each of these instances retains less.
 *
 * Suspects do not overlap, so their number is at most the reachable bytes divided by `least`.
 */
struct retained_suspect {
	uint32_t node;      /* the object; for a class, the instance that retains the most */
	uint64_t instances; /* number of instances; 1: a single object */
	uint64_t retained;  /* bytes that these instances retain together */
	/* the objects that the suspect dominates; for a class, its instances */
	struct held_by_class_sum held;
};

struct retained_suspects {
	struct retained_suspect *list; /* in descending order of retained bytes */
	size_t n, cap;
	struct held_by_class pieces;
};

void retained_suspects_find(struct retained_suspects *s, const struct graph *g,
			    const struct dominators *tree, uint64_t least);
void retained_suspects_release(struct retained_suspects *s);

#endif
