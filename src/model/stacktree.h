/*
 * Stacks and what came together at each, as a tree from the outermost frame inwards: what
 * collapsed stacks and flame graphs show, of allocations and of traced calls alike.
 */
#ifndef JTOOL_MODEL_STACKTREE_H
#define JTOOL_MODEL_STACKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "model/idmap.h"

#define STACKTREE_VALUES 2
/* Far beyond any program: what a hostile target can make us keep. */
#ifndef STACKTREE_NODES_MAX
#define STACKTREE_NODES_MAX (1u << 22)
#endif

struct stacknode {
	uint32_t name;          /* of the tree's names */
	uint32_t parent;        /* always before its children; node 0 is the root, of no name */
	uint32_t first, next;   /* children, by name; 0: none; after stacktree_sum() */
	uint64_t self[STACKTREE_VALUES];  /* of stacks that end here */
	uint64_t total[STACKTREE_VALUES]; /* and of all below; after stacktree_sum() */
};

struct stacktree {
	struct stacknode *nodes;
	size_t n, cap;
	struct intern names;  /* of texts */
	struct idmap children;
	/* what values there are: "bytes", "objects"; NULL: only one */
	const char *units[STACKTREE_VALUES];
	/* the caller's to set: what stands innermost is no frame, but the class of what was made */
	bool ends_in_classes;
	bool full;            /* there was no room for a node: its stacks end at their callers */
};

/* Texts of units stay the caller's. */
void stacktree_init(struct stacktree *t, const char *unit, const char *other_unit);
void stacktree_release(struct stacktree *t);

/*
 * Begin a stack at the outermost frame, go on inwards frame by frame, and say what came there:
 *     node = stacktree_begin(t, n, most); node = stacktree_child(t, node, "a.b.C.main"); …;
 *     stacktree_add(t, node, values);
 * Names are any text, copied.
 */

/*
 * Node 0.  Of a stack of as many frames as are told at most the outer ones may be missing: its
 * first one is none that the others begin with, and those stand by themselves, below a name that
 * says so.
 */
uint32_t stacktree_begin(struct stacktree *t, uint32_t n_frames, uint32_t most);
uint32_t stacktree_child(struct stacktree *t, uint32_t parent, const char *name);
void stacktree_add(struct stacktree *t, uint32_t node, const uint64_t values[STACKTREE_VALUES]);

/* Set the totals and the order of the children; values saturate. */
void stacktree_sum(struct stacktree *t);

/*
 * Walk a tree that was summed, callers before what they called, from node 0: the node behind
 * this one, its children first or without them; 0: that was the last one.  *up is how many frames
 * are left for it: none for a child, one for a brother.
 */
uint32_t stacktree_next(const struct stacktree *t, uint32_t node, bool children, size_t *up);

/* Good until the next name comes. */
const char *stacktree_name(const struct stacktree *t, uint32_t node);

#endif
