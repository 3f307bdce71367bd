/*
 * Profiles in the format of pprof: a gzip-compressed message Profile of profile.proto
 * (github.com/google/pprof), for `go tool pprof` and for profilers that store profiles.
 */
#ifndef JTOOL_RENDER_PROFILE_PPROF_H
#define JTOOL_RENDER_PROFILE_PPROF_H

#include "base/buf.h"
#include "model/profile/call_tree.h"

/*
 * Appends the profile of a tree, for which call_tree_sum() was called, with both values of each
 * stack.  A frame such as "a.b.C.m(C.java:12)" becomes a function with a file and a line,
 * "a.b.C.m:12" a function with a line, and any other name only a function.
 */
void pprof_add(struct buf *out, const struct call_tree *t, int64_t time_ns);

#endif
