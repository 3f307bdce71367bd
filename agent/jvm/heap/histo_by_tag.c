/*
 * Counting by class tag: what JVMTI's specification offers, and nothing else.
 * Built for speed, and the rest for size: the JVM stands still meanwhile.
 */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/ref.h"
#include "jvm/walk.h"
#include "wire/frame.h"

/*
 * So many objects may be of a class that has no tag because it was loaded after the list was
 * made.  Each is tagged then, at 75 bytes from JDK 21 on.
 */
#define STRAYS_MAX 65536

struct tag_walk {
	struct ag_tally *tallies; /* by class tag - 1: tags are 1, 2, … in the list's order */
	jlong n_classes;
	uint32_t strays;
};

static jvmtiIterationControl JNICALL on_object(jlong class_tag, jlong size, jlong *tag, void *user)
{
	struct tag_walk *w = user;

	if (class_tag > 0 && class_tag <= w->n_classes) {
		ag_tally_add(&w->tallies[class_tag - 1], size);
		return JVMTI_ITERATION_CONTINUE;
	}
	if (++w->strays > STRAYS_MAX)
		return JVMTI_ITERATION_ABORT;
	*tag = w->n_classes + 1;
	return JVMTI_ITERATION_CONTINUE;
}

/* The row of a stray object's class; a class that has none gets the next. */
static struct ag_row *stray_row(struct ag_jvm *jvm, struct ag_census *census, jobject object)
{
	jclass class = ag_ref_class(jvm, object);
	jlong tag;

	if (AG_TI(jvm, GetTag, class, &tag) != 0)
		return NULL;
	if (tag > 0) {
		ag_ref_drop(jvm, class);
		return &census->rows[tag - 1];
	}
	census->rows[census->n].class = class;
	return AG_TI(jvm, SetTag, class, ++census->n) == 0 ? &census->rows[census->n - 1] : NULL;
}

static int add_strays(struct ag_jvm *jvm, struct ag_census *census, const struct ag_tagged *found)
{
	for (jint i = 0; i < found->n; i++) {
		struct ag_row *row = stray_row(jvm, census, found->objects[i]);
		jlong size;

		if (!row || AG_TI(jvm, GetObjectSize, found->objects[i], &size) != 0)
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
	jlong stray = w->n_classes + 1;

	if (w->strays > 0 && ag_tagged_get(jvm, &stray, 1, &found) != 0)
		goto out;
	if (w->strays > STRAYS_MAX) {
		outcome = AG_NOT_WHOLE;
		goto out;
	}
	if (ag_rows_init(jvm, census, classes, w->tallies, (uint32_t)found.n) != 0)
		goto out;
	if (add_strays(jvm, census, &found) == 0)
		outcome = AG_COUNTED;
out:
	ag_tagged_release(jvm, &found);
	return outcome;
}

static int tag_classes(struct ag_jvm *jvm, const struct ag_classes *classes)
{
	for (uint32_t i = 0; i < classes->n; i++) {
		if (AG_TI(jvm, SetTag, classes->list[i], (jlong)i + 1) != 0)
			return -1;
	}
	return 0;
}

static int find_own(struct ag_jvm *jvm, struct ag_own *own)
{
	for (uint32_t i = 0; i < own->n; i++) {
		jclass class = ag_ref_class(jvm, own->objects[i]);
		jlong tag = 0;
		int rc = AG_TI(jvm, GetTag, class, &tag);

		ag_ref_drop(jvm, class);
		if (rc != 0)
			return -1;
		own->rows[i] = (uint32_t)(tag - 1);
	}
	return 0;
}

/* The classes are in the census or still in the list. */
static void untag_classes(struct ag_jvm *jvm, const struct ag_classes *classes,
			  const struct ag_census *census)
{
	for (uint32_t i = 0; i < classes->n; i++)
		(void)AG_TI(jvm, SetTag, classes->list[i], 0); /* the first error is recorded */
	for (uint32_t i = 0; i < census->n; i++)
		(void)AG_TI(jvm, SetTag, census->rows[i].class, 0);
}

enum ag_outcome ag_count_by_tag(struct ag_jvm *jvm, struct ag_classes *classes,
				struct ag_own *own, struct ag_census *census)
{
	struct tag_walk w = { .n_classes = classes->n };
	enum ag_outcome outcome = AG_FAILED;

	w.tallies = ag_jvm_alloc(jvm, classes->n, sizeof(*w.tallies));
	if (!w.tallies)
		return AG_FAILED;
	census->method = WIRE_WALK_TAGS;
	if (tag_classes(jvm, classes) == 0 && find_own(jvm, own) == 0 &&
	    ag_walk(jvm, census, on_object, &w) == 0)
		outcome = make_rows(jvm, &w, classes, census);
	untag_classes(jvm, classes, census);
	ag_free(jvm->mem, w.tallies);
	return outcome;
}
