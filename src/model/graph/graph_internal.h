/*
 * The internals of a graph.  Only graph*.c include this file.
 *
 * The edges of a node are adjacent, in the order of the heap stream.  Class edges are not stored.
 *
 *     first[] by node: the number of its first edge; GRAPH_NONE: no edges
 *     to[]    by edge: the node that the edge leads to; GRAPH_NONE: the edge was removed
 *     tag[]   by edge: the edge's kind and index as a code of graph_codes, and GRAPH_FIRST if the
 *             edge is the first edge of a node.  The index in an element edge is relative to the
 *             index in the previous element edge.
 *     far[]   kinds and indices that have no code, sorted by edge
 */
#ifndef JTOOL_MODEL_GRAPH_GRAPH_INTERNAL_H
#define JTOOL_MODEL_GRAPH_GRAPH_INTERNAL_H

#include "base/mmap_array.h"
#include "model/graph/graph.h"

/* Flags in graph.class[], in addition to the class number. */
#define GRAPH_OWN (1u << 31) /* the object belongs to jtool's agent */
/* the object is a java.lang.Class; the class number is the number of the represented class */
#define GRAPH_MIRROR (1u << 30)
/* the heap stream has an OBJECT or MIRROR record of the object; else the object has no class */
#define GRAPH_DESCRIBED (1u << 29)
#define GRAPH_ROOT (1u << 28)
#define GRAPH_ARRAY (1u << 27)  /* the object has an entry in lengths[] */
#define GRAPH_NUMBER ((1u << 27) - 1) /* mask of the class number; all bits set: no class */

#define GRAPH_FIRST 0x80 /* flag in tag[]: the first edge of a node */
#define GRAPH_CODE 0x7f  /* mask of the code in tag[] */
#define GRAPH_FAR 0x7f   /* the code of an edge with an entry in far[] */
#define GRAPH_REFERENT_CODE 116 /* a REFERENT edge of strength n has the code 116 + n */

/*
 * Of each 64 successive element edges of an array, one has its index in far[].  So computing the
 * index of any element edge reads at most 64 element edges.
 */
#define GRAPH_ELEMENT_RUN 64

/*
 * The meaning of the codes from `first` to `first` + n - 1.  Code `first` + i means an edge of kind
 * `via` whose index is i; but if `via` is GRAPH_ELEMENT, i is the number of array indices between
 * this element edge and the previous element edge of the same array.
 */
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

struct graph_text_entry {
	uint32_t node, len; /* len: in bytes */
	size_t at;          /* byte offset in graph.text */
	enum heap_stream_form form;
};

struct graph {
	uint32_t n, n_edges;
	uint32_t n_held; /* number of edges that were not removed */
	uint32_t *class;
	uint32_t *size;  /* indexed by node: size in words of 8 bytes */
	uint32_t *first;
	uint32_t *to;
	/* n_edges tags, and after them a GRAPH_FIRST, which ends the last node's edges */
	uint8_t *tag;
	struct graph_far *far;
	size_t n_far;
	struct graph_length *lengths; /* lengths of arrays, sorted by node */
	size_t n_lengths;
	uint32_t *mirrors; /* indexed by class: node of the java.lang.Class; or GRAPH_NONE */
	/* indexed by class: the root for a class object that has no entry in `roots` */
	struct graph_root *class_roots;
	uint32_t n_classes, class_class;
	struct graph_root *roots; /* sorted by node */
	size_t n_roots;
	struct graph_text_entry *texts; /* sorted by node */
	size_t n_texts;
	uint8_t *text;
};

/*
 * Returns the strength (enum heap_stream_strength) of a REFERENT edge, from its tag; for other
 * edges, a number of at least HEAP_STREAM_STRENGTHS.
 */
static inline unsigned graph_strength(uint8_t tag)
{
	return (unsigned)((tag & GRAPH_CODE) - GRAPH_REFERENT_CODE);
}

/* Returns the number of the next edge of the same node, or GRAPH_NONE if `at` is the last. */
static inline uint32_t graph_next_edge(const struct graph *g, uint32_t at)
{
	return g->tag[at + 1] & GRAPH_FIRST ? GRAPH_NONE : at + 1;
}

/* Returns the target of a node's class edge, or GRAPH_NONE if the node has no such edge. */
uint32_t graph_class_edge(const struct graph *g, uint32_t node);
/* Returns an edge by its number. */
struct graph_edge graph_edge_at(const struct graph *g, uint32_t at);

#endif
