/*
 * A depth-first search of all that is alive, for graph_tree.c only.  Nodes are numbered from 1 in
 * the order in which they are reached; 0 is a root above all roots.
 */
#ifndef JTOOL_MODEL_GRAPH_DFS_H
#define JTOOL_MODEL_GRAPH_DFS_H

#include "model/graph_in.h"

struct graph_dfs {
	const struct graph *graph;
	bool weak;         /* REFERENT edges count like others */
	uint32_t n;        /* highest number */
	/* By number. */
	uint32_t *node;
	uint32_t *parent;
	uint32_t *edge;    /* the next to go along; when all is done it is the caller's */
	uint64_t *rooted;  /* bits: it hangs on the root above all roots */
	/* By node. */
	struct graph_place {
		uint32_t number; /* 0: not reached */
		uint32_t others; /* references to it besides its parent's, class edges too */
	} *place;
	uint64_t *along;   /* bits by edge: the search went along it */
	uint32_t *class_to; /* by class: where class edges lead; GRAPH_NONE: nowhere or to a root */
	/* REFERENTs that were met and not gone along. */
	struct graph_referent {
		uint32_t to, strength;
	} *referents;
	size_t n_referents, cap_referents;
	uint32_t below[TAPE_STRENGTHS + 1]; /* numbers that are reached so strongly: below this */
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
