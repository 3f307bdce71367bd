/*
 * A tree of call stacks, with values such as bytes or samples.  jtool prints collapsed stacks and
 * flame graphs from it.  The children of the root are the outermost frames.
 */
#ifndef JTOOL_MODEL_PROFILE_CALL_TREE_H
#define JTOOL_MODEL_PROFILE_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/id_map.h"

#define CALL_TREE_VALUES 2
/* Limit for the number of nodes, because a hostile target can make jtool store many. */
#ifndef CALL_TREE_NODES_MAX
#define CALL_TREE_NODES_MAX (1u << 22)
#endif

struct call_node {
	uint32_t name;          /* number of the frame's name in call_tree.names */
	/* number of the parent, which is lower than the node's own; node 0 is the unnamed root */
	uint32_t parent;
	/* number of the first child and of the next sibling; 0: none.  Set by call_tree_sum() */
	uint32_t first, next;
	uint64_t self[CALL_TREE_VALUES];  /* values of the stacks that end at this node */
	/* self, plus the total of all children; set by call_tree_sum() */
	uint64_t total[CALL_TREE_VALUES];
};

struct call_tree {
	struct call_node *nodes;
	size_t n, cap;
	struct intern names;  /* frame texts */
	struct id_map children;
	/*
	 * Units of the values, such as "bytes" and "objects"; the second unit is NULL if a node
	 * has only one value.
	 */
	const char *units[CALL_TREE_VALUES];
	/* Set by the caller: text before the units in pprof, such as "inuse_"; NULL: none. */
	const char *prefix;
	/* Set by the caller: the innermost name of a stack is an allocated class, not a frame. */
	bool ends_in_classes;
	bool is_diff; /* the second value is from an earlier profile, see call_tree_diff() */
	bool full; /* the limit CALL_TREE_NODES_MAX was reached, so some stacks lack inner frames */
};

/*
 * Initialises an empty tree.  The texts of the units must outlive the tree.  `other_unit` is NULL
 * if a node has only one value.
 */
void call_tree_init(struct call_tree *t, const char *unit, const char *other_unit);
void call_tree_release(struct call_tree *t);

/*
 * To add a stack, begin with the outermost frame; names are copied:
 *
 *     node = call_tree_begin(t, n, max_frames); node = call_tree_child(t, node, "a.b.C.main"); …;
 *     call_tree_add(t, node, values);
 */

/*
 * Begins a stack.  Returns the node that is the parent of the stack's outermost frame: the root;
 * or, if the stack has max_frames frames and may therefore be truncated, a child of the root whose
 * name says that outer frames are missing.
 */
uint32_t call_tree_begin(struct call_tree *t, uint32_t n_frames, uint32_t max_frames);
/*
 * Returns a child of `parent` whose name says that outer frames of a stack of n_frames are missing.
 */
uint32_t call_tree_cut(struct call_tree *t, uint32_t parent, uint32_t n_frames);
uint32_t call_tree_child(struct call_tree *t, uint32_t parent, const char *name);
void call_tree_add(struct call_tree *t, uint32_t node, const uint64_t values[CALL_TREE_VALUES]);

/* Adds values to a sum.  If a sum overflows, it becomes UINT64_MAX. */
void call_tree_add_values(uint64_t sum[CALL_TREE_VALUES], const uint64_t values[CALL_TREE_VALUES]);
/* Computes the totals, and sorts children by name.  If a total overflows, it becomes UINT64_MAX. */
void call_tree_sum(struct call_tree *t);

/* Returns the length of a frame's text without the line number: 7 for "a.b.C.m:12". */
size_t call_tree_name_len(const char *frame);
/*
 * Returns the text of a node: a frame's text without the line number, or the name of an allocated
 * class.  Call it after call_tree_sum().  The caller frees the text.
 */
char *call_tree_method(const struct call_tree *t, uint32_t node);
/*
 * Initialises *out with a copy of `t` in which the frames have no line numbers.  Call it after
 * call_tree_sum(t).  The totals of *out are computed.
 */
void call_tree_drop_lines(const struct call_tree *t, struct call_tree *out);

/*
 * Walks a tree in preorder, beginning with node 0.  Call it after call_tree_sum().  Returns the
 * node after `node`, or 0 at the end.  If `children` is false, skips the children of `node`.  Sets
 * *up to the number of levels from `node` up to the parent of the returned node: 0 if the returned
 * node is a child of `node`, 1 if it is a sibling.
 */
uint32_t call_tree_next(const struct call_tree *t, uint32_t node, bool children, size_t *up);

/* Returns the name of a node, valid until the next name is added. */
const char *call_tree_name(const struct call_tree *t, uint32_t node);

#endif
