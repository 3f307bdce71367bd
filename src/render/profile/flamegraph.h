/* Prints a flame graph as one HTML page, which loads nothing from the network and no other file. */
#ifndef JTOOL_RENDER_PROFILE_FLAMEGRAPH_H
#define JTOOL_RENDER_PROFILE_FLAMEGRAPH_H

#include "base/buf.h"
#include "model/profile/call_tree.h"

/*
 * Appends the page for a tree, for which call_tree_sum() was called.  Title and subtitle are
 * untrusted.  Values in "bytes" and "ns" are shown as sizes and times, values in other units as
 * counts.  Nodes below 1/100,000 of the total are merged into their callers.  A tree of
 * call_tree_diff() is coloured by the difference of the shares of its two values.
 */
void flamegraph_add(struct buf *out, const struct call_tree *t, const char *title,
		    const char *subtitle);

#endif
