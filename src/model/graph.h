/*
 * The graph of a heap: its objects are the nodes, its references the edges.
 *
 * It is built from a tape (wire/tape.h), whoever wrote it; what a tape says is hostile until it
 * was built into a graph.  Nodes are numbered from 0 in an order that keeps together what was met
 * together.  Everything here is iterative, so that a list of ten million nodes is no problem, and
 * takes at most 60 bytes an object altogether; nothing here knows names.
 */
#ifndef JTOOL_MODEL_GRAPH_H
#define JTOOL_MODEL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "wire/tape.h"

#define GRAPH_NONE UINT32_MAX /* no node, no class */

/* How one object holds another. */
enum graph_via {
	GRAPH_FIELD,    /* index: of the field, as the tape has it */
	GRAPH_STATIC,   /* the same */
	GRAPH_ELEMENT,  /* index: in the array */
	GRAPH_REFERENT, /* index: enum tape_strength; not strong */
	GRAPH_LINK,     /* index: enum tape_link */
	GRAPH_CLASS,    /* any object its class; index 0 */
};

struct graph_edge {
	uint32_t to;
	enum graph_via via;
	uint32_t index;
};

struct graph_root {
	uint32_t node;
	enum tape_root kind;
	uint64_t thread;
	uint32_t depth, method;
};

struct graph;

/* What is not on the tape. */
struct graph_facts {
	uint32_t n_classes;
	uint32_t class_class; /* the number of java.lang.Class */
	/*
	 * For each class, or NULL for none: is it one of a loader that stays for as long as the
	 * JVM does (bootstrap, platform, application)?  Such a class object is a root
	 * (TAPE_ROOT_CLASS): that the application's loader keeps all it has loaded tells nobody
	 * why an object is alive.
	 */
	const bool *lasting;
	uint64_t own_thread; /* the agent's: its stack is no root; 0: there is none */
	/*
	 * The tape is a whole walk's: what it does not tell of is a java.lang.Class, of a primitive
	 * type or of a class that is archived but not loaded.  Else it has no class.
	 */
	bool whole;
};

struct graph_builder;

/*
 * The tape is built into the graph as it comes, and not kept.  What the graph and its making take
 * counts against max_bytes, 0: no limit; graph_find_tree() takes as much again.
 */
struct graph_builder *graph_builder_new(size_t max_bytes);
/* NULL is allowed. */
void graph_builder_free(struct graph_builder *b);
/*
 * The next piece of the tape, whole records.  -EBADMSG: it makes no sense or contradicts itself
 * (an object told of twice, sizes that differ).  -EFBIG: it takes more memory than it may, or has
 * more than 2^31 objects.  Only graph_builder_free() may follow an error.
 */
int graph_builder_take(struct graph_builder *b, const uint8_t *tape, size_t len) _must_check_;
/* So many objects were told of, for who watches. */
uint64_t graph_builder_objects(const struct graph_builder *b);

/*
 * Make the graph, and empty the builder.  NULL with *error: -EBADMSG when the tape contradicts
 * itself or the facts (a class that is none, one with two class objects).
 */
struct graph *graph_build(struct graph_builder *b, const struct graph_facts *facts, int *error);
/* NULL is allowed. */
void graph_free(struct graph *g);

uint32_t graph_n(const struct graph *g);
uint64_t graph_n_edges(const struct graph *g); /* without those to classes */
uint32_t graph_class(const struct graph *g, uint32_t node);
uint64_t graph_size(const struct graph *g, uint32_t node);
int64_t graph_length(const struct graph *g, uint32_t node); /* exactly; -1: no array */
/* The class that a node is the java.lang.Class of; GRAPH_NONE: another object. */
uint32_t graph_stands_for(const struct graph *g, uint32_t node);
/* A class's java.lang.Class; GRAPH_NONE: it was not met. */
uint32_t graph_mirror(const struct graph *g, uint32_t class);
/* The object that is a class's loader; GRAPH_NONE: none, as the bootstrap loader is. */
uint32_t graph_loader(const struct graph *g, uint32_t class);
/* Is it one of those that jtool brought?  They have no edges, and none leads to them. */
bool graph_is_own(const struct graph *g, uint32_t node);
/* The first characters of a String, or what the tape has of an array; NULL: not told. */
const uint8_t *graph_text(const struct graph *g, uint32_t node, enum tape_form *form,
			  uint32_t *len);

/* Those of one node stand together. */
const struct graph_root *graph_roots(const struct graph *g, size_t *n);

/* The edges of a node, in the tape's order, its class last.  Private, all of it. */
struct graph_edges {
	const struct graph *graph;
	uint32_t node;
	uint32_t at;      /* number of the next edge */
	uint32_t element; /* index behind the last element's */
	bool class_told;
};
struct graph_edges graph_edges(const struct graph *g, uint32_t node);
bool graph_next(struct graph_edges *edges, struct graph_edge *edge);

/*
 * Shortest ways from the roots to every node (a breadth-first search from all of them at once).
 * weak: REFERENT edges count like others.
 */
struct graph_ways {
	uint32_t *parent; /* the node before; the node itself: it is a root's; GRAPH_NONE: not
			     reached */
	uint32_t *edge;   /* private: which of its edges */
};
void graph_find_ways(const struct graph *g, bool weak, struct graph_ways *ways);
/*
 * The same to some nodes, for who asks what keeps them: a way may also begin at any class object
 * that is kept by something else than these nodes, unless one of them is its loader.  That a
 * class is there because its loader is has little to do with what its static fields hold.
 */
void graph_find_ways_to(const struct graph *g, bool weak, const uint32_t *nodes, size_t n,
			struct graph_ways *ways);
void graph_ways_release(struct graph_ways *ways);
/* How the node before holds it: the first of its edges that lead there. */
struct graph_edge graph_way_edge(const struct graph *g, const struct graph_ways *ways,
				 uint32_t node);
/*
 * The root that a way begins with; NULL: the node is none's.  A class object that is no root is
 * called one nevertheless, TAPE_ROOT_CLASS: graph_find_ways_to() takes it for one.
 */
const struct graph_root *graph_root_of(const struct graph *g, uint32_t node);

/*
 * Who keeps whom alive.  Node d dominates n when every way from the roots to n leads through d;
 * the nearest such is n's dominator.  A node retains itself and all that it dominates.
 *
 * weak: REFERENT edges count like others.  Else what is reached only through some of them hangs
 * on a root of its own, `held` says by what, so that all that is alive is somewhere in the tree.
 */
struct graph_tree {
	uint32_t n;            /* nodes of the graph */
	uint32_t *dominator;   /* of each node: a node; n: nobody but the roots; GRAPH_NONE: it is
				  not reached */
	uint64_t *retained;    /* bytes of each node; 0: not reached */
	uint64_t total;        /* bytes of all that is reached */
	uint64_t n_reached;
	/* Reached, but only through REFERENTs of this strength, or of it and stronger ones. */
	struct {
		uint64_t n, bytes;
	} held[TAPE_STRENGTHS];
};
void graph_find_tree(const struct graph *g, bool weak, struct graph_tree *tree);
void graph_tree_release(struct graph_tree *tree);

/*
 * Sums over groups of classes: group[class] is below n_groups.  What a group retains is the sum
 * over its nodes without a node of the same group above them in the tree.
 */
struct graph_sum {
	uint64_t instances, shallow, retained;
};
void graph_sum_up(const struct graph *g, const struct graph_tree *tree, const uint32_t *group,
		  uint32_t n_groups, struct graph_sum *sums);
/* What was told of but is not reached, as in a dump with garbage in it; it retains nothing. */
struct graph_sum graph_sum_unreached(const struct graph *g, const struct graph_tree *tree);

#endif
