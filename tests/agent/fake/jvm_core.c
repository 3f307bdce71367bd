#include "agent/fake/jvm_core.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64 /* threads of a test program that create local references */
#define REFS_MAX 16384
#define FRAMES_MAX 16

struct fake_jvm fake;

bool fake_fails(void)
{
	return __atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED) == fake.fail_at &&
	       !fake.leaving;
}

bool fake_throws(void)
{
	if (fake.exception)
		ck_abort_msg("a call with an exception pending");
	if (fake_fails())
		fake.exception = true;
	return fake.exception;
}

/*
 * A thread that enters the JVM may be suspended by a debugger for any time: it must not hold a lock
 * that a hook on the debugger's own thread waits for.
 */
static void enter_jvm(void)
{
	if (fake.brief_locks)
		ck_abort_msg("a call with a lock that hooks wait for");
}

jvmtiError fake_ti_fails(void)
{
	bool now = fake_fails();

	enter_jvm();
	if (fake.leaving && fake.fail_at && fake.calls >= fake.fail_at)
		return JVMTI_ERROR_WRONG_PHASE;
	return now ? JVMTI_ERROR_OUT_OF_MEMORY : JVMTI_ERROR_NONE;
}

void fake_mark(void)
{
	fake.marked = fake.counts;
}

void fake_nothing_left(void)
{
	ck_assert(!fake.exception);
	ck_assert_int_eq(fake.counts.blocks, fake.marked.blocks);
	ck_assert_int_eq(fake.counts.references, fake.marked.references);
	ck_assert_int_eq(fake.counts.frames, fake.marked.frames);
	ck_assert_int_eq(fake.counts.globals, fake.marked.globals);
	ck_assert_int_eq(fake.counts.weak, fake.marked.weak);
	ck_assert_int_eq(fake.counts.monitors, fake.marked.monitors);
	ck_assert_int_eq(fake.counts.environments, fake.marked.environments);
	ck_assert_int_eq(fake.counts.tags, fake.marked.tags);
	ck_assert_int_eq(fake.locks, 0);
	ck_assert_int_eq(fake.brief_locks, 0);
	ck_assert_uint_eq(fake.loading, 0);
}

struct fake_object *fake_plain(struct fake_object *class)
{
	static struct fake_object plain_class = { .signature = "Lplain;" }, plain[64];
	static unsigned next;
	struct fake_object *o = &plain[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % 64];

	*o = (struct fake_object){ .class = class ? class : &plain_class };
	return o;
}

/* Memory.  The compiler would turn malloc() with memset() into calloc(), which is wrapped. */

void *fake_zeroed(size_t size)
{
	void *p;

	if (posix_memalign(&p, sizeof(jlong), size ? size : 1) != 0)
		abort();
	return memset(p, 0, size ? size : 1);
}

void *fake_block(size_t size)
{
	fake_add(&fake.counts.blocks, 1);
	return fake_zeroed(size);
}

char *fake_text(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(fake_block(size), text, size);
}

static jvmtiError JNICALL allocate(jvmtiEnv *ti, jlong size, unsigned char **p)
{
	(void)ti;
	FAKE_TI_FAILS();
	*p = fake_block((size_t)size);
	return JVMTI_ERROR_NONE;
}

/* Frees the block even if the call fails: the agent cannot do more about the block. */
static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *p)
{
	(void)ti;
	fake_add(&fake.counts.blocks, -(p != NULL));
	free(p);
	return fake_fails() ? JVMTI_ERROR_INTERNAL : JVMTI_ERROR_NONE;
}

/* References.  A slot is not used again soon, so that the use of a deleted reference fails. */

typedef const struct fake_object *slot_t; /* the address after the object; NULL: deleted */

static slot_t locals[THREADS_MAX][REFS_MAX], globals[REFS_MAX], weak[REFS_MAX];
static unsigned n_threads;
static __thread slot_t *refs;
static __thread size_t n_refs, n_frames, frames[FRAMES_MAX];

static size_t bottom_of_frame(void)
{
	return n_frames ? frames[n_frames - 1] : 0;
}

/* Frees the deleted slots at the end of the innermost frame. */
static void free_slots(void)
{
	while (n_refs > bottom_of_frame() && !refs[n_refs - 1])
		n_refs--;
}

jobject fake_ref(const struct fake_object *object)
{
	if (!object)
		return NULL;
	if (!refs)
		refs = locals[__atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED)];
	if (refs >= locals[THREADS_MAX])
		ck_abort_msg("too many threads");
	if (n_refs == REFS_MAX)
		ck_abort_msg("too many local references");
	refs[n_refs] = object + 1;
	fake_add(&fake.counts.references, 1);
	return (jobject)((char *)&refs[n_refs++] + fake.odd_references);
}

static bool is_in(const slot_t *slot, const slot_t *table, size_t n)
{
	return slot >= table && slot < table + n;
}

/* Returns NULL if `ref` is not a slot but the address of an object. */
static slot_t *slot_of(jobject ref)
{
	slot_t *slot = (slot_t *)((uintptr_t)ref & ~(uintptr_t)7);

	enter_jvm();
	if (!slot)
		ck_abort_msg("a reference is NULL");
	if (!is_in(slot, locals[0], sizeof(locals) / sizeof(slot_t)) &&
	    !is_in(slot, globals, REFS_MAX) && !is_in(slot, weak, REFS_MAX))
		return NULL;
	if (!*slot)
		ck_abort_msg("a reference was deleted before");
	return slot;
}

struct fake_object *fake_object_of(jobject ref)
{
	slot_t *slot = slot_of(ref);

	return slot ? (struct fake_object *)(uintptr_t)(*slot - 1) : (struct fake_object *)ref;
}

void fake_each_ref(void (*take)(void *arg, struct fake_object *object), void *arg)
{
	for (size_t i = 0; i < n_refs; i++) {
		if (refs[i])
			take(arg, fake_object_of((jobject)&refs[i]));
	}
}

/* Returns true for a weak reference to a class that was unloaded. */
static bool is_cleared(jobject ref)
{
	slot_t *slot = slot_of(ref);

	return slot && is_in(slot, weak, REFS_MAX) && fake_object_of(ref)->unloaded;
}

static void delete(jobject ref, const slot_t *table, size_t n, long *count)
{
	slot_t *slot = slot_of(ref);

	if (!slot || !is_in(slot, table, n))
		ck_abort_msg("a reference is of another kind");
	__atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
	fake_add(count, -1);
}

static void JNICALL delete_local_ref(JNIEnv *jni, jobject ref)
{
	(void)jni;
	if (ref)
		delete(ref, locals[0], sizeof(locals) / sizeof(slot_t), &fake.counts.references);
	if (n_refs > REFS_MAX / 2)
		free_slots();
}

static void JNICALL delete_global_ref(JNIEnv *jni, jobject ref)
{
	(void)jni;
	delete(ref, globals, REFS_MAX, &fake.counts.globals);
}

static void JNICALL delete_weak_global_ref(JNIEnv *jni, jweak ref)
{
	(void)jni;
	delete(ref, weak, REFS_MAX, &fake.counts.weak);
}

static jobject new_global(slot_t *table, jobject ref, long *count)
{
	static unsigned next;

	if (fake_throws())
		return NULL;
	for (unsigned i = 0; i < REFS_MAX; i++) {
		slot_t *slot =
			&table[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % REFS_MAX];
		slot_t empty = NULL;

		if (__atomic_compare_exchange_n(slot, &empty, fake_object_of(ref) + 1, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			fake_add(count, 1);
			return (jobject)slot;
		}
	}
	ck_abort_msg("too many global references");
}

static jobject JNICALL new_global_ref(JNIEnv *jni, jobject ref)
{
	(void)jni;
	return new_global(globals, ref, &fake.counts.globals);
}

static jweak JNICALL new_weak_global_ref(JNIEnv *jni, jobject ref)
{
	(void)jni;
	return new_global(weak, ref, &fake.counts.weak);
}

/* Never fails for a weak reference: NULL then means that the class was unloaded. */
static jobject JNICALL new_local_ref(JNIEnv *jni, jobject ref)
{
	slot_t *slot = slot_of(ref);

	(void)jni;
	if (slot && is_in(slot, weak, REFS_MAX)) {
		if (fake.weak_fails_at > 0 && --fake.weak_fails_at == 0)
			return NULL;
		return is_cleared(ref) ? NULL : fake_ref(fake_object_of(ref));
	}
	return fake_fails() ? NULL : fake_ref(fake_object_of(ref));
}

static jboolean JNICALL is_same_object(JNIEnv *jni, jobject a, jobject b)
{
	const struct fake_object *first = a && !is_cleared(a) ? fake_object_of(a) : NULL;
	const struct fake_object *second = b && !is_cleared(b) ? fake_object_of(b) : NULL;

	(void)jni;
	return first == second;
}

static jint JNICALL push_local_frame(JNIEnv *jni, jint capacity)
{
	(void)jni, (void)capacity;
	if (fake_throws())
		return JNI_ENOMEM;
	if (n_frames == FRAMES_MAX)
		ck_abort_msg("too many local frames");
	free_slots();
	frames[n_frames++] = n_refs;
	fake_add(&fake.counts.frames, 1);
	return JNI_OK;
}

static jobject JNICALL pop_local_frame(JNIEnv *jni, jobject result)
{
	(void)jni;
	if (n_frames == 0 || result)
		ck_abort_msg("no local frame, or one with a result");
	for (size_t i = bottom_of_frame(); i < n_refs; i++) {
		if (refs[i] && fake.frames_are_empty)
			ck_abort_msg("a local frame has references");
		fake_add(&fake.counts.references, -(refs[i] != NULL));
		refs[i] = NULL;
	}
	n_refs = bottom_of_frame();
	n_frames--;
	fake_add(&fake.counts.frames, -1);
	return NULL;
}

/* Accepts a pending exception: a hook may run while the exception of an earlier hook is pending. */
static jint JNICALL ensure_local_capacity(JNIEnv *jni, jint capacity)
{
	(void)jni;
	if (capacity < 0)
		ck_abort_msg("HotSpot rejects a negative capacity");
	if (!fake_fails())
		return JNI_OK;
	fake.exception = true;
	return JNI_ENOMEM;
}

/* Exceptions */

static jboolean JNICALL exception_check(JNIEnv *jni)
{
	(void)jni;
	return fake.exception;
}

static void JNICALL exception_clear(JNIEnv *jni)
{
	(void)jni;
	if (fake.exception)
		fake.exception = false;
}

/* Never fails.  check_capture.c has its own function, which fails. */
static jint JNICALL throw(JNIEnv *jni, jthrowable thrown)
{
	(void)jni;
	fake.thrown = fake_object_of(thrown);
	fake.exception = true;
	return JNI_OK;
}

static jint JNICALL get_version(JNIEnv *jni)
{
	(void)jni;
	return fake.release == 1 ? JNI_VERSION_1_8 : JNI_VERSION_10;
}

static jvmtiError JNICALL get_version_number(jvmtiEnv *ti, jint *version)
{
	(void)ti;
	FAKE_TI_FAILS();
	*version = 0x30000000 | fake.release << JVMTI_VERSION_SHIFT_MAJOR;
	return JVMTI_ERROR_NONE;
}

struct JNINativeInterface_ fake_jni_table = {
	.DeleteGlobalRef = delete_global_ref,
	.DeleteLocalRef = delete_local_ref,
	.DeleteWeakGlobalRef = delete_weak_global_ref,
	.EnsureLocalCapacity = ensure_local_capacity,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
	.GetVersion = get_version,
	.IsSameObject = is_same_object,
	.NewGlobalRef = new_global_ref,
	.NewLocalRef = new_local_ref,
	.NewWeakGlobalRef = new_weak_global_ref,
	.PopLocalFrame = pop_local_frame,
	.PushLocalFrame = push_local_frame,
	.Throw = throw,
};

jvmtiInterface_1 fake_ti_table = {
	.Allocate = allocate,
	.Deallocate = deallocate,
	.GetVersionNumber = get_version_number,
};

static JNIEnv threads[FAKE_THREADS] = { [0 ... FAKE_THREADS - 1] = &fake_jni_table };

JNIEnv *fake_jni(unsigned thread)
{
	return &threads[thread];
}

unsigned fake_thread_of(const JNIEnv *jni)
{
	return (unsigned)(jni - threads);
}
