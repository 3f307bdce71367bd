#include "agent/fake/jvm_heap.h"

#include <check.h>
#include <string.h>

struct fake_heap fake_heap;
static struct fake_object *heap[FAKE_HEAP_MAX];
static size_t n_heap;

void fake_heap_put(struct fake_object *object)
{
	ck_assert_uint_lt(n_heap, FAKE_HEAP_MAX);
	heap[n_heap++] = object;
}

struct fake_object *fake_heap_get(size_t i)
{
	return i < n_heap ? heap[i] : NULL;
}

struct fake_object *fake_heap_class(const char *signature)
{
	for (size_t i = 0; i < n_heap; i++) {
		if (heap[i]->signature && strcmp(heap[i]->signature, signature) == 0)
			return heap[i];
	}
	ck_abort_msg("no class %s", signature);
}

void fake_heap_clear(void)
{
	n_heap = 0;
}

size_t fake_tagged(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_heap; i++)
		n += heap[i]->tag != 0;
	return n;
}

/* Tags */

static jvmtiError JNICALL set_tag(jvmtiEnv *ti, jobject object, jlong tag)
{
	if (!fake_environment(ti)->capabilities.can_tag_objects)
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	FAKE_TI_FAILS();
	fake_object_of(object)->tag = tag;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_tag(jvmtiEnv *ti, jobject object, jlong *tag)
{
	(void)ti;
	FAKE_TI_FAILS();
	*tag = fake_object_of(object)->tag;
	return JVMTI_ERROR_NONE;
}

static bool is_one_of(jlong tag, jint n, const jlong *tags)
{
	for (jint i = 0; i < n; i++) {
		if (tags[i] == tag)
			return true;
	}
	return false;
}

static jvmtiError JNICALL get_objects_with_tags(jvmtiEnv *ti, jint n, const jlong *tags,
						jint *count, jobject **objects, jlong **found)
{
	(void)ti;
	FAKE_TI_FAILS();
	*count = 0;
	*objects = fake_block(n_heap * sizeof(jobject));
	*found = fake_block(n_heap * sizeof(jlong));
	for (size_t i = 0; i < n_heap; i++) {
		if (!is_one_of(heap[i]->tag, n, tags))
			continue;
		(*found)[*count] = heap[i]->tag;
		(*objects)[(*count)++] = fake_ref(heap[i]);
	}
	return JVMTI_ERROR_NONE;
}

/*
 * The words around the tag that a callback gets.  HotSpot's CallbackWrapper is {object, size, tag};
 * with other_wrapper the tag is the fourth word, as in no known JVM.
 */
struct wrapper {
	jlong words[4];
};

static jlong *wrap(struct wrapper *w, const struct fake_object *o)
{
	size_t tag = fake_heap.other_wrapper ? 3 : 2;

	memset(w, 0, sizeof(*w));
	w->words[0] = (jlong)fake_address(o);
	w->words[1] = o->size;
	w->words[tag] = o->tag;
	return &w->words[tag];
}

/* Walks over all objects */

static jvmtiError JNICALL iterate_over_heap(jvmtiEnv *ti, jvmtiHeapObjectFilter filter,
					    jvmtiHeapObjectCallback callback, const void *user)
{
	jvmtiIterationControl control = JVMTI_ITERATION_CONTINUE;

	(void)ti, (void)filter;
	FAKE_TI_FAILS();
	fake_heap.iterated = 0;
	for (size_t i = 0; i < n_heap && control != JVMTI_ITERATION_ABORT; i++) {
		struct wrapper w;
		jlong *tag = wrap(&w, heap[i]);

		fake_heap.iterated++;
		control = callback(heap[i]->class->tag, heap[i]->size, tag,
				   (void *)(uintptr_t)user);
		heap[i]->tag = *tag;
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL iterate_through_heap(jvmtiEnv *ti, jint filter, jclass class,
					       const jvmtiHeapCallbacks *callbacks,
					       const void *user)
{
	jint control = 0;

	(void)ti;
	FAKE_TI_FAILS();
	fake_heap.iterated = 0;
	for (size_t i = 0; i < n_heap && !(control & JVMTI_VISIT_ABORT); i++) {
		struct wrapper w;
		jlong *tag = wrap(&w, heap[i]);

		if (class && heap[i]->class != fake_object_of(class))
			continue;
		if (filter & JVMTI_HEAP_FILTER_UNTAGGED && heap[i]->tag == 0)
			continue;
		fake_heap.iterated++;
		control = callbacks->heap_iteration_callback(0, heap[i]->size, tag, -1,
							     (void *)(uintptr_t)user);
		heap[i]->tag = *tag;
	}
	return JVMTI_ERROR_NONE;
}

/* A walk along references */

struct walk {
	const jvmtiHeapCallbacks *callbacks;
	void *user;
	struct fake_object *stack[4 * FAKE_HEAP_MAX];
	size_t depth;
	bool over;
};

static void record(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
		   const struct fake_object *referrer, const struct fake_object *o)
{
	struct fake_report *r = &fake_heap.reports[fake_heap.n_reports++];

	if (fake_heap.n_reports > FAKE_REPORTS_MAX)
		ck_abort_msg("too many reports");
	*r = (struct fake_report){
		.kind = kind,
		.object = fake_address(o),
		.size = o->size,
		.length = o->len,
		.referrer = referrer ? fake_address(referrer) : 0,
		.of_class = referrer ? referrer->class->signature : NULL,
	};
	if (info)
		memcpy(&r->info, info, sizeof(r->info));
}

static void report(struct walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
		   struct fake_object *referrer, struct fake_object *o)
{
	struct {
		struct wrapper object, referrer; /* HotSpot's TwoOopCallbackWrapper */
	} two;
	jlong *tag, *referrer_tag = NULL;
	jint visit;

	if (!o)
		return;
	tag = wrap(&two.object, o);
	if (referrer) {
		two.referrer = (struct wrapper){ { 0, (jlong)fake_address(referrer) } };
		referrer_tag = &two.referrer.words[fake_heap.other_referrer ? 3 : 2];
		if (referrer == o)
			referrer_tag = tag;
	}
	visit = w->callbacks->heap_reference_callback(kind, info, 0, 0, o->size, tag,
						      referrer_tag, o->len, w->user);
	o->tag = *tag;
	if (visit & JVMTI_VISIT_ABORT) {
		w->over = true;
		return;
	}
	record(kind, info, referrer, o);
	if (visit & JVMTI_VISIT_OBJECTS && !o->visited)
		w->stack[w->depth++] = o;
}

static void report_at(struct walk *w, jvmtiHeapReferenceKind kind, jint index,
		      struct fake_object *referrer, struct fake_object *o)
{
	jvmtiHeapReferenceInfo info = { .field.index = index };

	if (!w->over)
		report(w, kind, &info, referrer, o);
}

static void visit_class(struct walk *w, struct fake_object *c)
{
	if (c->unprepared || c->signature[0] == '[')
		return;
	if (c->super && c->super->super)
		report_at(w, JVMTI_HEAP_REFERENCE_SUPERCLASS, -1, c, c->super);
	report_at(w, JVMTI_HEAP_REFERENCE_CLASS_LOADER, -1, c, c->loader);
	report_at(w, JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN, -1, c,
		  (struct fake_object *)c->fields[0].l);
	report_at(w, JVMTI_HEAP_REFERENCE_CONSTANT_POOL, 3, c, c);
	report_at(w, JVMTI_HEAP_REFERENCE_INTERFACE, -1, c, c->interface);
	for (size_t i = 0; c == fake_heap.holder && i < n_heap; i++) {
		if (heap[i]->class->klass >= fake_heap.held_from)
			report_at(w, JVMTI_HEAP_REFERENCE_STATIC_FIELD, (jint)i, c, heap[i]);
	}
}

/*
 * Returns the index that JVMTI reports for field i.  In a Reference, the field of an interface is
 * first, then `discovered` (field 1), then `referent` (field 0).
 */
static jint field_index(const struct fake_object *o, jint i)
{
	const struct fake_object *c = o->class;

	while (c && c != fake_heap.reference_class)
		c = c->super;
	return c ? (o->class->interface != NULL) + 1 - i : i;
}

static void visit_object(struct walk *w, struct fake_object *o)
{
	/* HotSpot reports a virtual thread's frame like that of any other thread. */
	if (o->class == fake_heap.in_virtual.object)
		report(w, fake_heap.in_virtual.kind, &fake_heap.in_virtual.info, NULL, o);
	report_at(w, JVMTI_HEAP_REFERENCE_CLASS, -1, o, o->class);
	for (jint i = 0; i < FAKE_HEAP_FIELDS; i++)
		report_at(w, JVMTI_HEAP_REFERENCE_FIELD, field_index(o, i), o,
			  (struct fake_object *)o->fields[i].l);
	for (jint i = 0; o->slots && i < o->len; i++) {
		if (o->slots[i])
			report_at(w, JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, i, o,
				  (struct fake_object *)o->slots[i] - 1);
	}
}

static void visit(struct walk *w, struct fake_object *o)
{
	if (o->class == fake_heap.class_class)
		visit_class(w, o);
	else
		visit_object(w, o);
}

/* Reports a String: the character U+E4F6, then the text. */
static void report_string(struct walk *w, struct fake_object *o)
{
	struct wrapper wrapper;
	jchar units[64];
	jint n = (jint)strlen(o->text) + 1;

	ck_assert_int_le(n, 64);
	units[0] = 0xe4f6;
	for (jint i = 1; i < n; i++)
		units[i] = (jchar)o->text[i - 1];
	(void)w->callbacks->string_primitive_value_callback(0, o->size, wrap(&wrapper, o), units, n,
							    w->user);
}

static void report_local(void *arg, struct fake_object *o)
{
	const jvmtiHeapReferenceInfo info = { .jni_local.thread_id = FAKE_OWN_THREAD };

	report(arg, JVMTI_HEAP_REFERENCE_JNI_LOCAL, &info, NULL, o);
}

static bool is_of_thread(jvmtiHeapReferenceKind kind)
{
	return kind == JVMTI_HEAP_REFERENCE_THREAD || kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL;
}

/* Reports the threads' roots even if the callback has aborted the walk, as HotSpot does. */
static void report_roots(struct walk *w)
{
	for (size_t i = 0; i < fake_heap.n_roots; i++) {
		const struct fake_root *r = &fake_heap.roots[i];

		if (r->kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL)
			fake_each_ref(report_local, w);
		else if (r->kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL)
			report(w, r->kind, &r->info, NULL, r->object);
		else if (!w->over || is_of_thread(r->kind))
			report(w, r->kind, NULL, NULL,
			       r->object ? r->object : fake.current_thread);
	}
}

static jvmtiError JNICALL follow_references(jvmtiEnv *ti, jint filter, jclass class,
					    jobject initial, const jvmtiHeapCallbacks *callbacks,
					    const void *user)
{
	struct walk w = { .callbacks = callbacks, .user = (void *)(uintptr_t)user };

	(void)ti, (void)filter, (void)class;
	FAKE_TI_FAILS();
	for (size_t i = 0; i < n_heap; i++)
		heap[i]->visited = false;
	fake_heap.n_reports = 0;
	if (initial)
		visit(&w, fake_object_of(initial));
	else
		report_roots(&w);
	while (w.depth > 0 && !w.over) {
		struct fake_object *o = w.stack[--w.depth];

		if (o->visited)
			continue;
		o->visited = true;
		visit(&w, o);
		if (o->text && callbacks->string_primitive_value_callback && !w.over)
			report_string(&w, o);
	}
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL force_garbage_collection(jvmtiEnv *ti)
{
	(void)ti;
	FAKE_TI_FAILS();
	fake_heap.collections++;
	return JVMTI_ERROR_NONE;
}

void fake_add_heap(void)
{
	fake_ti_table.FollowReferences = follow_references;
	fake_ti_table.ForceGarbageCollection = force_garbage_collection;
	fake_ti_table.GetObjectsWithTags = get_objects_with_tags;
	fake_ti_table.GetTag = get_tag;
	fake_ti_table.IterateOverHeap = iterate_over_heap;
	fake_ti_table.IterateThroughHeap = iterate_through_heap;
	fake_ti_table.SetTag = set_tag;
}
