/*
 * The inside of a graph, for graph*.c only.
 *
 * Edges of one node stand together, in the tape's order, a number and a byte each:
 *
 *     to[]    the node that is referred to; GRAPH_NONE: it was struck out
 *     tag[]   GRAPH_FIRST: the node's first edge; and how it holds, as graph_codes has it.  An
 *             element's index is told as the distance from the one before.
 *     far[]   how those hold that fit in no byte, by the number of the edge
 *
 * first[] is the number of a node's first edge.  A class edge is not told: the class says it.
 */
#ifndef JTOOL_MODEL_GRAPH_IN_H
#define JTOOL_MODEL_GRAPH_IN_H

#include "base/bigarray.h"
#include "model/graph.h"

/* A node's class, and what else it is. */
#define GRAPH_OWN (1u << 31)
#define GRAPH_MIRROR (1u << 30) /* a java.lang.Class; its number is the class it stands for */
#define GRAPH_TOLD (1u << 29)   /* the tape told of it; what only is referred to has no class */
#define GRAPH_ROOT (1u << 28)
#define GRAPH_ARRAY (1u << 27)  /* with a length */
#define GRAPH_NUMBER ((1u << 27) - 1) /* of the class; all bits set: none */

#define GRAPH_FIRST 0x80
#define GRAPH_CODE 0x7f
#define GRAPH_FAR 0x7f
#define GRAPH_REFERENT_CODE 116 /* and the strength */

/* Every that many elements an index is told whole, so that none is far to reckon. */
#define GRAPH_ELEMENT_RUN 64

/* What the codes of a tag mean: from `first` on, indices (an element's distance) below n. */
struct graph_code {
	uint8_t via, first, n;
};
#define GRAPH_CODES 5
extern const struct graph_code graph_codes[GRAPH_CODES];

struct graph_far {
	uint32_t edge, index;
	uint8_t via;
};

struct graph_length {
	uint32_t node, length;
};

struct graph_told_text {
	uint32_t node, len;
	size_t at;
	enum tape_form form;
};

struct graph {
	uint32_t n, n_edges;
	uint32_t n_held; /* edges that are not struck out */
	uint32_t *class;
	uint32_t *size;  /* words of 8 bytes */
	uint32_t *first;
	uint32_t *to;
	uint8_t *tag;    /* behind the last one's is GRAPH_FIRST */
	struct graph_far *far;
	size_t n_far;
	struct graph_length *lengths; /* of the arrays, by node */
	size_t n_lengths;
	uint32_t *mirrors; /* by class */
	struct graph_root *class_roots; /* the same as roots */
	uint32_t n_classes, class_class;
	struct graph_root *roots; /* by node */
	size_t n_roots;
	struct graph_told_text *texts; /* by node */
	size_t n_texts;
	uint8_t *text;
};

/* The strength of a REFERENT edge, or TAPE_STRENGTHS and more for others. */
static inline unsigned graph_strength(uint8_t tag)
{
	return (unsigned)((tag & GRAPH_CODE) - GRAPH_REFERENT_CODE);
}

/* The next of the same node's; GRAPH_NONE: it was the last. */
static inline uint32_t graph_edge_behind(const struct graph *g, uint32_t at)
{
	return g->tag[at + 1] & GRAPH_FIRST ? GRAPH_NONE : at + 1;
}

/* Where a node's class edge leads; GRAPH_NONE: it has none. */
uint32_t graph_class_edge(const struct graph *g, uint32_t node);
/* How an edge holds, by its number. */
struct graph_edge graph_edge_at(const struct graph *g, uint32_t at);

#endif
