/*
 * Implements the native hooks of exact profiles (instrument/hook_natives.h), and the slots of the
 * threads that call these hooks.  The fast path is for classes and array sites that the thread has
 * counted before (alloc_count.c lists the exceptions); the fast path does not call the JVM.
 */
#ifndef __clang__ /* clang has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/alloc/alloc_exact_state.h"
#include "jvm/instrument/hook_natives.h"

#define PROBES 64u   /* maximum number of slots that a search for a thread's slot examines */
#define IDLE_MS 1000 /* maximum wait, when a profile begins, for hooks of an earlier profile */
/* Maximum wait for hooks when a profile ends; if they run longer, its memory is never freed. */
#define OFF_MS 10000

#define LIKELY(x) __builtin_expect(!!(x), 1)

struct ag_thread_slot ag_thread_slots[AG_THREAD_SLOTS];
#define WORDS AG_QUIESCE_WORDS(ag_thread_slots, busy)

/* The library's exact profile.  It is global because hooks have no argument that refers to it. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): `untracked` has its own cache line */
static struct {
	/*
	 * 0: hooks do nothing.  Otherwise the upper half is the serial number of the profile, so
	 * that `counting` never has the same value for two profiles; the lower half is the number
	 * of calls of ag_alloc_hooks_share().
	 */
	uint64_t counting;
	struct ag_alloc_profile *profile; /* hooks and callbacks in flight may use it */
	uint32_t serial;
	uint32_t taken; /* see ag_quiesce_claim() */
	/*
	 * Number of objects that threads without a slot allocated.  It is on another cache line
	 * than `counting`, because all hooks read `counting`, and a write would slow them down.
	 */
	uint64_t untracked __attribute__((aligned(AG_CACHE_LINE)));
} exact;

static inline struct ag_thread_slot *slot_at(uint32_t i)
{
	return &ag_thread_slots[i & (AG_THREAD_SLOTS - 1)];
}

static inline uint32_t first_of(const JNIEnv *jni)
{
	/* 2^64 / golden ratio, as in ag_class_map_probe() */
	return (uint32_t)((uintptr_t)jni * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - AG_THREAD_SLOTS_BITS));
}

static __attribute__((noinline)) struct ag_thread_slot *find_slot(JNIEnv *jni)
{
	uint32_t first = first_of(jni);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct ag_thread_slot *t = slot_at(first + i);
		JNIEnv *whose = NULL;

		if (__atomic_compare_exchange_n(&t->jni, &whose, jni, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) || whose == jni)
			return t;
	}
	return NULL;
}

static inline struct ag_thread_slot *slot_of(JNIEnv *jni)
{
	struct ag_thread_slot *t = slot_at(first_of(jni));

	return LIKELY(__atomic_load_n(&t->jni, __ATOMIC_RELAXED) == jni) ? t : find_slot(jni);
}

struct ag_alloc_profile *ag_thread_slot_enter(JNIEnv *jni, struct ag_thread_slot **slot)
{
	struct ag_alloc_profile *profile;

	if (!__atomic_load_n(&exact.profile, __ATOMIC_RELAXED))
		return NULL;
	*slot = slot_of(jni);
	if (!*slot || !ag_quiesce_enter_thread(&(*slot)->busy))
		return NULL;
	profile = AG_QUIESCE_LOOK(&exact.profile);
	if (!profile)
		ag_thread_slot_leave(*slot);
	return profile;
}

/*
 * Updates the thread's table if necessary, and returns the profile.  Returns NULL if the objects of
 * this thread are not counted.
 */
static struct ag_alloc_profile *active_profile(struct ag_thread_slot *slot)
{
	/*
	 * Check both, because the session changes them one after the other: it sets `profile` first
	 * and clears `counting` first.
	 */
	struct ag_alloc_profile *profile = AG_QUIESCE_LOOK(&exact.profile);
	uint64_t on = AG_QUIESCE_LOOK(&exact.counting);

	if (on == 0 || !profile || slot->jni == profile->own)
		return NULL;
	if (slot->on != on && !ag_thread_counts_refresh(profile, slot, on)) {
		ag_exact_drop(profile, 1);
		return NULL;
	}
	return profile;
}

static inline bool is_on(void)
{
	return __atomic_load_n(&exact.counting, __ATOMIC_RELAXED) != 0;
}

/*
 * Enters a hook.  Returns the thread's slot, which the caller leaves with ag_thread_slot_leave();
 * or NULL if the hook must do nothing.
 */
static inline struct ag_thread_slot *enter(JNIEnv *jni)
{
	struct ag_thread_slot *slot;

	if (!is_on())
		return NULL;
	slot = slot_of(jni);
	if (LIKELY(slot && ag_quiesce_enter_thread(&slot->busy)))
		return slot;
	if (!slot)
		(void)__atomic_fetch_add(&exact.untracked, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Returns the thread's table for the fast path; NULL: the thread must take the slow path. */
static inline struct ag_thread_counts *fast_cells(const struct ag_thread_slot *slot)
{
	uint64_t on = AG_QUIESCE_LOOK(&exact.counting);

	return LIKELY(slot->on == on && on != 0) ? slot->fast : NULL;
}

static __attribute__((noinline)) void slow_object(struct ag_thread_slot *slot, jobject object,
						  jint hash)
{
	struct ag_alloc_profile *profile = active_profile(slot);

	if (profile)
		ag_count_object(profile, slot, object, hash);
}

static __attribute__((noinline)) void slow_array(struct ag_thread_slot *slot, jobject array,
						 jint length, jint number)
{
	struct ag_alloc_profile *profile = active_profile(slot);

	if (profile)
		ag_count_array(profile, slot, array, length, number);
}

void JNICALL ag_hook_made(JNIEnv *jni, jclass hooks, jobject object, jint hash)
{
	struct ag_thread_slot *slot = object ? enter(jni) : NULL;
	struct ag_thread_counts *cells;

	(void)hooks;
	if (!slot)
		return;
	cells = fast_cells(slot);
	if (LIKELY(cells != NULL)) {
		struct ag_count_cell *cell = ag_count_cell_probe(cells, (uint32_t)hash);

		if (LIKELY(cell->count + 1 < cell->next)) {
			/* The condition is false for an unused cell, whose `next` is 0. */
			AG_RELAXED_SET(cell->count, cell->count + 1);
			ag_thread_slot_leave(slot);
			return;
		}
	}
	slow_object(slot, object, hash);
	ag_thread_slot_leave(slot);
}

void JNICALL ag_hook_array(JNIEnv *jni, jclass hooks, jobject array, jint length, jint number)
{
	struct ag_thread_slot *slot = enter(jni);
	struct ag_thread_counts *cells;

	(void)hooks;
	if (!slot)
		return;
	cells = fast_cells(slot);
	if (LIKELY(cells != NULL)) {
		struct ag_count_cell *cell =
			ag_count_cell_probe(cells, ag_key_of_array_site(number));

		if (LIKELY(cell->count + 1 < cell->next)) {
			uint64_t size = ag_size_of(cells->align, cell, length);

			AG_RELAXED_SET(cell->count, cell->count + 1);
			AG_RELAXED_SET(cell->bytes, cell->bytes + size);
			ag_thread_slot_leave(slot);
			return;
		}
	}
	slow_array(slot, array, length, number);
	ag_thread_slot_leave(slot);
}

void JNICALL ag_hook_arrays(JNIEnv *jni, jclass hooks, jobject array, jint number)
{
	struct ag_thread_slot *slot = array ? enter(jni) : NULL;
	struct ag_alloc_profile *profile;

	(void)hooks;
	if (!slot)
		return;
	profile = active_profile(slot);
	if (profile)
		ag_count_arrays(profile, slot, array, number);
	ag_thread_slot_leave(slot);
}

void JNICALL ag_hook_result(JNIEnv *jni, jclass hooks, jobject result, jint number)
{
	struct ag_thread_slot *slot = result && number > 0 ? enter(jni) : NULL;
	struct ag_alloc_profile *profile;

	(void)hooks;
	if (!slot)
		return;
	profile = active_profile(slot);
	if (profile)
		ag_count_result(profile, slot, result, number);
	ag_thread_slot_leave(slot);
}

void JNICALL ag_exact_vm_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
			       jclass class, jlong size)
{
	struct ag_thread_slot *slot;
	struct ag_alloc_profile *profile;

	(void)ti, (void)thread, (void)class, (void)size;
	/*
	 * If an exception is pending, `object` is that exception.  Its constructor has run, so the
	 * hook in the constructor of java.lang.Object has counted `object` already.
	 */
	if (!object || (*jni)->ExceptionCheck(jni))
		return;
	slot = enter(jni);
	if (!slot)
		return;
	profile = active_profile(slot);
	if (profile)
		ag_count_vm(profile, slot, object);
	ag_thread_slot_leave(slot);
}

void ag_alloc_hooks_share(struct ag_exact *owner, jint hash)
{
	uint32_t at = __atomic_fetch_add(&owner->n_shared, 1, __ATOMIC_ACQ_REL);
	uint64_t on = __atomic_load_n(&exact.counting, __ATOMIC_RELAXED);

	if (at < AG_SHARED_MAX)
		__atomic_store_n(&owner->shared[at], (uint32_t)hash, __ATOMIC_RELEASE);
	while (on != 0 && !__atomic_compare_exchange_n(&exact.counting, &on, on + 1, false,
						       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

int ag_alloc_hooks_take(struct ag_jvm *jvm)
{
	if (!ag_quiesce_claim(&exact.taken, (struct ag_quiesce_words){ 0 }))
		return ag_fail(jvm, "count every allocation",
			       "another jtool alloc --exact or recording is running: wait until it "
			       "has ended");
	if (ag_quiesce_wait(WORDS, jvm->jni, IDLE_MS))
		return 0;
	ag_alloc_hooks_give_back();
	return ag_fail(jvm, "count every allocation",
		       "a suspended thread is still in a hook of an earlier profile; try again "
		       "when it runs");
}

void ag_alloc_hooks_give_back(void)
{
	ag_quiesce_release(&exact.taken);
}

void ag_alloc_hooks_open(struct ag_alloc_profile *profile)
{
	__atomic_store_n(&exact.untracked, 0, __ATOMIC_RELAXED);
	AG_QUIESCE_SET(&exact.profile, profile);
}

void ag_alloc_hooks_on(struct ag_alloc_profile *profile)
{
	exact.serial = exact.serial == INT32_MAX ? 1 : exact.serial + 1;
	profile->exact->serial = exact.serial;
	AG_QUIESCE_SET(&exact.counting, (uint64_t)exact.serial << 32);
}

void ag_alloc_hooks_off(struct ag_alloc_profile *profile)
{
	AG_QUIESCE_SET(&exact.counting, 0);
	AG_QUIESCE_SET(&exact.profile, NULL);
	if (!ag_quiesce_wait(WORDS, profile->own, OFF_MS))
		__atomic_store_n(&profile->left, 1, __ATOMIC_RELEASE);
	ag_exact_drop(profile, __atomic_exchange_n(&exact.untracked, 0, __ATOMIC_RELAXED));
}
