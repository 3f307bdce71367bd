/*
 * The methods of a call tree.  A method's `self` is the sum of the values of all stacks that end in
 * the method.  A method's `total` is the sum of the values of all stacks that contain the method.
 */
#ifndef JTOOL_MODEL_PROFILE_HOT_METHODS_H
#define JTOOL_MODEL_PROFILE_HOT_METHODS_H

#include "model/profile/call_tree.h"

struct hot_method {
	uint32_t name;   /* index into names: "a.b.C.m" */
	uint32_t thread; /* index into names; 0: all threads */
	uint64_t self[CALL_TREE_VALUES];  /* sums for the stacks that end in the method */
	/* sums for the stacks that contain the method; a recursive stack counts only once */
	uint64_t total[CALL_TREE_VALUES];
};

struct hot_methods {
	struct hot_method *list; /* in descending order of `self`, then total[0] */
	size_t n, cap;
	struct intern names; /* number 0 is "" */
};

/*
 * Fills *h with the methods of a tree that call_tree_sum() has summed.  Frames that differ only in
 * their line are one method.  If t->ends_in_classes is set, the innermost name of a stack is a
 * class and not a frame; the values of the stack then count for the innermost method.  If
 * `by_thread` is true, the outermost name of a stack is the stack's thread.  Other names that begin
 * with '(' or '[' are not methods.
 */
void hot_methods_find(struct hot_methods *h, const struct call_tree *t, bool by_thread);
void hot_methods_release(struct hot_methods *h);

const char *hot_methods_name(const struct hot_methods *h, uint32_t name);

#endif
