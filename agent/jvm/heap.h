/*
 * Counting the heap's objects by class.  The JVM stands still for the walk and for nothing else.
 */
#ifndef JTOOL_AGENT_JVM_HEAP_H
#define JTOOL_AGENT_JVM_HEAP_H

#include <stdint.h>

#include "jvm/ti.h"

struct ag_tally {
	uint64_t instances, bytes;
};

struct ag_row {
	jclass class; /* a local reference */
	struct ag_tally tally;
};

struct ag_census {
	struct ag_row *rows; /* classes with instances, ag_alloc's */
	uint32_t n;
	uint32_t method;   /* WIRE_WALK_* */
	uint64_t walk_ns;  /* all walks together */
	uint64_t resolved; /* classes or objects that only turned up in the walk */
};

struct ag_heap_opts {
	bool live;             /* a full collection first */
	bool strict;           /* only with what JVMTI's specification promises */
	const char *signature; /* not NULL: only the classes with this very signature */
	size_t signature_len;
};

/*
 * Count instances, as GC.class_histogram does.  Needs the capability to tag objects.  What the
 * agent itself brought is left out, except that the JVM fills the unused rest of every thread's
 * allocation buffer with an int[] (from JDK 18 a FillerElement[]), which counts; after a
 * collection there is none.  JDK 8 does not show one java.lang.Object of its own to agents
 * (ServiceUtil::visible_oop).
 */
int ag_heap_count(struct ag_jvm *jvm, const struct ag_heap_opts *opts,
		  struct ag_census *census);

void ag_census_release(struct ag_jvm *jvm, struct ag_census *census);

#endif
