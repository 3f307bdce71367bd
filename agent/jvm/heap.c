#include "jvm/heap.h"

#include <string.h>
#include <time.h>

#include "jvm/calib.h"
#include "jvm/classes.h"
#include "jvm/ref.h"
#include "wire/frame.h"

/* An instance of an unknown class was met: the class was loaded after the list was made. */
#define UNKNOWN_CLASSES 256   /* by klass word */
#define STRAY_OBJECTS 65536   /* by tag: each one is tagged then, 75 bytes from JDK 21 on */
#define WALKS 3               /* when there are more: with a new list, so often */

enum outcome { FAILED = -1, COUNTED, NOT_WHOLE, NOT_POSSIBLE };

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The deprecated walk does less for each object than IterateThroughHeap. */
static int walk(struct ag_jvm *jvm, struct ag_census *census, jvmtiHeapObjectCallback callback,
		const void *user)
{
	int64_t start = now_ns();
	int rc = AG_TI(jvm, IterateOverHeap, JVMTI_HEAP_OBJECT_EITHER, callback, user);

	census->walk_ns += (uint64_t)(now_ns() - start);
	return rc;
}

static inline void tally(struct ag_tally *t, jlong size)
{
	t->instances++;
	t->bytes += (uint64_t)size;
}

/* What was tagged with one of n tags: local references and their tags, JVMTI's memory. */
struct tagged {
	jobject *objects;
	jlong *tags;
	jint n;
};

static int tagged_get(struct ag_jvm *jvm, const jlong *tags, jint n, struct tagged *found)
{
	if (AG_TI(jvm, GetObjectsWithTags, n, tags, &found->n, &found->objects, &found->tags) != 0)
		return -1;
	return ag_ref_expect(jvm, found->n + 64);
}

static void tagged_release(struct ag_jvm *jvm, struct tagged *found)
{
	for (jint i = 0; i < found->n; i++) {
		(void)AG_TI(jvm, SetTag, found->objects[i], 0);
		ag_ref_drop(jvm, found->objects[i]);
	}
	ag_ti_free(jvm, found->objects);
	ag_ti_free(jvm, found->tags);
}

/* A row for each class of the list, which it takes over, and `more` empty ones behind. */
static int rows_init(struct ag_jvm *jvm, struct ag_census *census, struct ag_classes *classes,
		     uint32_t more)
{
	census->rows = ag_jvm_alloc(jvm, (size_t)classes->n + more, sizeof(*census->rows));
	if (!census->rows)
		return -1;
	for (uint32_t i = 0; i < classes->n; i++)
		census->rows[i].class = classes->list[i];
	census->n = classes->n;
	ag_ti_free(jvm, classes->list);
	*classes = (struct ag_classes){ 0 };
	return 0;
}

/* Let the classes without instances go. */
static void rows_compact(struct ag_jvm *jvm, struct ag_census *census)
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

/* By klass word */

struct klass_walk {
	struct ag_header header;
	struct ag_slot *last; /* of the object before: objects of a class like company */
	struct ag_slot none;  /* before the first */
	struct ag_map *map;
	uint32_t n_classes;
	uint32_t unknown; /* slots added for classes that the list did not have */
	bool wrong;       /* the wrapper looked different */
	bool full;        /* too many classes were unknown */
};

/* Count a class that is new: its first object is tagged and will tell. */
static __attribute__((noinline)) struct ag_slot *add_unknown(struct klass_walk *w, uint64_t klass,
							     jlong *tag)
{
	struct ag_slot *slot = ag_map_add(w->map, klass, w->n_classes + w->unknown);

	if (slot)
		*tag = ++w->unknown;
	else
		w->full = true;
	return slot;
}

static jvmtiIterationControl JNICALL on_object_klass(jlong class_tag, jlong size, jlong *tag,
						     void *user)
{
	struct klass_walk *w = user;
	struct ag_slot *slot = w->last;
	uint64_t klass;

	(void)class_tag;
	if (!ag_wrapper_ok(tag, size)) {
		w->wrong = true;
		return JVMTI_ITERATION_ABORT;
	}
	if (*tag < 0)
		return JVMTI_ITERATION_CONTINUE;
	klass = ag_klass_word(&w->header, ag_wrapped_object(tag));
	if (slot->key != klass) {
		slot = ag_map_probe(w->map, klass);
		if (slot->key == 0)
			slot = add_unknown(w, klass, tag);
		if (!slot)
			return JVMTI_ITERATION_ABORT;
		w->last = slot;
	}
	tally(&slot->tally, size);
	return JVMTI_ITERATION_CONTINUE;
}

static int resolve_unknown(struct ag_jvm *jvm, struct ag_census *census, uint32_t unknown)
{
	jlong tags[UNKNOWN_CLASSES];
	struct tagged found = { 0 };
	int rc;

	for (uint32_t i = 0; i < unknown; i++)
		tags[i] = i + 1;
	rc = tagged_get(jvm, tags, (jint)unknown, &found);
	for (jint i = 0; rc == 0 && i < found.n; i++) {
		struct ag_row *row = &census->rows[census->n - unknown + found.tags[i] - 1];

		row->class = ag_ref_class(jvm, found.objects[i]);
		census->resolved++;
	}
	/* One that was collected meanwhile leaves its class without a name. */
	if (rc == 0 && (uint32_t)found.n < unknown)
		rc = NOT_WHOLE;
	tagged_release(jvm, &found);
	return rc;
}

static enum outcome klass_rows(struct ag_jvm *jvm, struct klass_walk *w,
			       struct ag_classes *classes, struct ag_census *census)
{
	if (rows_init(jvm, census, classes, w->unknown) != 0)
		return FAILED;
	for (size_t i = 0; i < ag_map_slots(w->map); i++) {
		const struct ag_slot *slot = &w->map->slots[i];

		if (slot->key)
			census->rows[slot->index].tally = slot->tally;
	}
	census->n += w->unknown;
	return w->unknown == 0 ? COUNTED : resolve_unknown(jvm, census, w->unknown);
}

static enum outcome count_by_klass(struct ag_jvm *jvm, struct ag_classes *classes,
				   struct ag_census *census)
{
	struct ag_calib calib;
	struct klass_walk w = { .n_classes = classes->n, .none.key = UINT64_MAX };
	enum outcome outcome = FAILED;

	switch (ag_calibrate(jvm, classes, UNKNOWN_CLASSES, &calib)) {
	case 0:
		return NOT_POSSIBLE;
	case -1:
		return FAILED;
	}
	w.header = calib.header;
	w.map = &calib.map;
	w.last = &w.none;
	census->method = WIRE_WALK_KLASS;
	if (walk(jvm, census, on_object_klass, &w) == 0) {
		outcome = w.wrong  ? NOT_POSSIBLE
			  : w.full ? NOT_WHOLE
				   : klass_rows(jvm, &w, classes, census);
	}
	ag_calib_release(jvm, &calib);
	return outcome;
}

/* By tag */

struct tag_walk {
	struct ag_tally *tallies; /* by class tag: 1, 2, … in the list's order */
	jlong n_classes;
	uint32_t strays;
};

static jvmtiIterationControl JNICALL on_object_tag(jlong class_tag, jlong size, jlong *tag,
						   void *user)
{
	struct tag_walk *w = user;

	if (*tag < 0)
		return JVMTI_ITERATION_CONTINUE;
	if (class_tag > 0 && class_tag <= w->n_classes) {
		tally(&w->tallies[class_tag], size);
		return JVMTI_ITERATION_CONTINUE;
	}
	if (++w->strays > STRAY_OBJECTS)
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

static int resolve_strays(struct ag_jvm *jvm, struct ag_census *census, const struct tagged *found)
{
	for (jint i = 0; i < found->n; i++) {
		jlong size;
		struct ag_row *row = stray_row(jvm, census, found->objects[i]);

		if (!row || AG_TI(jvm, GetObjectSize, found->objects[i], &size) != 0)
			return -1;
		tally(&row->tally, size);
		census->resolved++;
	}
	return 0;
}

static enum outcome tag_rows(struct ag_jvm *jvm, struct tag_walk *w, struct ag_classes *classes,
			     struct ag_census *census)
{
	jlong stray = w->n_classes + 1;
	struct tagged found = { 0 };
	enum outcome outcome = FAILED;

	if (w->strays > 0 && tagged_get(jvm, &stray, 1, &found) != 0)
		goto out;
	if (rows_init(jvm, census, classes, (uint32_t)found.n) != 0)
		goto out;
	for (uint32_t i = 0; i < census->n; i++)
		census->rows[i].tally = w->tallies[i + 1];
	if (resolve_strays(jvm, census, &found) == 0)
		outcome = COUNTED;
out:
	tagged_release(jvm, &found);
	for (uint32_t i = 0; i < census->n; i++)
		(void)AG_TI(jvm, SetTag, census->rows[i].class, 0);
	return outcome;
}

static enum outcome count_by_tag(struct ag_jvm *jvm, struct ag_classes *classes,
				 struct ag_census *census)
{
	struct tag_walk w = { .n_classes = classes->n };
	enum outcome outcome = FAILED;

	w.tallies = ag_jvm_alloc(jvm, (size_t)classes->n + 1, sizeof(*w.tallies));
	if (!w.tallies)
		return FAILED;
	for (uint32_t i = 0; i < classes->n; i++) {
		if (AG_TI(jvm, SetTag, classes->list[i], (jlong)i + 1) != 0)
			goto out;
	}
	census->method = WIRE_WALK_TAGS;
	if (walk(jvm, census, on_object_tag, &w) == 0)
		outcome = w.strays > STRAY_OBJECTS ? NOT_WHOLE
						   : tag_rows(jvm, &w, classes, census);
out:
	ag_free(jvm->mem, w.tallies);
	return outcome;
}

/* Tag what a session itself brings: its thread, and what only that holds. */
static int tag_own_thread(struct ag_jvm *jvm)
{
	jthread thread;

	if (AG_TI(jvm, GetCurrentThread, &thread) != 0)
		return -1;
	return AG_TI(jvm, SetTag, thread, AG_TAG_OWN);
}

static enum outcome count_once(struct ag_jvm *jvm, bool *strict, struct ag_census *census)
{
	struct ag_classes classes = { 0 };
	enum outcome outcome = FAILED;

	if (ag_classes_get(jvm, &classes) != 0 ||
	    ag_ref_expect(jvm, (jint)classes.n + 64) != 0)
		goto out;
	outcome = *strict ? NOT_POSSIBLE : count_by_klass(jvm, &classes, census);
	if (outcome == NOT_POSSIBLE) {
		*strict = true;
		outcome = count_by_tag(jvm, &classes, census);
	}
	if (outcome == COUNTED)
		rows_compact(jvm, census);
out:
	ag_classes_release(jvm, &classes);
	return outcome;
}

int ag_heap_count(struct ag_jvm *jvm, bool strict, struct ag_census *census)
{
	enum outcome outcome = FAILED;

	*census = (struct ag_census){ 0 };
	if (tag_own_thread(jvm) != 0)
		return -1;
	for (int i = 0; i < WALKS; i++) {
		outcome = count_once(jvm, &strict, census);
		if (outcome != NOT_WHOLE)
			break;
		ag_census_release(jvm, census);
	}
	if (outcome == COUNTED)
		return 0;
	if (outcome == NOT_WHOLE)
		(void)ag_fail(jvm, "count the heap's objects",
			      "classes are loaded faster than the heap can be walked");
	ag_census_release(jvm, census);
	return -1;
}

/* One class */

static jint JNICALL on_instance(jlong class_tag, jlong size, jlong *tag, jint length, void *user)
{
	(void)class_tag, (void)length;
	if (*tag >= 0)
		tally(user, size);
	return 0;
}

static int count_instances(struct ag_jvm *jvm, struct ag_row *row, struct ag_census *census)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_iteration_callback = on_instance };
	int64_t start = now_ns();
	int rc = AG_TI(jvm, IterateThroughHeap, 0, row->class, &callbacks, &row->tally);

	census->walk_ns += (uint64_t)(now_ns() - start);
	return rc;
}

static int has_signature(struct ag_jvm *jvm, jclass class, const char *signature, size_t len)
{
	char *its = ag_class_signature(jvm, class);
	bool same = its && strlen(its) == len && memcmp(its, signature, len) == 0;

	if (!its)
		return -1;
	ag_ti_free(jvm, its);
	return same;
}

int ag_heap_count_class(struct ag_jvm *jvm, const char *signature, size_t len,
			struct ag_census *census)
{
	struct ag_classes classes = { 0 };
	int rc = -1;

	*census = (struct ag_census){ .method = WIRE_WALK_CLASS };
	if (tag_own_thread(jvm) != 0 || ag_classes_get(jvm, &classes) != 0 ||
	    ag_ref_expect(jvm, (jint)classes.n + 64) != 0 ||
	    rows_init(jvm, census, &classes, 0) != 0)
		goto out;
	for (uint32_t i = 0; i < census->n; i++) {
		int same = has_signature(jvm, census->rows[i].class, signature, len);

		if (same < 0 || (same && count_instances(jvm, &census->rows[i], census) != 0))
			goto out;
	}
	rows_compact(jvm, census);
	rc = 0;
out:
	ag_classes_release(jvm, &classes);
	if (rc != 0)
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
