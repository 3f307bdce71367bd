/* Prints a flame graph as one HTML page.  The page loads no other file, local or remote. */
#ifndef JTOOL_RENDER_PROFILE_FLAMEGRAPH_H
#define JTOOL_RENDER_PROFILE_FLAMEGRAPH_H

#include "base/buf.h"
#include "base/err.h"
#include "model/profile/call_tree.h"

/*
 * Appends the page for a tree.  The caller must have called call_tree_sum() for the tree.  Title
 * and subtitle may be untrusted.  Values in "bytes" are shown as sizes, values in "ns" as times,
 * values in other units as counts.  A node below 1/100,000 of the total is not shown; its value is
 * added to the value of its caller.
 *
 * In a tree of call_tree_diff(), a node has one value from a profile and one from an earlier
 * profile.  The colour of the node shows how much its share of the total differs between the two.
 *
 * Returns -1 with err set if the executable of jtool is damaged.
 */
int flamegraph_add(struct buf *out, const struct call_tree *t, const char *title,
		   const char *subtitle, struct err *err) _must_check_;

#endif
