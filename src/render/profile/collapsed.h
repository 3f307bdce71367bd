/*
 * Collapsed stacks for flamegraph.pl and similar tools.  A line consists of the frames, a space and
 * the value.  The outermost frame is the first; ';' separates frames.  In a frame's name, ';'
 * becomes ':' and control characters are escaped (base/printable.h).  An empty name becomes "?".
 */
#ifndef JTOOL_RENDER_PROFILE_COLLAPSED_H
#define JTOOL_RENDER_PROFILE_COLLAPSED_H

#include "base/buf.h"
#include "model/profile/call_tree.h"

/*
 * Appends a line for each stack whose value number `value` (from 0) is above 0, in the order of the
 * tree.  Call call_tree_sum() before this function.
 */
void collapsed_add(struct buf *out, const struct call_tree *t, unsigned value);

#endif
