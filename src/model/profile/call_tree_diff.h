/* Merges two call trees into one tree with two values, to compare them. */
#ifndef JTOOL_MODEL_PROFILE_CALL_TREE_DIFF_H
#define JTOOL_MODEL_PROFILE_CALL_TREE_DIFF_H

#include "base/util.h"
#include "model/profile/call_tree.h"

/*
 * Initialises *out with the stacks of both trees, and calls call_tree_sum() for *out.  A node of
 * *out has two values: the first is the node's first value in `now`, the second is the node's first
 * value in `before`.  A frame in *out is a method without a line number.  The name of a hidden
 * class in *out has no number, because this number differs between two runs.
 */
void call_tree_diff(const struct call_tree *now, const struct call_tree *before,
		    struct call_tree *out);

/*
 * Adds collapsed stacks, lines such as "a.b.C.main;a.b.C.m 12", to a tree.  Returns 0, or the
 * number of the first line that has another form.
 */
size_t call_tree_add_collapsed(struct call_tree *t, const char *text, size_t len) _must_check_;

#endif
