/*
 * Profiles in the format of pprof: a gzip-compressed message Profile of profile.proto
 * (github.com/google/pprof), for `go tool pprof` and for profilers that store profiles.
 */
#ifndef JTOOL_RENDER_PROFILE_PPROF_H
#define JTOOL_RENDER_PROFILE_PPROF_H

#include "base/buf.h"
#include "model/profile/call_tree.h"

#define PPROF_TREES 2

/*
 * The content of a profile.  The trees have the same stacks, added in the same order, and
 * call_tree_sum() was called for them.  Each sample has the values of the first tree, then those of
 * the second.  pprof shows the first value of the last tree by default.
 */
struct pprof_profile {
	const struct call_tree *trees[PPROF_TREES]; /* the second may be NULL */
	int64_t time_ns;     /* time at which the profile is written, in ns since the epoch */
	int64_t duration_ns; /* duration of the recording; 0: unknown */
	/* time between two samples; 0: unknown, or the events are not samples at regular times */
	uint64_t period_ns;
	/*
	 * path and build id of the JVM's libjvm.so, which becomes the mapping of all frames,
	 * because libjvm.so compiles and runs their code; NULL: unknown.  Without a path there is
	 * no mapping.
	 */
	const char *file, *build_id;
};

/*
 * Appends the profile.  The text of a frame becomes a function name and, if the text has them, a
 * file and a line: "a.b.C.m(C.java:12)" has all three, "a.b.C.m:12" has no file.
 */
void pprof_add(struct buf *out, const struct pprof_profile *profile);

#endif
