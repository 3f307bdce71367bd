/*
 * Collapsed stacks for flamegraph.pl and similar tools.  A line has the frames, outermost first and
 * separated by ';', a space, and the value.  In names, ';' becomes ':' and control characters are
 * escaped (base/printable.h); an empty name becomes "?".
 */
#ifndef JTOOL_RENDER_PROFILE_COLLAPSED_H
#define JTOOL_RENDER_PROFILE_COLLAPSED_H

#include "base/buf.h"
#include "model/profile/call_tree.h"

/*
 * Appends the stacks whose value is above 0, in the order of the tree.  Call call_tree_sum()
 * before.
 */
void collapsed_add(struct buf *out, const struct call_tree *t, unsigned value);

#endif
