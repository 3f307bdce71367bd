/* Retained sizes by class, the top of the dominator tree, and leak suspects. */
#ifndef JTOOL_MODEL_HEAP_RETAINED_ROWS_H
#define JTOOL_MODEL_HEAP_RETAINED_ROWS_H

#include "model/heap/heap.h"
#include "model/histo/histo.h"
#include "model/graph/held_by_class.h"

struct retained_row {
	char *name;         /* name of the class, package or loader */
	/* if the rows are classes, the label of the loader, owned by struct heap; else NULL */
	const char *loader;
	struct graph_sum sum;
};

/* The classes, packages or loaders that have instances. */
struct retained {
	struct retained_row *rows;
	size_t n;
	/*
	 * Number of instances in all rows, including the rows that retained_filter() removes.
	 * Objects to which a heap dump refers but that it does not contain are not counted.
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
 * Computes a row for each class, package or loader, depending on `by`.  histo_group() says which
 * package or loader a class belongs to.
 */
void retained_sum_up(struct retained *r, const struct heap *h, const struct dominators *tree,
		     enum histo_group by);
void retained_release(struct retained *r);
/* Sorts the rows: largest size or count first, or by name; equal rows by name, then by loader. */
void retained_sort(struct retained *r, enum retained_sort by);
/* Removes the rows whose names `glob` does not select, see type_name_is_chosen(). */
void retained_filter(struct retained *r, const char *glob);

/*
 * An entry in the top levels of the dominator tree.  The entries are in preorder: an object; then
 * the large objects that it dominates, the largest first; then one entry with the total of the
 * other objects that it dominates.
 */
struct retained_entry {
	/* the object; GRAPH_NONE: the entry is the total of the other objects below `holder` */
	uint32_t node;
	uint32_t holder; /* node of the dominator; graph_n(): no object dominates this one */
	unsigned depth;  /* level in the tree; 0: directly below the roots */
	bool has_edge;   /* `holder` refers directly to the object, and `edge` is the reference */
	struct graph_edge edge;
	struct held_by_class_sum rest; /* if `node` is GRAPH_NONE: the total of the other objects */
};

struct retained_tree {
	struct retained_entry *entries;
	size_t n, cap;
	struct held_by_class pieces; /* the rows to which retained_entry.rest refers */
};

struct retained_tree_opts {
	uint64_t least;  /* show objects that retain at least so many bytes */
	unsigned depth;  /* number of levels to show */
	size_t children; /* maximum number of objects to show below one object; 0: no maximum */
	bool weak;       /* count soft, weak … references, see dominators_find() */
};

void retained_tree_find(struct retained_tree *t, const struct graph *g,
			const struct dominators *tree, const struct retained_tree_opts *opts);
void retained_tree_release(struct retained_tree *t);

/*
 * There are two sorts of suspects:
 * - An object that retains at least `least` bytes, without the bytes that big objects below it
 *   retain.  A big object is one that retains at least `least` bytes in total.  Such a suspect ends
 *   a chain in which each object retains nearly as much as its dominator.  A list or tree, whose
 *   nodes are of one class and refer to one another, counts as one object, its first node.
 * - A class.  The instances that no object dominates retain at least `least` bytes in total, but
 *   each of them retains less.
 *
 * Each byte makes at most one object or class a suspect, so the number of suspects is at most
 * reachable bytes / `least`.  If a suspect dominates another suspect, its member `retained`
 * includes the bytes of both.
 */
struct retained_suspect {
	uint32_t node;      /* the object; for a class, the instance that retains the most */
	uint64_t instances; /* number of instances; 1: a single object */
	uint64_t retained;  /* bytes that these instances retain together */
	/* the objects that the suspect dominates; if the suspect is a class, its instances */
	struct held_by_class_sum held;
};

struct retained_suspects {
	struct retained_suspect *list; /* in descending order of retained bytes */
	size_t n, cap;
	struct held_by_class pieces; /* the rows to which retained_suspect.held refers */
};

void retained_suspects_find(struct retained_suspects *s, const struct graph *g,
			    const struct dominators *tree, uint64_t least);
void retained_suspects_release(struct retained_suspects *s);

#endif
