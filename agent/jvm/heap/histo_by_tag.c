/*
 * Counts objects by the tags of their classes.  This way of counting relies only on the JVMTI
 * specification.  The code is optimised for speed, because the JVM is paused during the walk.
 */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/jni_refs.h"
#include "jvm/heap/histo_internal.h"
#include "wire/frame.h"

/*
 * Maximum number of objects whose class has no tag, because the class was loaded after the classes
 * were listed.  The walk tags each of these objects; a tag takes 75 bytes from JDK 21 on.
 */
#define UNKNOWN_MAX 65536

struct tag_walk {
	struct ag_tally *tallies; /* tallies[i] counts class i of the list, whose tag is i + 1 */
	jlong n_classes;
	uint32_t unknown; /* number of objects whose classes are not in the list */
	struct ag_walk_limit *limit;
};

static jvmtiIterationControl JNICALL on_object(jlong class_tag, jlong size, jlong *tag, void *user)
{
	struct tag_walk *w = user;

	if (!ag_walk_continues(w->limit))
		return JVMTI_ITERATION_ABORT;
	if (class_tag > 0 && class_tag <= w->n_classes) {
		ag_tally_add(&w->tallies[class_tag - 1], size);
		return JVMTI_ITERATION_CONTINUE;
	}
	if (++w->unknown > UNKNOWN_MAX)
		return JVMTI_ITERATION_ABORT;
	*tag = w->n_classes + 1;
	return JVMTI_ITERATION_CONTINUE;
}

/* Returns the row of an object's class.  Creates the row if necessary. */
static struct ag_row *row_of(struct ag_jvm *jvm, struct ag_census *census, jobject object)
{
	jclass class = ag_ref_class(jvm, object);
	jlong tag;

	if (AG_JVMTI(jvm, GetTag, class, &tag) != 0)
		return NULL;
	if (tag > 0) {
		ag_ref_drop(jvm, class);
		return &census->rows[tag - 1];
	}
	census->rows[census->n].class = class;
	return AG_JVMTI(jvm, SetTag, class, ++census->n) == 0 ? &census->rows[census->n - 1] : NULL;
}

static int add_unknown(struct ag_jvm *jvm, struct ag_census *census, const struct ag_tagged *found)
{
	for (jint i = 0; i < found->n; i++) {
		struct ag_row *row = row_of(jvm, census, found->objects[i]);
		jlong size;

		if (!row || AG_JVMTI(jvm, GetObjectSize, found->objects[i], &size) != 0)
			return -1;
		ag_tally_add(&row->tally, size);
		census->resolved++;
	}
	return 0;
}

static enum ag_outcome make_rows(struct ag_jvm *jvm, const struct tag_walk *w,
				 struct ag_classes *classes, struct ag_census *census)
{
	enum ag_outcome outcome = AG_FAILED;
	struct ag_tagged found = { 0 };
	jlong unknown_tag = w->n_classes + 1;

	if (w->unknown > 0 && ag_tagged_get(jvm, &unknown_tag, 1, &found) != 0)
		goto out;
	if (w->limit->over || w->unknown > UNKNOWN_MAX) {
		outcome = w->limit->over ? AG_STOPPED : AG_INCOMPLETE;
		goto out;
	}
	if (ag_rows_init(jvm, census, classes, w->tallies, (uint32_t)found.n) != 0)
		goto out;
	if (add_unknown(jvm, census, &found) == 0)
		outcome = AG_COUNTED;
out:
	ag_tagged_release(jvm, &found);
	return outcome;
}

static int tag_classes(struct ag_jvm *jvm, const struct ag_classes *classes)
{
	for (uint32_t i = 0; i < classes->n; i++) {
		if (AG_JVMTI(jvm, SetTag, classes->list[i], (jlong)i + 1) != 0)
			return -1;
	}
	return 0;
}

static int find_own(struct ag_jvm *jvm, struct ag_self_objects *own)
{
	for (uint32_t i = 0; i < own->n; i++) {
		jclass class = ag_ref_class(jvm, own->objects[i]);
		jlong tag = 0;
		int rc = AG_JVMTI(jvm, GetTag, class, &tag);

		ag_ref_drop(jvm, class);
		if (rc != 0)
			return -1;
		own->rows[i] = (uint32_t)(tag - 1);
	}
	return 0;
}

/*
 * Removes the tags of all classes.  The classes are in the class list or, if the census has taken
 * ownership of the list, in the rows of the census.
 */
static void untag_classes(struct ag_jvm *jvm, const struct ag_classes *classes,
			  const struct ag_census *census)
{
	for (uint32_t i = 0; i < classes->n; i++)
		(void)AG_JVMTI(jvm, SetTag, classes->list[i], 0); /* the first error is recorded */
	for (uint32_t i = 0; i < census->n; i++)
		(void)AG_JVMTI(jvm, SetTag, census->rows[i].class, 0);
}

enum ag_outcome ag_histo_by_tag(struct ag_jvm *jvm, struct ag_classes *classes,
				struct ag_self_objects *own, struct ag_census *census)
{
	struct tag_walk w = { .n_classes = classes->n, .limit = &census->limit };
	enum ag_outcome outcome = AG_FAILED;

	w.tallies = ag_jvm_alloc(jvm, classes->n, sizeof(*w.tallies));
	if (!w.tallies)
		return AG_FAILED;
	census->method = WIRE_WALK_TAGS;
	if (tag_classes(jvm, classes) == 0 && find_own(jvm, own) == 0 &&
	    ag_histo_walk(jvm, census, on_object, &w) == 0)
		outcome = make_rows(jvm, &w, classes, census);
	untag_classes(jvm, classes, census);
	ag_free(jvm->mem, w.tallies);
	return outcome;
}
