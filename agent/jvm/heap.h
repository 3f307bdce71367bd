/*
 * Counting the heap's objects by class.  The JVM stands still for the walk and for nothing else.
 */
#ifndef JTOOL_AGENT_JVM_HEAP_H
#define JTOOL_AGENT_JVM_HEAP_H

#include <stdint.h>

#include "base/map.h"
#include "jvm/ti.h"

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

/*
 * Count every class's instances; strict: only with what JVMTI's specification promises.  Needs
 * the capability to tag objects.  Objects that the agent itself brought are left out.
 */
int ag_heap_count(struct ag_jvm *jvm, bool strict, struct ag_census *census);

/* Count the instances of the classes with this very signature, one for each loader. */
int ag_heap_count_class(struct ag_jvm *jvm, const char *signature, size_t len,
			struct ag_census *census);

void ag_census_release(struct ag_jvm *jvm, struct ag_census *census);

#endif
