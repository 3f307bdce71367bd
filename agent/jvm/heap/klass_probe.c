#include "jvm/calib.h"

#include "jvm/ref.h"

#if UINTPTR_MAX != UINT64_MAX
#error "64-bit JVMs only"
#endif

#define ARRAYS 32
/*
 * Looking for our arrays among the roots may take this long.  It takes 0.3 ms with a few dozen
 * threads and 20 ms with a thousand; counting by tags would cost 15 ns more for each object.
 */
#define ROOTS_NS 50000000

enum sample { INTS, LONGS, OBJECTS, OBJECT, THREAD, CLASS, SAMPLES };

struct probe {
	struct ag_calib *calib;
	jobject arrays[ARRAYS];   /* the first half int[], the second long[] */
	jobject samples[SAMPLES]; /* objects of as many classes */
	jclass mirrors[SAMPLES];  /* and their java.lang.Class */
	jlong mirror_size;        /* of the smallest of these */
	uint32_t seen;            /* a bit for each array that was seen where it should be */
	unsigned calls;
	int64_t give_up_ns;
	bool from_roots, over, done;
};

/* No two alike, and none that a header word could be mistaken for. */
static jsize array_length(unsigned i)
{
	return (jsize)(i < ARRAYS / 2 ? 3 + i : 24 + i);
}

static jlong array_tag(unsigned i)
{
	return 1 + (jlong)i;
}

/* Narrow klass with the array length behind it; full klass; klass in the mark word (JEP 450). */
static const struct layout {
	struct ag_header header;
	unsigned length_at;
} layouts[] = {
	{ { 8, 0, UINT32_MAX, false }, 12 },
	{ { 8, 3, UINT32_MAX, true }, 16 },
	{ { 0, 42, (1u << 22) - 1, false }, 8 },
};

static bool layout_fits(const struct probe *p, const struct layout *layout)
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

/* The key of a Klass address; 0: it has none. */
static uint32_t encode(const struct ag_calib *calib, uint64_t address)
{
	const struct ag_encoding *e = &calib->encoding;
	uint64_t key = (address - e->base) >> e->shift;

	if (address < e->base || key << e->shift != address - e->base)
		return 0;
	if (key > calib->header.mask && !calib->header.full)
		return 0;
	return (uint32_t)key & calib->header.mask;
}

static bool encoding_fits(const struct probe *p)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		const char *object = ag_object_of(p->samples[i]);
		uint64_t address = klass_address(&p->calib->encoding, p->mirrors[i]);

		if (p->calib->header.full && ag_word_at(object + 8) != address)
			return false;
		if (address == 0 ||
		    encode(p->calib, address) != ag_class_key(&p->calib->header, object))
			return false;
	}
	return true;
}

/* The one encoding that fits; false: none, or several. */
static bool find_encoding(struct probe *p)
{
	struct ag_encoding *e = &p->calib->encoding, found = { 0 };
	bool full = p->calib->header.full;
	uint64_t key = ag_class_key(&p->calib->header, ag_object_of(p->samples[0]));
	unsigned n = 0;

	for (unsigned offset = 8; offset + 8 <= (uint64_t)p->mirror_size; offset += 8) {
		/* Narrow klass words are shifted by 0 or 3, in compact headers by up to 10. */
		for (unsigned shift = full ? 3 : 0; shift <= (full ? 3 : 10); shift++) {
			*e = (struct ag_encoding){ offset, shift, 0 };
			if (!full)
				e->base = klass_address(e, p->mirrors[0]) - (key << shift);
			if (!encoding_fits(p))
				continue;
			found = *e;
			n++;
		}
	}
	*e = found;
	return n == 1;
}

/* All arrays were seen; the JVM still stands, so every object stays where it is. */
static bool measure(struct probe *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (!layout_fits(p, &layouts[i]))
			continue;
		p->calib->header = layouts[i].header;
		n++;
	}
	return n == 1 && find_encoding(p);
}

/*
 * A class without a key is left out: from JDK 24 the Klass of an interface or abstract
 * class lies where no klass word reaches (JDK-8338526), for it never has instances.  Should an
 * instance turn up nevertheless, the walk finds its class another way.
 */
bool ag_calib_map(const struct ag_calib *calib, const struct ag_classes *classes,
		  struct ag_map *map)
{
	for (uint32_t i = 0; i < classes->n; i++) {
		uint64_t address = klass_address(&calib->encoding, classes->list[i]);
		uint32_t key = encode(calib, address);

		if (address == 0 || (key != 0 && !ag_map_add(map, key, i)))
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
	/* Among a thread's roots HotSpot heeds the abort only when it comes to the next thread. */
	if (p->over)
		return JVMTI_VISIT_ABORT;
	if (i >= 0 && i < ARRAYS) {
		p->over = !ag_wrapper_ok(tag, size) ||
			  ag_wrapped_object(tag) != ag_object_of(p->arrays[i]);
		p->seen |= 1u << i;
	}
	if (p->seen == UINT32_MAX && !p->over) {
		p->over = true;
		p->done = measure(p);
	}
	if (p->from_roots && (!is_thread_root(kind) ||
			      (++p->calls % 64 == 0 && ag_now_ns() > p->give_up_ns)))
		p->over = true;
	return p->over ? JVMTI_VISIT_ABORT : 0;
}

static int make_arrays(struct ag_jvm *jvm, struct probe *p, struct ag_own *own)
{
	JNIEnv *jni = jvm->jni;

	for (unsigned i = 0; i < ARRAYS; i++) {
		jobject array = i < ARRAYS / 2 ? (*jni)->NewIntArray(jni, array_length(i))
					       : (*jni)->NewLongArray(jni, array_length(i));

		if (ag_ref_threw(jvm, "NewArray") || !ag_is_plain(array) ||
		    ag_own_add(jvm, own, array) != 0)
			return -1;
		p->arrays[i] = array;
	}
	return 0;
}

/* An object array with all arrays in it. */
static jobject make_holder(struct ag_jvm *jvm, const struct probe *p, jclass object_class)
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

static int make_samples(struct ag_jvm *jvm, struct probe *p, struct ag_own *own)
{
	/* Thread extends Object.  FindClass would ask the application's loader instead. */
	jobject thread = own->objects[0];
	jclass thread_class = ag_ref_class(jvm, thread);
	jclass object_class = (*jvm->jni)->GetSuperclass(jvm->jni, thread_class);

	p->samples[INTS] = p->arrays[0];
	p->samples[LONGS] = p->arrays[ARRAYS - 1];
	p->samples[THREAD] = thread;
	p->samples[CLASS] = object_class;
	p->samples[OBJECTS] = make_holder(jvm, p, object_class);
	if (!p->samples[OBJECTS] || ag_own_add(jvm, own, p->samples[OBJECTS]) != 0)
		return -1;
	p->samples[OBJECT] = (*jvm->jni)->AllocObject(jvm->jni, object_class);
	if (ag_ref_threw(jvm, "AllocObject"))
		return -1;
	return ag_own_add(jvm, own, p->samples[OBJECT]);
}

static int find_mirrors(struct ag_jvm *jvm, struct probe *p)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		jlong size;

		p->mirrors[i] = ag_ref_class(jvm, p->samples[i]);
		if (!ag_is_plain(p->samples[i]) || !ag_is_plain(p->mirrors[i]) ||
		    AG_TI(jvm, GetObjectSize, p->mirrors[i], &size) != 0)
			return -1;
		if (i == 0 || size < p->mirror_size)
			p->mirror_size = size;
	}
	return 0;
}

/*
 * Show the arrays to the callback.  From JDK 21 following an array of them costs 0.2 ms.  Before,
 * any walk along references is undone by a walk over the whole heap, unless it ends among the
 * roots (ObjectMarker::set_needs_reset): there our local references are.
 */
static int show_arrays(struct ag_jvm *jvm, struct probe *p)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_reference_callback = on_reference };
	int release = ag_ti_release(jvm);

	if (release < 0)
		return -1;
	p->from_roots = release < 21;
	p->give_up_ns = ag_now_ns() + ROOTS_NS;
	return AG_TI(jvm, FollowReferences, 0, NULL, p->from_roots ? NULL : p->samples[OBJECTS],
		     &callbacks, p);
}

static int tag_arrays(struct ag_jvm *jvm, const struct probe *p, bool on)
{
	for (unsigned i = 0; i < ARRAYS; i++) {
		if (AG_TI(jvm, SetTag, p->arrays[i], on ? array_tag(i) : 0) != 0)
			return -1;
	}
	return 0;
}

static bool probe_run(struct ag_jvm *jvm, struct probe *p, struct ag_own *own)
{
	return ag_ref_expect(jvm, 2 * ARRAYS) == 0 && make_arrays(jvm, p, own) == 0 &&
	       make_samples(jvm, p, own) == 0 && find_mirrors(jvm, p) == 0 &&
	       tag_arrays(jvm, p, true) == 0 && show_arrays(jvm, p) == 0 &&
	       tag_arrays(jvm, p, false) == 0 && p->done;
}

int ag_calibrate(struct ag_jvm *jvm, struct ag_own *own, struct ag_calib *calib)
{
	struct probe p = { .calib = calib };

	*calib = (struct ag_calib){ 0 };
	if (probe_run(jvm, &p, own))
		return 1;
	if (jvm->stopping)
		return -1;
	ag_forgive(jvm);
	return 0;
}
