/* The methods of a call tree: how much each of them used itself, and with what it called. */
#ifndef JTOOL_MODEL_PROFILE_HOT_METHODS_H
#define JTOOL_MODEL_PROFILE_HOT_METHODS_H

#include "model/profile/call_tree.h"

struct hot_method {
	uint32_t name;   /* index into names: "a.b.C.m" */
	uint32_t thread; /* index into names; 0: all threads */
	uint64_t self[CALL_TREE_VALUES];  /* of stacks that end in the method */
	uint64_t total[CALL_TREE_VALUES]; /* of stacks that contain it, once even if it recurs */
};

struct hot_methods {
	struct hot_method *list; /* the greatest first value of self first, then total */
	size_t n, cap;
	struct intern names; /* 0: "" */
};

/*
 * Adds up a summed tree.  Frames that differ only in their line are one method.  If the tree ends
 * in classes, they count for the method above them.  With `by_thread`, the first frame of a stack
 * is its thread.  Other frames that begin with '(' or '[' are not methods.
 */
void hot_methods_find(struct hot_methods *h, const struct call_tree *t, bool by_thread);
void hot_methods_release(struct hot_methods *h);

const char *hot_methods_name(const struct hot_methods *h, uint32_t name);

#endif
