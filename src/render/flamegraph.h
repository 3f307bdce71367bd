/*
 * A flame graph as one HTML page that needs nothing else: no network, no other file.
 */
#ifndef JTOOL_RENDER_FLAMEGRAPH_H
#define JTOOL_RENDER_FLAMEGRAPH_H

#include "base/buf.h"
#include "model/stacktree.h"

/*
 * The page for a tree that was summed.  title and subtitle are any text.  Of the units it knows
 * "bytes" and "ns", and shows them as sizes and times; others are counts.  What is too small to be
 * ever seen (below a hundred-thousandth of all) is added to its callers.
 */
void flamegraph_add(struct buf *out, const struct stacktree *t, const char *title,
		    const char *subtitle);

#endif
