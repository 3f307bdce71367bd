/*
 * A tree of call stacks and their values, outermost frame first: for collapsed stacks and flame
 * graphs.
 */
#ifndef JTOOL_MODEL_PROFILE_CALL_TREE_H
#define JTOOL_MODEL_PROFILE_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/id_map.h"

#define CALL_TREE_VALUES 2
/* Limits what a hostile target can make jtool store. */
#ifndef CALL_TREE_NODES_MAX
#define CALL_TREE_NODES_MAX (1u << 22)
#endif

struct call_node {
	uint32_t name;          /* index into names */
	uint32_t parent;        /* lower than the node's own number; node 0 is the unnamed root */
	uint32_t first, next;   /* `first` child, `next` sibling; 0: none; from call_tree_sum() */
	uint64_t self[CALL_TREE_VALUES];  /* of stacks that end here */
	uint64_t total[CALL_TREE_VALUES]; /* with all descendants; set by call_tree_sum() */
};

struct call_tree {
	struct call_node *nodes;
	size_t n, cap;
	struct intern names;  /* frame texts */
	struct id_map children;
	/* units of the values: "bytes", "objects"; NULL: only one value */
	const char *units[CALL_TREE_VALUES];
	/* set by the caller: the innermost names are allocated classes, not frames */
	bool ends_in_classes;
	bool full;            /* the node limit was reached; stacks end at a caller */
};

/* The unit texts must outlive the tree.  other_unit: NULL if there is only one value. */
void call_tree_init(struct call_tree *t, const char *unit, const char *other_unit);
void call_tree_release(struct call_tree *t);

/*
 * To add a stack, outermost frame first (names are copied):
 *
 *     node = call_tree_begin(t, n, max_frames); node = call_tree_child(t, node, "a.b.C.main"); …;
 *     call_tree_add(t, node, values);
 */

/*
 * Returns the root, or, if the stack has max_frames frames and may be truncated, a child of the
 * root that says so.
 */
uint32_t call_tree_begin(struct call_tree *t, uint32_t n_frames, uint32_t max_frames);
uint32_t call_tree_child(struct call_tree *t, uint32_t parent, const char *name);
void call_tree_add(struct call_tree *t, uint32_t node, const uint64_t values[CALL_TREE_VALUES]);

/* Computes totals and sorts children by name; values saturate. */
void call_tree_sum(struct call_tree *t);

/*
 * Walks a summed tree in preorder, from node 0.  Returns the node after this one, or 0 at the end;
 * if `children` is false, skips the children of this one.  *up is the number of frames to leave: 0
 * for a child, 1 for a sibling.
 */
uint32_t call_tree_next(const struct call_tree *t, uint32_t node, bool children, size_t *up);

/* Returns the name of a node, valid until the next name is added. */
const char *call_tree_name(const struct call_tree *t, uint32_t node);

#endif
