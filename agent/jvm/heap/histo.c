#include "jvm/heap/histo.h"

#include <string.h>

#include "jvm/heap/self_objects.h"
#include "jvm/jni_refs.h"
#include "jvm/heap/histo_internal.h"
#include "wire/frame.h"

#define WALKS 3 /* maximum number of walks; a walk fails if too many classes are loaded during it */
/* Up to this many walks filtered by class take less time than one walk that counts all classes. */
#define CLASS_WALKS 4

static void drop_empty(struct ag_jvm *jvm, struct ag_census *census)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < census->n; i++) {
		if (census->rows[i].tally.instances > 0)
			census->rows[n++] = census->rows[i];
		else
			ag_ref_drop(jvm, census->rows[i].class);
	}
	census->n = n;
}

static int list_classes(struct ag_jvm *jvm, struct ag_classes *classes)
{
	if (ag_classes_get(jvm, classes) != 0)
		return -1;
	return ag_ref_expect(jvm, (jint)classes->n + 64);
}

/*
 * Counts with one walk: by klass word or, if *probe is NULL, by tag.  If counting by klass word
 * turns out to be impossible, counts by tag and sets *probe to NULL.
 */
static enum ag_outcome count_once(struct ag_jvm *jvm, const struct ag_klass_probe **probe,
				  struct ag_self_objects *own, struct ag_census *census)
{
	enum ag_outcome outcome = AG_NOT_POSSIBLE;
	struct ag_classes classes = { 0 };

	if (list_classes(jvm, &classes) != 0) {
		outcome = AG_FAILED;
		goto out;
	}
	if (*probe)
		outcome = ag_histo_by_klass(jvm, *probe, &classes, own, census);
	if (outcome == AG_NOT_POSSIBLE) {
		*probe = NULL;
		outcome = ag_histo_by_tag(jvm, &classes, own, census);
	}
out:
	ag_classes_release(jvm, &classes);
	return outcome;
}

static int count_all(struct ag_jvm *jvm, const struct ag_klass_probe *probe,
		     struct ag_self_objects *own, struct ag_census *census)
{
	for (int i = 1; i <= WALKS; i++) {
		enum ag_outcome outcome;

		/*
		 * The last attempt counts by tag.  Unlike counting by klass word, this succeeds
		 * even if the objects of a new class are collected after the walk.
		 */
		if (i == WALKS)
			probe = NULL;
		outcome = count_once(jvm, &probe, own, census);
		if (outcome == AG_COUNTED)
			return 0;
		if (outcome == AG_FAILED)
			return -1;
		ag_census_release(jvm, census);
		if (outcome == AG_STOPPED)
			return 0;
	}
	return ag_fail(jvm, "count the heap's objects",
		       "classes are loaded faster than the heap can be walked");
}

struct class_walk {
	struct ag_tally *tally;
	struct ag_walk_limit *limit;
};

static jint JNICALL on_instance(jlong class_tag, jlong size, jlong *tag, jint length, void *user)
{
	struct class_walk *w = user;

	(void)class_tag, (void)tag, (void)length;
	ag_tally_add(w->tally, size);
	return ag_walk_continues(w->limit) ? 0 : JVMTI_VISIT_ABORT;
}

/* Returns 1 if the class has the requested signature, 0 if not, or -1 with the error recorded. */
static int has_signature(struct ag_jvm *jvm, jclass class, const struct ag_histo_opts *opts)
{
	char *class_signature = ag_class_signature(jvm, class);
	int same;

	if (!class_signature)
		return -1;
	same = strlen(class_signature) == opts->signature_len &&
	       memcmp(class_signature, opts->signature, opts->signature_len) == 0;
	ag_jvmti_free(jvm, class_signature);
	return same;
}

/* Removes the rows of classes that do not have the requested signature. */
static int filter_rows(struct ag_jvm *jvm, const struct ag_histo_opts *opts,
		       struct ag_census *census)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < census->n; i++) {
		struct ag_row row = census->rows[i];
		int same = has_signature(jvm, row.class, opts);

		if (same < 0)
			return -1;
		if (same == 0)
			continue;
		census->rows[i] = census->rows[n];
		census->rows[n++] = row;
	}
	for (uint32_t i = n; i < census->n; i++)
		ag_ref_drop(jvm, census->rows[i].class);
	census->n = n;
	return 0;
}

/* Sets own->rows[i] to `row` for each object i of the agent whose class is that of the row. */
static void assign_row(struct ag_jvm *jvm, struct ag_self_objects *own,
		       const struct ag_census *census, uint32_t row)
{
	for (uint32_t i = 0; i < own->n; i++) {
		jclass class = ag_ref_class(jvm, own->objects[i]);

		if ((*jvm->jni)->IsSameObject(jvm->jni, class, census->rows[row].class))
			own->rows[i] = row;
		ag_ref_drop(jvm, class);
	}
}

/*
 * Counts with one walk for each class of the census.  Such a walk is fast, because HotSpot skips an
 * object of another class before it does any other work for the object.
 */
static int count_each(struct ag_jvm *jvm, struct ag_self_objects *own, struct ag_census *census)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_iteration_callback = on_instance };
	int64_t start = ag_now_ns();

	for (uint32_t i = 0; i < census->n; i++) {
		struct ag_row *row = &census->rows[i];
		struct class_walk w = { &row->tally, &census->limit };

		ag_walk_limit_begin(w.limit);
		if (AG_JVMTI(jvm, IterateThroughHeap, 0, row->class, &callbacks, &w) != 0)
			return -1;
		if (w.limit->over)
			return 0;
		assign_row(jvm, own, census, i);
	}
	census->walk_ns = (uint64_t)(ag_now_ns() - start);
	return 0;
}

/*
 * Counts the instances of the classes that have the requested signature; hundreds of loaders may
 * each have one.  Walks once for each of up to CLASS_WALKS classes.  If there are more, walks once
 * and counts every class of the JVM.
 */
static int count_matching(struct ag_jvm *jvm, const struct ag_histo_opts *opts,
			  struct ag_self_objects *own, struct ag_census *census)
{
	struct ag_classes classes = { 0 };
	int rc = -1;

	census->method = WIRE_WALK_CLASS;
	if (list_classes(jvm, &classes) == 0 && ag_rows_init(jvm, census, &classes, NULL, 0) == 0)
		rc = filter_rows(jvm, opts, census);
	ag_classes_release(jvm, &classes);
	if (rc != 0)
		return -1;
	if (census->n <= CLASS_WALKS)
		return count_each(jvm, own, census);
	ag_census_release(jvm, census);
	return count_all(jvm, NULL, own, census);
}

static int collect(struct ag_jvm *jvm)
{
	return ag_jvmti_check(jvm, "ForceGarbageCollection",
			      (*jvm->ti)->ForceGarbageCollection(jvm->ti));
}

int ag_histo_count(struct ag_jvm *jvm, const struct ag_histo_opts *opts, struct ag_census *census)
{
	struct ag_self_objects own = { 0 };
	struct ag_klass_probe probe;
	int calibrated = 0;
	uint32_t n_thread;
	int rc;

	*census = (struct ag_census){
		.limit = { .chan = opts->chan, .pause_ms = opts->pause_ms },
	};
	if (ag_self_objects_add_thread(jvm, &own) != 0)
		return -1;
	n_thread = own.n;
	if (!opts->strict && !opts->signature)
		calibrated = ag_klass_probe_run(jvm, &own, &probe);
	if (calibrated < 0)
		return -1;
	if (opts->live) {
		/* Drop the samples of the calibration, so that the collection frees them. */
		ag_self_objects_forget(jvm, &own, n_thread);
		if (collect(jvm) != 0)
			return -1;
	}
	if (opts->signature)
		rc = count_matching(jvm, opts, &own, census);
	else
		rc = count_all(jvm, calibrated ? &probe : NULL, &own, census);
	if (rc == 0 && census->limit.over) {
		ag_census_release(jvm, census);
		return opts->chan->broken ? -1 : 0;
	}
	if (rc == 0)
		rc = ag_self_objects_subtract(jvm, &own, census);
	if (rc == 0 && opts->signature)
		rc = filter_rows(jvm, opts, census);
	if (rc == 0)
		drop_empty(jvm, census);
	else
		ag_census_release(jvm, census);
	return rc;
}

int ag_census_make(struct ag_jvm *jvm, struct ag_classes *classes, const struct ag_tally *tallies,
		   struct ag_census *census)
{
	*census = (struct ag_census){ 0 };
	if (ag_rows_init(jvm, census, classes, tallies, 0) != 0)
		return -1;
	drop_empty(jvm, census);
	return 0;
}

void ag_census_release(struct ag_jvm *jvm, struct ag_census *census)
{
	for (uint32_t i = 0; i < census->n; i++)
		ag_ref_drop(jvm, census->rows[i].class);
	ag_free(jvm->mem, census->rows);
	census->rows = NULL;
	census->n = 0;
}
