/*
 * What a heap's classes retain, which objects retain the most, and which of them hold so much in
 * small pieces that they may be a leak.
 */
#ifndef JTOOL_MODEL_RETAINED_H
#define JTOOL_MODEL_RETAINED_H

#include "model/heap.h"
#include "model/histo.h"
#include "model/pieces.h"

struct retained_row {
	char *name;         /* of a class, a package or a loader */
	const char *loader; /* of a class; the heap's */
	struct graph_sum sum;
};

/* Rows that have instances. */
struct retained {
	struct retained_row *rows;
	size_t n;
	/* Of all rows there were; a dump may lack objects that it refers to: they do not count. */
	uint64_t instances;
};

enum retained_sort {
	RETAINED_BY_RETAINED,
	RETAINED_BY_SHALLOW,
	RETAINED_BY_COUNT,
	RETAINED_BY_NAME,
};

/* Packages and loaders as histo_group() has them. */
void retained_sum_up(struct retained *r, const struct heap *h, const struct graph_tree *tree,
		     enum histo_group by);
void retained_release(struct retained *r);
/* Figures descending, or by name; ties by name, then loader. */
void retained_sort(struct retained *r, enum retained_sort by);
/* Keep only rows whose name matches a glob. */
void retained_filter(struct retained *r, const char *glob);

/*
 * The top of the dominator tree, in the order in which it is read: an object, then what it
 * dominates, those that retain most first, then what else it holds, summed up.
 */
struct retained_entry {
	uint32_t node;   /* GRAPH_NONE: what else `holder` holds */
	uint32_t holder; /* its dominator; graph_n(): nobody but the roots */
	unsigned depth;  /* below the roots; 0: the biggest ones */
	bool has_edge;   /* `edge` is how the holder refers to it directly */
	struct graph_edge edge;
	struct pieces_sum rest; /* of what else there is */
};

struct retained_tree {
	struct retained_entry *entries;
	size_t n, cap;
	struct pieces pieces;
};

struct retained_tree_opts {
	uint64_t least;  /* show objects that retain so many bytes */
	unsigned depth;  /* so many levels */
	size_t children; /* at most so many of one object's; 0: all */
	bool weak;       /* the tree was found so */
};

void retained_tree_find(struct retained_tree *t, const struct graph *g,
			const struct graph_tree *tree, const struct retained_tree_opts *opts);
void retained_tree_release(struct retained_tree *t);

/*
 * A suspect is an object that holds at least `least` bytes in pieces that are each smaller: where
 * a chain of objects, each of which keeps nearly all that the one above it does, comes to what
 * fills the heap.  Objects of one class that hold one another (a list's nodes, a tree's) are one
 * thing, called by the first of them.  And a class is one when those of its instances that only
 * roots keep alive, none of them so big, hold as much together.
 *
 * As what they hold does not overlap, there are never more than 100 % / `least`.
 */
struct retained_suspect {
	uint32_t node;      /* the object, or of a class the instance that retains most */
	uint64_t instances; /* 1: an object */
	uint64_t retained;  /* by them altogether */
	struct pieces_sum held; /* in these pieces; a class's: itself */
};

struct retained_suspects {
	struct retained_suspect *list; /* those that retain most first */
	size_t n, cap;
	struct pieces pieces;
};

void retained_suspects_find(struct retained_suspects *s, const struct graph *g,
			    const struct graph_tree *tree, uint64_t least);
void retained_suspects_release(struct retained_suspects *s);

#endif
