/*
 * The agent's own objects in the heap, which are subtracted from the counts.  These objects are not
 * tagged: from JDK 21 on, a walk takes a third less time if no object has a tag, because HotSpot
 * then does not search the tag table.
 */
#ifndef JTOOL_AGENT_JVM_HEAP_SELF_OBJECTS_H
#define JTOOL_AGENT_JVM_HEAP_SELF_OBJECTS_H

#include <stdint.h>

#include "jvm/heap/histo.h"
#include "jvm/jvmti.h"

#define AG_SELF_OBJECTS_MAX 48

struct ag_self_objects {
	jobject objects[AG_SELF_OBJECTS_MAX]; /* local references, which retain the objects */
	/* rows[i]: index of the census row of objects[i]; set by the walk */
	uint32_t rows[AG_SELF_OBJECTS_MAX];
	uint32_t n;
};

/*
 * Adds the java.lang.Thread of the agent, which is the current thread, and the objects that the
 * constructor of Thread allocated for this thread alone.
 */
int ag_self_objects_add_thread(struct ag_jvm *jvm, struct ag_self_objects *own);
/* Adds an object, and takes ownership of its local reference. */
int ag_self_objects_add(struct ag_jvm *jvm, struct ag_self_objects *own, jobject object);
/* Removes the objects from index `n` on, and deletes the references to them. */
void ag_self_objects_forget(struct ag_jvm *jvm, struct ag_self_objects *own, uint32_t n);

/* Subtracts the agent's objects from the counts and bytes in the census rows of their classes. */
int ag_self_objects_subtract(struct ag_jvm *jvm, const struct ag_self_objects *own,
			     struct ag_census *census);

#endif
