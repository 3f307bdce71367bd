/*
 * The graph of a heap: nodes are objects, edges are references.
 *
 * It is built from a heap stream (wire/heap_stream.h), which is untrusted.  Node numbers begin at 0
 * and follow the order in which objects were first mentioned.  No function is recursive, so a list
 * of ten million nodes is no problem.  Memory: at most 60 bytes per object in total.  The graph
 * contains no names.
 */
#ifndef JTOOL_MODEL_GRAPH_GRAPH_H
#define JTOOL_MODEL_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "wire/heap_stream.h"

#define GRAPH_NONE UINT32_MAX /* for nodes and classes */

/* How an object refers to another. */
enum graph_via {
	GRAPH_FIELD,    /* index: field number in the heap stream */
	GRAPH_STATIC,   /* index: number of the static field in the heap stream */
	GRAPH_ELEMENT,  /* index: position in the array, from 0 */
	GRAPH_REFERENT, /* index: enum heap_stream_strength; not a strong reference */
	GRAPH_LINK,     /* index: enum heap_stream_link */
	GRAPH_CLASS,    /* from an object to its java.lang.Class; index: 0 */
};

struct graph_edge {
	uint32_t to;
	enum graph_via via;
	uint32_t index;
};

struct graph_root {
	uint32_t node;
	enum heap_stream_root kind;
	uint64_t thread; /* thread, depth, method: as in struct heap_stream_record */
	uint32_t depth, method;
};

struct graph;

/* Facts that are not in the heap stream. */
struct graph_facts {
	uint32_t n_classes;
	uint32_t class_class; /* class number of java.lang.Class */
	/*
	 * By class: whether the JVM never unloads its loader (bootstrap, platform, application).
	 * NULL: false for all.  The java.lang.Class of a permanent class becomes a root
	 * (HEAP_STREAM_ROOT_CLASS), because a path through its loader explains nothing.
	 */
	const bool *permanent;
	uint64_t own_thread; /* id of the agent's thread; roots on its stack are ignored; 0: none */
	/*
	 * true: the walk was complete, so an object without OBJECT or MIRROR is the class object of
	 * a primitive type or an archived class.  false: the class of such an object is unknown.
	 */
	bool whole;
};

struct graph_builder;

/*
 * Returns a builder, which builds the graph while the heap stream arrives.  max_bytes limits the
 * memory of builder and graph together (0: no limit); dominators_find() needs as much again.
 */
struct graph_builder *graph_builder_new(size_t max_bytes);
void graph_builder_free(struct graph_builder *b); /* NULL is allowed */
/*
 * Adds the next complete records.  Returns 0; -EBADMSG if a record is invalid or contradicts
 * another (an object is described twice or has two sizes); -EFBIG if there are more than 2^31
 * objects or max_bytes is exceeded.  After an error, only graph_builder_free() may be called.
 */
int graph_builder_take(struct graph_builder *b, const uint8_t *stream, size_t len) _must_check_;
/* Returns the number of objects so far, to show progress. */
uint64_t graph_builder_objects(const struct graph_builder *b);

/*
 * Completes and returns the graph, and empties the builder.  Returns NULL with *error = -EBADMSG if
 * a class number is not below n_classes, or a class has two class objects.
 */
struct graph *graph_build(struct graph_builder *b, const struct graph_facts *facts, int *error);
void graph_free(struct graph *g); /* NULL is allowed */

uint32_t graph_n(const struct graph *g);
uint64_t graph_n_edges(const struct graph *g); /* without GRAPH_CLASS edges */
uint32_t graph_class(const struct graph *g, uint32_t node);
uint64_t graph_size(const struct graph *g, uint32_t node);
int64_t graph_length(const struct graph *g, uint32_t node); /* elements; -1: not an array */
/* Returns the class that a java.lang.Class represents, or GRAPH_NONE for any other object. */
uint32_t graph_stands_for(const struct graph *g, uint32_t node);
/* Returns the java.lang.Class of a class, or GRAPH_NONE if it is not in the graph. */
uint32_t graph_mirror(const struct graph *g, uint32_t class);
/* Returns the loader object of a class; GRAPH_NONE: the bootstrap loader, or unknown. */
uint32_t graph_loader(const struct graph *g, uint32_t class);
/* Returns whether the object belongs to jtool.  Such objects have no edges in or out. */
bool graph_is_own(const struct graph *g, uint32_t node);
/* Returns the start of a String's or array's text: *len bytes.  NULL: not in the stream. */
const uint8_t *graph_text(const struct graph *g, uint32_t node, enum heap_stream_form *form,
			  uint32_t *len);

/* Returns all roots, sorted by node. */
const struct graph_root *graph_roots(const struct graph *g, size_t *n);

/* An iterator over the edges of a node: in heap stream order, then the class.  Private members. */
struct graph_edges {
	const struct graph *graph;
	uint32_t node;
	uint32_t at;      /* number of the next edge */
	uint32_t element; /* 1 + index of the previous element; 0: none */
	bool class_done;
};
struct graph_edges graph_edges(const struct graph *g, uint32_t node);
bool graph_next(struct graph_edges *edges, struct graph_edge *edge);

/* The shortest path from the roots to each node.  If `weak`, paths may contain REFERENTs. */
struct graph_bfs {
	uint32_t *parent; /* previous node by node; for a root, itself; GRAPH_NONE: unreachable */
	uint32_t *edge;   /* by node, private: the edge from `parent` */
};
void graph_bfs(const struct graph *g, bool weak, struct graph_bfs *bfs);
/*
 * Finds paths that explain why `nodes` are alive.  The path to a class, through its loader, does
 * not explain the values of its static fields, so a path may also begin at a class object if that
 * is reachable without passing `nodes` and the loader of the class is not one of `nodes`.
 */
void graph_bfs_to(const struct graph *g, bool weak, const uint32_t *nodes, size_t n,
		  struct graph_bfs *bfs);
void graph_bfs_release(struct graph_bfs *bfs);
/* Returns the last edge of the path to `node`.  `node` must not be the start of a path. */
struct graph_edge graph_bfs_edge(const struct graph *g, const struct graph_bfs *bfs, uint32_t node);
/* Returns the most informative root of a node, or NULL.  For a class object, it is never NULL. */
const struct graph_root *graph_root_of(const struct graph *g, uint32_t node);

/*
 * The dominator tree.  Node d dominates n if every path from the roots to n contains d; the nearest
 * such d is n's dominator.  A node retains itself and all nodes that it dominates.
 *
 * weak: follow REFERENT edges, too.  If it is false, objects that are reachable only through
 * REFERENTs form separate subtrees below the roots.  The tree has all live objects in both cases.
 */
struct dominators {
	uint32_t n;            /* number of nodes of the graph */
	uint32_t *dominator;   /* by node; n: only the roots dominate it; GRAPH_NONE: unreachable */
	uint64_t *retained;    /* bytes by node; 0: unreachable */
	uint64_t total;        /* bytes of all reachable nodes */
	uint64_t n_reached;    /* number of reachable nodes */
	/* Nodes reachable only through REFERENTs, by the weakest strength of their best path. */
	struct {
		uint64_t n, bytes;
	} held[HEAP_STREAM_STRENGTHS];
};
void dominators_find(const struct graph *g, bool weak, struct dominators *tree);
void dominators_release(struct dominators *tree);

/*
 * The sums of a group of classes.  Class c belongs to group[c], which is below n_groups.
 * `retained` counts only nodes that are not dominated by another node of the group.
 */
struct graph_sum {
	uint64_t instances, shallow, retained; /* shallow, retained: bytes */
};
void graph_sum_up(const struct graph *g, const struct dominators *tree, const uint32_t *group,
		  uint32_t n_groups, struct graph_sum *sums);
/* Returns the sums of described but unreachable objects (garbage in a dump); `retained` is 0. */
struct graph_sum graph_sum_unreached(const struct graph *g, const struct dominators *tree);

#endif
