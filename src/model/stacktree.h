/*
 * Stacks and what came together at each, as a tree from the outermost frame inwards: what
 * collapsed stacks and flame graphs show, of allocations and of traced calls alike.
 */
#ifndef JTOOL_MODEL_STACKTREE_H
#define JTOOL_MODEL_STACKTREE_H

#include <stddef.h>
#include <stdint.h>

#define STACKTREE_VALUES 2

struct stacknode {
	uint32_t name;          /* of the tree's names */
	uint32_t parent;        /* node 0 is the root, of no name */
	uint32_t first, next;   /* children, by name; 0: none */
	uint64_t self[STACKTREE_VALUES];  /* of stacks that end here */
	uint64_t total[STACKTREE_VALUES]; /* and of all below; after stacktree_sum() */
};

struct stacktree {
	struct stacknode *nodes;
	size_t n, cap;
	char **names;
	size_t n_names, names_cap;
	/* what values there are: "bytes", "objects"; NULL: only one */
	const char *units[STACKTREE_VALUES];
	struct stacktree_index *index;
};

void stacktree_init(struct stacktree *t, const char *unit, const char *other_unit);
void stacktree_release(struct stacktree *t);

/*
 * Begin a stack at the outermost frame, go on inwards frame by frame, and say what came there:
 *     node = 0; node = stacktree_child(t, node, "a.b.C.main"); …; stacktree_add(t, node, values);
 * Names are any text, copied.
 */
uint32_t stacktree_child(struct stacktree *t, uint32_t parent, const char *name);
void stacktree_add(struct stacktree *t, uint32_t node, const uint64_t values[STACKTREE_VALUES]);

/* Set the totals; values saturate. */
void stacktree_sum(struct stacktree *t);

#endif
