/*
 * Depth-first search of all live objects, for dominators.c only.  Each node gets a depth-first
 * number, from 1 on, in the order of the visits.  Number 0 is a super-root above all roots.
 */
#ifndef JTOOL_MODEL_GRAPH_GRAPH_DFS_H
#define JTOOL_MODEL_GRAPH_GRAPH_DFS_H

#include "model/graph/graph_internal.h"

struct graph_dfs {
	const struct graph *graph;
	bool weak;         /* the search follows REFERENT edges as it follows strong references */
	uint32_t n;        /* the highest depth-first number given so far */
	/* Arrays indexed by depth-first number: */
	uint32_t *node;    /* the node with this number */
	uint32_t *parent;  /* number of the node's parent in the search tree */
	uint32_t *edge;    /* the next edge to follow; after the search, free for other data */
	uint64_t *rooted;  /* one bit per number: the super-root has an edge to the node */
	/* Arrays indexed by node, edge or class: */
	struct graph_dfs_state {
		uint32_t number; /* depth-first number; 0: not visited */
		/*
		 * number of edges to the node, without the edges in tree_edges and those that do
		 * not count (see `least`); start_ranges() in dominators.c replaces the number by an
		 * index in semi_nca.others
		 */
		uint32_t others;
	} *state;
	/* one bit per edge: the edge is in the search tree; class edges have no bit */
	uint64_t *tree_edges;
	/*
	 * indexed by class: the node to which the class edge of each instance leads; GRAPH_NONE:
	 * the search does not follow the class edges of this class's instances
	 */
	uint32_t *class_to;
	/* REFERENT edges that the search has met; with `weak`, none */
	struct graph_referent {
		uint32_t to, strength;
	} *referents;
	size_t n_referents, cap_referents;
	/*
	 * The numbers below[s] to below[s + 1] - 1 belong to the nodes that are reachable through
	 * REFERENT edges of strength s, but not through stronger references alone.
	 */
	uint32_t below[HEAP_STREAM_STRENGTHS + 1];
	/*
	 * An edge to a node with a number below `least` does not count.  `least` is 0 while the
	 * search follows strong references only, and below[s] while it starts from REFERENT edges
	 * of strength s.  For example, an object that is reachable only by a soft reference does
	 * not retain an object that is reachable without that reference.
	 */
	uint32_t least;
};

void graph_dfs_run(struct graph_dfs *dfs);
void graph_dfs_release(struct graph_dfs *dfs);

static inline bool graph_bit(const uint64_t *bits, uint32_t at)
{
	return bits[at / 64] >> (at % 64) & 1;
}

static inline void graph_set_bit(uint64_t *bits, uint32_t at)
{
	bits[at / 64] |= UINT64_C(1) << (at % 64);
}

static inline uint32_t graph_class_to(const struct graph_dfs *dfs, uint32_t node)
{
	uint32_t class = graph_class(dfs->graph, node);

	return class == GRAPH_NONE ? GRAPH_NONE : dfs->class_to[class];
}

#endif
