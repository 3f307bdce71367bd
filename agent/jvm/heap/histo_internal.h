/* For the histogram's source files only: two ways to count objects, and functions for both. */
#ifndef JTOOL_AGENT_JVM_HEAP_HISTO_INTERNAL_H
#define JTOOL_AGENT_JVM_HEAP_HISTO_INTERNAL_H

#include "jvm/heap/klass_probe.h"
#include "jvm/classes.h"
#include "jvm/heap/histo.h"

enum ag_outcome {
	AG_FAILED = -1,
	AG_COUNTED,
	AG_INCOMPLETE,   /* the class list lacks the classes of some objects: list them again */
	AG_STOPPED,      /* the walk was ended early; census->limit.over is set */
	AG_NOT_POSSIBLE, /* the klass words cannot be interpreted: count by tag instead */
};

/*
 * Count the objects of the heap: by klass word, and by class tag.  Each function fills the census
 * with a row for each class, even for a class without instances.  It sets own->rows[i] to the index
 * of the row that counts own->objects[i].  A function that returns AG_COUNTED has taken ownership
 * of the class list.
 */
enum ag_outcome ag_histo_by_klass(struct ag_jvm *jvm, const struct ag_klass_probe *probe,
				  struct ag_classes *classes, struct ag_self_objects *own,
				  struct ag_census *census);
enum ag_outcome ag_histo_by_tag(struct ag_jvm *jvm, struct ag_classes *classes,
				struct ag_self_objects *own, struct ag_census *census);

/* Walks the complete heap, and adds the duration of the walk to census->walk_ns. */
int ag_histo_walk(struct ag_jvm *jvm, struct ag_census *census, jvmtiHeapObjectCallback callback,
		  const void *user);

static inline void ag_tally_add(struct ag_tally *t, jlong size)
{
	t->instances++;
	t->bytes += (uint64_t)size;
}

/*
 * Creates a row for each class, and room for `more` further rows.  Copies `tallies`, which are in
 * the order of the class list, to the rows; if `tallies` is NULL, all rows count 0 objects.  If
 * ag_rows_init() succeeds, it takes ownership of the class list.
 */
int ag_rows_init(struct ag_jvm *jvm, struct ag_census *census, struct ag_classes *classes,
		 const struct ag_tally *tallies, uint32_t more);

/*
 * Objects that a walk has tagged: local references to the objects, and their tags.  JVMTI has
 * allocated both arrays.
 */
struct ag_tagged {
	jobject *objects;
	jlong *tags;
	jint n;
};

int ag_tagged_get(struct ag_jvm *jvm, const jlong *tags, jint n, struct ag_tagged *found);
/* Removes the objects' tags, deletes the references, and frees both arrays. */
void ag_tagged_release(struct ag_jvm *jvm, struct ag_tagged *found);

#endif
