/*
 * The graph of a heap: nodes are objects, edges are references.
 *
 * The graph is built from a heap stream (wire/heap_stream.h), which is untrusted.  Nodes are
 * numbered from 0, in the order in which the stream first mentions the objects.  No function is
 * recursive, so a list of ten million nodes does not exhaust the stack.  The graph takes at most
 * 60 bytes of memory per object.  The graph contains no names.
 */
#ifndef JTOOL_MODEL_GRAPH_GRAPH_H
#define JTOOL_MODEL_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "wire/heap_stream.h"

#define GRAPH_NONE UINT32_MAX /* "no node" or "no class" */

/* How an object refers to another, and the meaning of graph_edge.index. */
enum graph_via {
	GRAPH_FIELD,    /* index: field number in the heap stream */
	GRAPH_STATIC,   /* index: number of the static field in the heap stream */
	GRAPH_ELEMENT,  /* index: position in the array, from 0 */
	GRAPH_REFERENT, /* a reference that is not strong; index: enum heap_stream_strength */
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

/* Facts that the caller knows and the heap stream does not have. */
struct graph_facts {
	uint32_t n_classes;
	uint32_t class_class; /* class number of java.lang.Class */
	/*
	 * Indexed by class: true if the JVM never unloads the class, because its loader is the
	 * bootstrap, platform or application loader.  NULL means false for all classes.  The
	 * java.lang.Class of a permanent class becomes a root (HEAP_STREAM_ROOT_CLASS), because a
	 * path through the loader of the class explains nothing.
	 */
	const bool *permanent;
	/* id of the agent's thread: roots on its stack are ignored; 0: there is no such thread */
	uint64_t own_thread;
	/*
	 * True if the heap walk was complete.  A complete walk describes all objects except the
	 * class objects of primitive types and of archived classes, so an object without a record
	 * OBJECT or MIRROR is a class object.  If the walk was not complete, the class of an object
	 * without such a record is unknown.
	 */
	bool whole;
};

struct graph_builder;

/*
 * Returns a builder, which builds the graph while the heap stream arrives.  `max_bytes` limits the
 * memory of builder and graph together (0: no limit).  dominators_find() allocates up to
 * `max_bytes` more.
 */
struct graph_builder *graph_builder_new(size_t max_bytes);
void graph_builder_free(struct graph_builder *b); /* NULL is allowed */
/*
 * Adds the next part of the heap stream, which consists of complete records.  Returns 0; or
 * -EBADMSG if a record is invalid or contradicts another record (an object is described twice or
 * has two sizes); or -EFBIG if there are more than 2^31 objects or max_bytes is exceeded.  After an
 * error, only graph_builder_free() may be called.
 */
int graph_builder_take(struct graph_builder *b, const uint8_t *stream, size_t len) _must_check_;
/* Returns the number of objects in the stream so far, for a progress line. */
uint64_t graph_builder_objects(const struct graph_builder *b);

/*
 * Completes and returns the graph, and empties the builder.  Returns NULL with *error = -EBADMSG if
 * a class number is not below n_classes, or a class has two class objects.
 */
struct graph *graph_build(struct graph_builder *b, const struct graph_facts *facts, int *error);
void graph_free(struct graph *g); /* NULL is allowed */

uint32_t graph_n(const struct graph *g);
uint64_t graph_n_edges(const struct graph *g); /* GRAPH_CLASS edges are not counted */
uint32_t graph_class(const struct graph *g, uint32_t node);
uint64_t graph_size(const struct graph *g, uint32_t node);
/* Returns the number of elements of an array; -1 for other nodes. */
int64_t graph_length(const struct graph *g, uint32_t node);
/*
 * Returns the class that the java.lang.Class `node` represents, or GRAPH_NONE for any other object.
 */
uint32_t graph_stands_for(const struct graph *g, uint32_t node);
/* Returns the java.lang.Class of a class, or GRAPH_NONE if it is not in the graph. */
uint32_t graph_mirror(const struct graph *g, uint32_t class);
/* Returns the loader object of a class; GRAPH_NONE: the bootstrap loader, or unknown. */
uint32_t graph_loader(const struct graph *g, uint32_t class);
/* Returns whether jtool's agent created the object.  Such an object has no edges, in or out. */
bool graph_is_own(const struct graph *g, uint32_t node);
/*
 * Returns the first bytes of the text of a String or array, and sets *len to their number.  Returns
 * NULL if the heap stream did not have the text.
 */
const uint8_t *graph_text(const struct graph *g, uint32_t node, enum heap_stream_form *form,
			  uint32_t *len);

/* Returns all roots, sorted by node, and sets *n to their number.  The graph owns the array. */
const struct graph_root *graph_roots(const struct graph *g, size_t *n);

/*
 * Iterates over the edges of a node: first over the edges from the heap stream, in the order of the
 * stream, then over the class edge.  Call graph_next(); do not use the members.
 */
struct graph_edges {
	const struct graph *graph;
	uint32_t node;
	uint32_t at;      /* number of the next edge */
	uint32_t element; /* 1 + index of the previous edge if it is a GRAPH_ELEMENT, else 0 */
	bool class_done;
};
struct graph_edges graph_edges(const struct graph *g, uint32_t node);
bool graph_next(struct graph_edges *edges, struct graph_edge *edge);

/*
 * The shortest path from the roots to each node.  A path from a local variable, a JNI local or a
 * monitor is only given to nodes that no other root reaches.  With `weak`, paths may contain
 * REFERENT edges.
 */
struct graph_bfs {
	/* indexed by node: previous node on the path; for a root: itself; GRAPH_NONE: no path */
	uint32_t *parent;
	uint32_t *edge;   /* indexed by node: the edge from `parent`; read it by graph_bfs_edge() */
};
void graph_bfs(const struct graph *g, bool weak, struct graph_bfs *bfs);
/*
 * Finds paths that explain why the n nodes in `nodes` are reachable.  A path begins at a root or at
 * a class object, because for an object in a static field, the path from a root through the class
 * loader to the class object explains nothing.  Paths begin at a class object only if it is
 * reachable without passing one of `nodes`, and if the loader of the class is not one of `nodes`.
 */
void graph_bfs_to(const struct graph *g, bool weak, const uint32_t *nodes, size_t n,
		  struct graph_bfs *bfs);
void graph_bfs_release(struct graph_bfs *bfs);
/* Returns the last edge of the path to `node`.  `node` must not be the start of a path. */
struct graph_edge graph_bfs_edge(const struct graph *g, const struct graph_bfs *bfs, uint32_t node);
/*
 * Returns the root that refers to `node`; of several roots, the one with the most informative kind.
 * Returns NULL if the node is not a root.  A class object always counts as a root; if no root
 * refers to it, the kind is HEAP_STREAM_ROOT_CLASS.
 */
const struct graph_root *graph_root_of(const struct graph *g, uint32_t node);

/*
 * The dominator tree.  Node d dominates another node n if every path from the roots to n contains
 * d.  The d nearest to n is called n's dominator.  A node retains itself and all nodes that it
 * dominates.
 *
 * The argument `weak` of dominators_find() says whether REFERENT edges count as references.  If
 * not, objects that are reachable only through REFERENTs are separate subtrees below the roots.  In
 * both cases, the tree has all live objects.
 */
struct dominators {
	uint32_t n;            /* number of nodes of the graph */
	/*
	 * indexed by node: the node's dominator; `n` if no other node dominates the node;
	 * GRAPH_NONE if the node is unreachable
	 */
	uint32_t *dominator;
	uint64_t *retained;    /* indexed by node: bytes that the node retains; 0: unreachable */
	uint64_t total;        /* bytes of all reachable nodes */
	uint64_t n_reached;    /* number of reachable nodes */
	/*
	 * Nodes that are reachable only through REFERENTs, indexed by strength (enum
	 * heap_stream_strength).  The strength of a path is that of its weakest REFERENT; the
	 * strongest path to a node counts.
	 */
	struct {
		uint64_t n, bytes;
	} held[HEAP_STREAM_STRENGTHS];
};
void dominators_find(const struct graph *g, bool weak, struct dominators *tree);
void dominators_release(struct dominators *tree);

/*
 * The sums of the instances of a group of classes: their number, the sum of their shallow sizes,
 * and the sum of their retained sizes.  The last sum omits each instance that another instance of
 * the group dominates, because the retained size of the dominating instance includes it.
 */
struct graph_sum {
	uint64_t instances, shallow, retained; /* `shallow` and `retained` are bytes */
};
/* Computes sums[0] to sums[n_groups - 1].  group[c] < n_groups is the group of class c. */
void graph_sum_up(const struct graph *g, const struct dominators *tree, const uint32_t *group,
		  uint32_t n_groups, struct graph_sum *sums);
/*
 * Returns the sums of all unreachable objects in the heap stream, which are the garbage in a dump.
 * The member `retained` of the result is 0.
 */
struct graph_sum graph_sum_unreached(const struct graph *g, const struct dominators *tree);

#endif
