/*
 * Private to the heap walks: the ways to count, and what they share.
 */
#ifndef JTOOL_AGENT_JVM_WALK_H
#define JTOOL_AGENT_JVM_WALK_H

#include "jvm/calib.h"
#include "jvm/classes.h"
#include "jvm/heap.h"

enum ag_outcome {
	AG_FAILED = -1,
	AG_COUNTED,
	AG_NOT_WHOLE,    /* too much was new: try again with a new list of classes */
	AG_NOT_POSSIBLE, /* not in this way */
};

/*
 * Fill the census with a row for each class, empty ones too, and say where our own objects are.
 * Both take the list over when they return AG_COUNTED.
 */
enum ag_outcome ag_count_by_klass(struct ag_jvm *jvm, const struct ag_calib *calib,
				  struct ag_classes *classes, struct ag_own *own,
				  struct ag_census *census);
enum ag_outcome ag_count_by_tag(struct ag_jvm *jvm, struct ag_classes *classes,
				struct ag_own *own, struct ag_census *census);

/* Walk the whole heap, and time it. */
int ag_walk(struct ag_jvm *jvm, struct ag_census *census, jvmtiHeapObjectCallback callback,
	    const void *user);

static inline void ag_tally_add(struct ag_tally *t, jlong size)
{
	t->instances++;
	t->bytes += (uint64_t)size;
}

/*
 * A row for each class of the list, which it takes over, with its tally if there are any, and
 * room for `more` behind them.
 */
int ag_rows_init(struct ag_jvm *jvm, struct ag_census *census, struct ag_classes *classes,
		 const struct ag_tally *tallies, uint32_t more);

/* Objects that a walk tagged: local references and their tags, JVMTI's memory. */
struct ag_tagged {
	jobject *objects;
	jlong *tags;
	jint n;
};

int ag_tagged_get(struct ag_jvm *jvm, const jlong *tags, jint n, struct ag_tagged *found);
/* Take the tags off and let the objects go. */
void ag_tagged_release(struct ag_jvm *jvm, struct ag_tagged *found);

#endif
