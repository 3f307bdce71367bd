/*
 * The agent's own objects in the heap, which are subtracted from the counts.  They are not tagged:
 * from JDK 21 on a walk takes a third less time if there are no tags, because HotSpot then skips
 * the tag table.
 */
#ifndef JTOOL_AGENT_JVM_HEAP_SELF_OBJECTS_H
#define JTOOL_AGENT_JVM_HEAP_SELF_OBJECTS_H

#include <stdint.h>

#include "jvm/heap/histo.h"
#include "jvm/jvmti.h"

#define AG_SELF_OBJECTS_MAX 48

struct ag_self_objects {
	jobject objects[AG_SELF_OBJECTS_MAX]; /* local references, which retain the objects */
	uint32_t rows[AG_SELF_OBJECTS_MAX];   /* indices of their census rows; set by the walk */
	uint32_t n;
};

/*
 * Adds the agent's thread and the objects that Thread's constructor allocated for this thread
 * alone.
 */
int ag_self_objects_add_thread(struct ag_jvm *jvm, struct ag_self_objects *own);
/* Adds an object, and takes ownership of its local reference. */
int ag_self_objects_add(struct ag_jvm *jvm, struct ag_self_objects *own, jobject object);
/* Removes all but the first n objects and deletes their references. */
void ag_self_objects_forget(struct ag_jvm *jvm, struct ag_self_objects *own, uint32_t n);

/* Subtracts the agent's objects from the rows of their classes. */
int ag_self_objects_subtract(struct ag_jvm *jvm, const struct ag_self_objects *own,
			     struct ag_census *census);

#endif
