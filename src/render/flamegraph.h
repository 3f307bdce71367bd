/*
 * A flame graph as one HTML page that needs nothing else: no network, no other file.
 */
#ifndef JTOOL_RENDER_FLAMEGRAPH_H
#define JTOOL_RENDER_FLAMEGRAPH_H

#include "base/buf.h"
#include "model/stacktree.h"

/*
 * The page for a tree that was summed.  title and subtitle are any text.  Stacks too small to be
 * ever seen (below a hundred-thousandth of all) are added to their callers.
 */
void flamegraph_add(struct buf *out, const struct stacktree *t, const char *title,
		    const char *subtitle);

#endif
