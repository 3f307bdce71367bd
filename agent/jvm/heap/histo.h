/* Counts the objects in the heap by class.  The JVM is paused during the walk only. */
#ifndef JTOOL_AGENT_JVM_HEAP_HISTO_H
#define JTOOL_AGENT_JVM_HEAP_HISTO_H

#include <stdint.h>

#include "jvm/classes.h"
#include "jvm/heap/walk_limit.h"
#include "jvm/jvmti.h"

struct ag_tally {
	uint64_t instances, bytes;
};

struct ag_row {
	jclass class; /* a local reference */
	struct ag_tally tally;
};

struct ag_census {
	struct ag_row *rows; /* classes with instances; ag_alloc() memory */
	uint32_t n;
	uint32_t method;   /* how the objects were counted: WIRE_WALK_* */
	uint64_t walk_ns;  /* duration of all walks */
	/*
	 * For classes that were loaded after the class list was read: the number of these classes
	 * (if objects were counted by klass word), or of their objects (if by tag).
	 */
	uint64_t resolved;
	struct ag_walk_limit limit; /* limit.over: a walk was ended early, and there are no rows */
};

struct ag_histo_opts {
	bool live;             /* run a full collection first */
	bool strict;           /* rely only on what the JVMTI specification guarantees */
	const char *signature; /* count only classes with exactly this signature; NULL: all */
	size_t signature_len;
	struct ag_chan *chan; /* the client's channel; a walk ends when the client disconnects */
	uint32_t pause_ms;    /* maximum pause of a walk */
};

/*
 * Counts the instances of each class, like GC.class_histogram.  Requires can_tag_objects.  Excludes
 * the agent's own objects.  Includes the int[] (from JDK 18 on FillerElement[]) with which HotSpot
 * fills the unused part of each thread's allocation buffer; after a collection there are no such
 * arrays.  JDK 8 hides one internal java.lang.Object from agents (ServiceUtil::visible_oop).
 *
 * Returns 0, or -1.  After 0, census->limit.over is true if a walk reached the maximum pause.
 * After -1, either the channel is broken or the error is recorded.
 */
int ag_histo_count(struct ag_jvm *jvm, const struct ag_histo_opts *opts, struct ag_census *census);

/*
 * Fills the census with a row for each class that has instances.  `tallies` are in the order of the
 * class list.  Returns 0, and then has taken ownership of the list; or -1 with the error recorded.
 */
int ag_census_make(struct ag_jvm *jvm, struct ag_classes *classes, const struct ag_tally *tallies,
		   struct ag_census *census);

void ag_census_release(struct ag_jvm *jvm, struct ag_census *census);

#endif
