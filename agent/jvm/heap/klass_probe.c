#include "jvm/heap/klass_probe.h"

#include "jvm/jni_refs.h"

#if UINTPTR_MAX != UINT64_MAX
#error "64-bit JVMs only"
#endif

#define ARRAYS AG_KLASS_ARRAYS
/*
 * Time limit, in ns, for finding the arrays among the roots.  Finding the arrays takes 0.3 ms in a
 * JVM with a few dozen threads, and 20 ms in one with a thousand threads.  If the limit is
 * exceeded, the caller identifies classes by their tags, which takes 15 ns more for each object.
 */
#define ROOTS_NS 50000000

enum sample { INTS, LONGS, OBJECTS, OBJECT, THREAD, CLASS, SAMPLES };
_Static_assert(SAMPLES == AG_KLASS_SAMPLES, "a sample of each kind");

/* State of a calibration by ag_klass_probe_run(). */
struct probe {
	struct ag_klass_probe *result;
	struct ag_klass_samples s;
	uint32_t seen;            /* bit i: HotSpot has reported array i */
	unsigned calls;
	int64_t give_up_ns;
	/*
	 * from_roots: the walk reports the arrays as roots, see show_arrays().
	 * over: the callback aborts the walk.
	 * done: *result is set.
	 */
	bool from_roots, over, done;
};

/* Returns the length of array i.  No other array, and no other word in a header, has this value. */
static jsize array_length(unsigned i)
{
	return (jsize)(i < ARRAYS / 2 ? 3 + i : 24 + i);
}

static jlong array_tag(unsigned i)
{
	return 1 + (jlong)i;
}

/*
 * The known layouts of an array's header:
 * - a narrow klass word, then the length;
 * - a complete Klass address, then the length;
 * - a narrow klass word within the mark word, then the length (JEP 450).
 */
static const struct layout {
	struct ag_header header;
	unsigned length_at;
} layouts[] = {
	{ { 8, 0, UINT32_MAX, false }, 12 },
	{ { 8, 3, UINT32_MAX, true }, 16 },
	{ { 0, 42, (1u << 22) - 1, false }, 8 },
};

static bool layout_fits(const struct ag_klass_samples *p, const struct layout *layout)
{
	uint32_t ints = ag_class_key(&layout->header, ag_object_of(p->arrays[0]));
	uint32_t longs = ag_class_key(&layout->header, ag_object_of(p->arrays[ARRAYS - 1]));

	if (ints == 0 || longs == 0 || ints == longs)
		return false;
	for (unsigned i = 0; i < ARRAYS; i++) {
		const char *array = ag_object_of(p->arrays[i]);
		uint32_t length;

		memcpy(&length, array + layout->length_at, sizeof(length));
		if (length != (uint32_t)array_length(i) ||
		    ag_class_key(&layout->header, array) != (i < ARRAYS / 2 ? ints : longs))
			return false;
	}
	return true;
}

static uint64_t klass_address(const struct ag_encoding *e, jclass mirror)
{
	return ag_word_at(ag_object_of(mirror) + e->mirror_offset);
}

/* Returns the key of a Klass address, or 0 if no key can represent the address. */
static uint32_t encode(const struct ag_klass_probe *probe, uint64_t address)
{
	const struct ag_encoding *e = &probe->encoding;
	uint64_t key = (address - e->base) >> e->shift;

	if (address < e->base || key << e->shift != address - e->base)
		return 0;
	if (key > probe->header.mask && !probe->header.full)
		return 0;
	return (uint32_t)key & probe->header.mask;
}

static bool encoding_fits(const struct ag_klass_samples *p,
			  const struct ag_klass_probe *result)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		const char *object = ag_object_of(p->samples[i]);
		uint64_t address = klass_address(&result->encoding, p->mirrors[i]);

		if (result->header.full && ag_word_at(object + 8) != address)
			return false;
		if (address == 0 ||
		    encode(result, address) != ag_class_key(&result->header, object))
			return false;
	}
	return true;
}

/* Finds the encoding that fits all samples.  Returns false if no or several encodings fit. */
static bool find_encoding(const struct ag_klass_samples *p, struct ag_klass_probe *result)
{
	struct ag_encoding *e = &result->encoding, found = { 0 };
	bool full = result->header.full;
	uint64_t key = ag_class_key(&result->header, ag_object_of(p->samples[0]));
	unsigned n = 0;

	for (unsigned offset = 8; offset + 8 <= (uint64_t)p->mirror_size; offset += 8) {
		/* Narrow klass words are shifted by 0 or 3 bits, in compact headers by 0 to 10. */
		for (unsigned shift = full ? 3 : 0; shift <= (full ? 3 : 10); shift++) {
			*e = (struct ag_encoding){ offset, shift, 0 };
			if (!full)
				e->base = klass_address(e, p->mirrors[0]) - (key << shift);
			if (!encoding_fits(p, result))
				continue;
			found = *e;
			n++;
		}
	}
	*e = found;
	return n == 1;
}

bool ag_klass_probe_measure(const struct ag_klass_samples *p, struct ag_klass_probe *result)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (!layout_fits(p, &layouts[i]))
			continue;
		result->header = layouts[i].header;
		n++;
	}
	return n == 1 && find_encoding(p, result);
}

/*
 * Adds to the map each class that has a key.  From JDK 24 on interfaces and abstract classes have
 * no key: HotSpot allocates their Klass at an address that no klass word can represent, because
 * they have no instances (JDK-8338526).
 */
bool ag_klass_probe_map(const struct ag_klass_probe *probe, const struct ag_classes *classes,
			struct ag_class_map *map)
{
	for (uint32_t i = 0; i < classes->n; i++) {
		uint64_t address = klass_address(&probe->encoding, classes->list[i]);
		uint32_t key = encode(probe, address);

		if (address == 0 || (key != 0 && !ag_class_map_add(map, key, i)))
			return false;
	}
	return true;
}

static bool is_thread_root(jvmtiHeapReferenceKind kind)
{
	return kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL ||
	       kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL || kind == JVMTI_HEAP_REFERENCE_THREAD;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
				 jlong class_tag, jlong referrer_class_tag, jlong size,
				 jlong *tag, jlong *referrer_tag, jint length, void *user)
{
	struct probe *p = user;
	jlong i = *tag - array_tag(0);

	(void)info, (void)class_tag, (void)referrer_class_tag, (void)referrer_tag, (void)length;
	/* After JVMTI_VISIT_ABORT, HotSpot still reports the remaining roots of the same thread. */
	if (p->over)
		return JVMTI_VISIT_ABORT;
	if (i >= 0 && i < ARRAYS) {
		p->over = !ag_wrapper_ok(tag, size) ||
			  ag_wrapped_object(tag) != ag_object_of(p->s.arrays[i]);
		p->seen |= 1u << i;
	}
	if (p->seen == UINT32_MAX && !p->over) {
		p->over = true;
		p->done = ag_klass_probe_measure(&p->s, p->result);
	}
	if (p->from_roots && (!is_thread_root(kind) ||
			      (++p->calls % 64 == 0 && ag_now_ns() > p->give_up_ns)))
		p->over = true;
	return p->over ? JVMTI_VISIT_ABORT : 0;
}

static int make_arrays(struct ag_jvm *jvm, struct ag_klass_samples *p,
		       struct ag_self_objects *own)
{
	JNIEnv *jni = jvm->jni;

	for (unsigned i = 0; i < ARRAYS; i++) {
		jobject array = i < ARRAYS / 2 ? (*jni)->NewIntArray(jni, array_length(i))
					       : (*jni)->NewLongArray(jni, array_length(i));

		if (ag_ref_threw(jvm, "NewArray") || !ag_is_plain(array) ||
		    ag_self_objects_add(jvm, own, array) != 0)
			return -1;
		p->arrays[i] = array;
	}
	return 0;
}

/* Allocates an Object[] that contains the arrays of `p`. */
static jobject make_holder(struct ag_jvm *jvm, const struct ag_klass_samples *p,
			   jclass object_class)
{
	JNIEnv *jni = jvm->jni;
	jobject holder = (*jni)->NewObjectArray(jni, ARRAYS, object_class, NULL);

	if (ag_ref_threw(jvm, "NewObjectArray"))
		return NULL;
	for (jsize i = 0; i < ARRAYS; i++) {
		(*jni)->SetObjectArrayElement(jni, holder, i, p->arrays[i]);
		if (ag_ref_threw(jvm, "SetObjectArrayElement"))
			return NULL;
	}
	return holder;
}

static int make_samples(struct ag_jvm *jvm, struct ag_klass_samples *p,
			struct ag_self_objects *own)
{
	/*
	 * Get java.lang.Object as the superclass of Thread, because FindClass might call a loader
	 * of the application.
	 */
	jobject thread = own->objects[0];
	jclass thread_class = ag_ref_class(jvm, thread);
	jclass object_class = (*jvm->jni)->GetSuperclass(jvm->jni, thread_class);

	p->samples[INTS] = p->arrays[0];
	p->samples[LONGS] = p->arrays[ARRAYS - 1];
	p->samples[THREAD] = thread;
	p->samples[CLASS] = object_class;
	p->samples[OBJECTS] = make_holder(jvm, p, object_class);
	if (!p->samples[OBJECTS] || ag_self_objects_add(jvm, own, p->samples[OBJECTS]) != 0)
		return -1;
	p->samples[OBJECT] = (*jvm->jni)->AllocObject(jvm->jni, object_class);
	if (ag_ref_threw(jvm, "AllocObject"))
		return -1;
	return ag_self_objects_add(jvm, own, p->samples[OBJECT]);
}

static int find_mirrors(struct ag_jvm *jvm, struct ag_klass_samples *p)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		jlong size;

		p->mirrors[i] = ag_ref_class(jvm, p->samples[i]);
		if (!ag_is_plain(p->samples[i]) || !ag_is_plain(p->mirrors[i]) ||
		    AG_JVMTI(jvm, GetObjectSize, p->mirrors[i], &size) != 0)
			return -1;
		if (i == 0 || size < p->mirror_size)
			p->mirror_size = size;
	}
	return 0;
}

/*
 * Makes HotSpot report the arrays to the callback.
 *
 * From JDK 21 on, HotSpot walks from the Object[] that make_holder() created; this takes 0.2 ms.
 *
 * Before JDK 21, HotSpot would walk the complete heap after that walk, to reset mark words
 * (ObjectMarker::set_needs_reset).  HotSpot does not do this if the callback aborts the walk while
 * HotSpot still reports roots.  The arrays are roots, because the agent has local references to
 * them.  So before JDK 21 the walk begins at the roots, and the callback aborts it when HotSpot has
 * reported all arrays.
 */
static int show_arrays(struct ag_jvm *jvm, struct probe *p)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_reference_callback = on_reference };
	int release = ag_jvmti_release(jvm);

	if (release < 0)
		return -1;
	p->from_roots = release < 21;
	p->give_up_ns = ag_now_ns() + ROOTS_NS;
	return AG_JVMTI(jvm, FollowReferences, 0, NULL,
			p->from_roots ? NULL : p->s.samples[OBJECTS], &callbacks, p);
}

static int tag_arrays(struct ag_jvm *jvm, const struct probe *p, bool on)
{
	for (unsigned i = 0; i < ARRAYS; i++) {
		if (AG_JVMTI(jvm, SetTag, p->s.arrays[i], on ? array_tag(i) : 0) != 0)
			return -1;
	}
	return 0;
}

int ag_klass_samples_make(struct ag_jvm *jvm, struct ag_klass_samples *samples,
			  struct ag_self_objects *own)
{
	if (ag_ref_expect(jvm, 2 * ARRAYS) != 0 || make_arrays(jvm, samples, own) != 0 ||
	    make_samples(jvm, samples, own) != 0)
		return -1;
	return find_mirrors(jvm, samples);
}

static bool probe_run(struct ag_jvm *jvm, struct probe *p, struct ag_self_objects *own)
{
	return ag_klass_samples_make(jvm, &p->s, own) == 0 &&
	       tag_arrays(jvm, p, true) == 0 && show_arrays(jvm, p) == 0 &&
	       tag_arrays(jvm, p, false) == 0 && p->done;
}

int ag_klass_probe_run(struct ag_jvm *jvm, struct ag_self_objects *own,
		       struct ag_klass_probe *probe)
{
	struct probe p = { .result = probe };

	*probe = (struct ag_klass_probe){ 0 };
	if (probe_run(jvm, &p, own))
		return 1;
	if (jvm->stopping)
		return -1;
	ag_clear_error(jvm);
	return 0;
}
