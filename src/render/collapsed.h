/*
 * Collapsed stacks, as flamegraph.pl and its likes read them: a line a stack, frames from the
 * outermost on with ';' between them, a blank, the value.  Within names a ';' becomes ':', and what
 * breaks lines is written as base/text.h has it; no name at all is "?".
 */
#ifndef JTOOL_RENDER_COLLAPSED_H
#define JTOOL_RENDER_COLLAPSED_H

#include "base/buf.h"
#include "model/stacktree.h"

/* All stacks with that value above 0, of a tree that was summed; ordered frame by frame. */
void collapsed_add(struct buf *out, const struct stacktree *t, unsigned value);

#endif
