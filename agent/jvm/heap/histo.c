#include "jvm/heap.h"

#include <string.h>

#include "jvm/own.h"
#include "jvm/ref.h"
#include "jvm/walk.h"
#include "wire/frame.h"

#define WALKS 3 /* as often, when classes are loaded all the time */
/* So many walks for one class each are shorter than one that looks every object's class up. */
#define CLASS_WALKS 4

/* Let the classes without instances go. */
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

/* calib is set to NULL when it turns out not to hold. */
static enum ag_outcome count_once(struct ag_jvm *jvm, const struct ag_calib **calib,
				  struct ag_own *own, struct ag_census *census)
{
	enum ag_outcome outcome = AG_NOT_POSSIBLE;
	struct ag_classes classes = { 0 };

	if (list_classes(jvm, &classes) != 0) {
		outcome = AG_FAILED;
		goto out;
	}
	if (*calib)
		outcome = ag_count_by_klass(jvm, *calib, &classes, own, census);
	if (outcome == AG_NOT_POSSIBLE) {
		*calib = NULL;
		outcome = ag_count_by_tag(jvm, &classes, own, census);
	}
out:
	ag_classes_release(jvm, &classes);
	return outcome;
}

static int count_all(struct ag_jvm *jvm, const struct ag_calib *calib, struct ag_own *own,
		     struct ag_census *census)
{
	for (int i = 1; i <= WALKS; i++) {
		enum ag_outcome outcome;

		/* By tag, a new object that is collected meanwhile takes nothing with it. */
		if (i == WALKS)
			calib = NULL;
		outcome = count_once(jvm, &calib, own, census);
		if (outcome == AG_COUNTED)
			return 0;
		if (outcome == AG_FAILED)
			return -1;
		ag_census_release(jvm, census);
	}
	return ag_fail(jvm, "count the heap's objects",
		       "classes are loaded faster than the heap can be walked");
}

static jint JNICALL on_instance(jlong class_tag, jlong size, jlong *tag, jint length, void *user)
{
	(void)class_tag, (void)tag, (void)length;
	ag_tally_add(user, size);
	return 0;
}

/* 1: the class has the signature, 0: another one. */
static int has_signature(struct ag_jvm *jvm, jclass class, const struct ag_heap_opts *opts)
{
	char *its = ag_class_signature(jvm, class);
	int same;

	if (!its)
		return -1;
	same = strlen(its) == opts->signature_len &&
	       memcmp(its, opts->signature, opts->signature_len) == 0;
	ag_ti_free(jvm, its);
	return same;
}

/* Let all classes go but those that were asked for. */
static int keep_wanted(struct ag_jvm *jvm, const struct ag_heap_opts *opts,
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

/* Our own objects of a row's class. */
static void find_own(struct ag_jvm *jvm, struct ag_own *own, const struct ag_census *census,
		     uint32_t row)
{
	for (uint32_t i = 0; i < own->n; i++) {
		jclass class = ag_ref_class(jvm, own->objects[i]);

		if ((*jvm->jni)->IsSameObject(jvm->jni, class, census->rows[row].class))
			own->rows[i] = row;
		ag_ref_drop(jvm, class);
	}
}

/* HotSpot applies the class filter before everything else that an object costs. */
static int count_each(struct ag_jvm *jvm, struct ag_own *own, struct ag_census *census)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_iteration_callback = on_instance };
	int64_t start = ag_now_ns();

	for (uint32_t i = 0; i < census->n; i++) {
		struct ag_row *row = &census->rows[i];

		if (AG_TI(jvm, IterateThroughHeap, 0, row->class, &callbacks, &row->tally) != 0)
			return -1;
		find_own(jvm, own, census, i);
	}
	census->walk_ns = (uint64_t)(ag_now_ns() - start);
	return 0;
}

/* A class with one name may have been loaded by hundreds of loaders. */
static int count_wanted(struct ag_jvm *jvm, const struct ag_heap_opts *opts, struct ag_own *own,
			struct ag_census *census)
{
	struct ag_classes classes = { 0 };
	int rc = -1;

	census->method = WIRE_WALK_CLASS;
	if (list_classes(jvm, &classes) == 0 && ag_rows_init(jvm, census, &classes, NULL, 0) == 0)
		rc = keep_wanted(jvm, opts, census);
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
	return ag_ti_check(jvm, "ForceGarbageCollection",
			   (*jvm->ti)->ForceGarbageCollection(jvm->ti));
}

int ag_heap_count(struct ag_jvm *jvm, const struct ag_heap_opts *opts, struct ag_census *census)
{
	struct ag_own own = { 0 };
	struct ag_calib calib;
	int calibrated = 0;
	uint32_t n_thread;
	int rc;

	*census = (struct ag_census){ 0 };
	if (ag_own_add_thread(jvm, &own) != 0)
		return -1;
	n_thread = own.n;
	if (!opts->strict && !opts->signature)
		calibrated = ag_calibrate(jvm, &own, &calib);
	if (calibrated < 0)
		return -1;
	if (opts->live) {
		ag_own_forget(jvm, &own, n_thread); /* the collection takes the rest away */
		if (collect(jvm) != 0)
			return -1;
	}
	if (opts->signature)
		rc = count_wanted(jvm, opts, &own, census);
	else
		rc = count_all(jvm, calibrated ? &calib : NULL, &own, census);
	if (rc == 0)
		rc = ag_own_subtract(jvm, &own, census);
	if (rc == 0 && opts->signature)
		rc = keep_wanted(jvm, opts, census);
	if (rc == 0)
		drop_empty(jvm, census);
	else
		ag_census_release(jvm, census);
	return rc;
}

void ag_census_release(struct ag_jvm *jvm, struct ag_census *census)
{
	for (uint32_t i = 0; i < census->n; i++)
		ag_ref_drop(jvm, census->rows[i].class);
	ag_free(jvm->mem, census->rows);
	census->rows = NULL;
	census->n = 0;
}
