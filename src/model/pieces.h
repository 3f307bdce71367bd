/*
 * The few objects of a dominator tree that retain much, and of what classes the many are that
 * hang on them.
 */
#ifndef JTOOL_MODEL_PIECES_H
#define JTOOL_MODEL_PIECES_H

#include "model/graph.h"

struct big {
	uint32_t node;
	uint32_t above; /* the big one that dominates it; GRAPH_NONE: nobody but the roots */
};

/* All that retain at least so many bytes.  What dominates a big object is one, too. */
struct bigs {
	const struct graph *graph;
	const struct graph_tree *tree;
	uint64_t least;
	struct big *list; /* by node */
	size_t n, cap;
	uint32_t *order;  /* their numbers, those that retain most first: dominators come first */
};

void bigs_find(struct bigs *b, const struct graph *g, const struct graph_tree *tree,
	       uint64_t least);
void bigs_release(struct bigs *b);
/* The number of a node in the list, or GRAPH_NONE. */
uint32_t bigs_number(const struct bigs *b, uint32_t node);
uint64_t bigs_retained(const struct bigs *b, uint32_t number);
/*
 * Is any node one more of what dominates it, as in a list or tree: of the class of its dominator,
 * or of that one's, an array of nodes being between?  Not looked for any higher: a map in a map,
 * three objects below it, is a thing of its own.
 */
bool bigs_continues(const struct bigs *b, uint32_t node);

/* What hangs directly on a holder, by class. */
struct piece {
	uint32_t holder, class;
	uint32_t biggest; /* the node that retains most of them */
	uint64_t n, bytes;
};

struct pieces {
	struct piece *list; /* by holder; those with the most bytes first */
	size_t n;
};

/* How a big object counts among the pieces of what dominates it. */
enum piece_role {
	PIECE_WHOLE, /* with all that it retains */
	PIECE_SHELL, /* with its own size only */
	PIECE_APART, /* not at all */
};

struct pieces_wanted {
	const uint32_t *holders; /* of each big object: as whose its pieces count, or GRAPH_NONE */
	const uint8_t *roles;    /* of each: enum piece_role */
	uint32_t roots;          /* as whose those of the roots count */
	bool follow;             /* small ones that continue a holder are shells of it, too */
};

void pieces_find(struct pieces *p, const struct bigs *b, const struct pieces_wanted *wanted);
void pieces_release(struct pieces *p);

/* One holder's. */
struct pieces_sum {
	size_t first, n_classes; /* in the list */
	uint64_t n, bytes;
};
struct pieces_sum pieces_of(const struct pieces *p, uint32_t holder);

#endif
