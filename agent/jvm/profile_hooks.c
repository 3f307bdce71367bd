/*
 * The natives, and the threads that call them.  The common way, of a class or a place that the
 * thread knows, asks the JVM for nothing.
 */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include <poll.h>

#include "jvm/profile_exact_state.h"

#define PROBES 64u   /* of threads */
#ifndef OFF_MS
#define OFF_MS 10000 /* until a hook that is at work is given up, with the profile's memory */
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)

struct ag_teller ag_tellers[AG_TELLERS];

/*
 * A serial in the upper half, so that no two profiles' are the same, and in the lower half how
 * often a hash has become one of two classes.  0: hooks do nothing.
 */
static uint64_t counting;
static uint32_t serial;
/* The profile whose hooks and callbacks may be at work. */
static struct ag_profile *present;
static uint64_t crowd; /* objects of threads that were too many to be told apart */

/* Threads */

static inline struct ag_teller *teller_at(uint32_t i)
{
	return &ag_tellers[i & (AG_TELLERS - 1)];
}

static inline uint32_t first_of(const JNIEnv *jni)
{
	/* 2^64 / golden ratio, as in ag_map */
	return (uint32_t)((uintptr_t)jni * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - AG_TELLERS_BITS));
}

static __attribute__((noinline)) struct ag_teller *find_teller(JNIEnv *jni)
{
	uint32_t first = first_of(jni);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct ag_teller *t = teller_at(first + i);
		JNIEnv *whose = NULL;

		if (__atomic_compare_exchange_n(&t->jni, &whose, jni, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) || whose == jni)
			return t;
	}
	return NULL;
}

static inline struct ag_teller *teller_of(JNIEnv *jni)
{
	struct ag_teller *t = teller_at(first_of(jni));

	return LIKELY(__atomic_load_n(&t->jni, __ATOMIC_RELAXED) == jni) ? t : find_teller(jni);
}

/*
 * What is set here and what is set in ag_hooks_off() are ordered with what either then looks at,
 * so that one of the two sees the other.  False: the thread is in a hook already.
 */
static inline bool come(struct ag_teller *teller)
{
	return __atomic_exchange_n(&teller->busy, 1, __ATOMIC_SEQ_CST) == 0;
}

void ag_teller_go(struct ag_teller *teller)
{
	__atomic_store_n(&teller->busy, 0, __ATOMIC_RELEASE);
}

struct ag_profile *ag_teller_come(JNIEnv *jni, struct ag_teller **teller)
{
	struct ag_profile *profile;

	if (!__atomic_load_n(&present, __ATOMIC_RELAXED))
		return NULL;
	*teller = teller_of(jni);
	if (!*teller || !come(*teller))
		return NULL;
	profile = __atomic_load_n(&present, __ATOMIC_SEQ_CST);
	if (!profile)
		ag_teller_go(*teller);
	return profile;
}

/* Beginning a hook */

/* The profile that counts, with the thread's table as it should be; NULL: not this one. */
static struct ag_profile *take_part(struct ag_teller *teller)
{
	/* in this order: as long as it counts, it is there */
	struct ag_profile *profile = __atomic_load_n(&present, __ATOMIC_SEQ_CST);
	uint64_t on = __atomic_load_n(&counting, __ATOMIC_SEQ_CST);

	if (on == 0 || !profile || teller->jni == profile->own)
		return NULL;
	if (teller->on != on && !ag_cells_settle(profile, teller, on)) {
		ag_exact_drop(profile, 1);
		return NULL;
	}
	return profile;
}

static inline bool is_on(void)
{
	return __atomic_load_n(&counting, __ATOMIC_RELAXED) != 0;
}

/* The thread, when it is in a hook from now on; until ag_teller_go(). */
static inline struct ag_teller *enter(JNIEnv *jni)
{
	struct ag_teller *teller;

	if (!is_on())
		return NULL;
	teller = teller_of(jni);
	if (LIKELY(teller && come(teller)))
		return teller;
	if (!teller)
		(void)__atomic_fetch_add(&crowd, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The thread's table, if nothing has changed since it was made. */
static inline struct ag_cells *fast_cells(const struct ag_teller *teller)
{
	uint64_t on = __atomic_load_n(&counting, __ATOMIC_SEQ_CST);

	return LIKELY(teller->on == on && on != 0) ? teller->fast : NULL;
}

static __attribute__((noinline)) void made_slowly(struct ag_teller *teller, jobject object,
						  jint hash)
{
	struct ag_profile *profile = take_part(teller);

	if (profile)
		ag_count_made(profile, teller, object, hash);
}

static __attribute__((noinline)) void array_slowly(struct ag_teller *teller, jobject array,
						   jint length, jint number)
{
	struct ag_profile *profile = take_part(teller);

	if (profile)
		ag_count_array(profile, teller, array, length, number);
}

/* The natives */

void JNICALL ag_hook_made(JNIEnv *jni, jclass hooks, jobject object, jint hash)
{
	struct ag_teller *teller = object ? enter(jni) : NULL;
	struct ag_cells *cells;

	(void)hooks;
	if (!teller)
		return;
	cells = fast_cells(teller);
	if (LIKELY(cells != NULL)) {
		struct ag_cell *cell = ag_cell_probe(cells, (uint32_t)hash);

		if (LIKELY(cell->count + 1 < cell->next)) { /* 0 of an unused one */
			AG_RELAXED_SET(cell->count, cell->count + 1);
			ag_teller_go(teller);
			return;
		}
	}
	made_slowly(teller, object, hash);
	ag_teller_go(teller);
}

void JNICALL ag_hook_array(JNIEnv *jni, jclass hooks, jobject array, jint length, jint number)
{
	struct ag_teller *teller = enter(jni);
	struct ag_cells *cells;

	(void)hooks;
	if (!teller)
		return;
	cells = fast_cells(teller);
	if (LIKELY(cells != NULL)) {
		struct ag_cell *cell = ag_cell_probe(cells, ag_key_of_place(number));

		if (LIKELY(cell->count + 1 < cell->next)) {
			uint64_t size = ag_size_of(cells->align, cell, length);

			AG_RELAXED_SET(cell->count, cell->count + 1);
			AG_RELAXED_SET(cell->bytes, cell->bytes + size);
			ag_teller_go(teller);
			return;
		}
	}
	array_slowly(teller, array, length, number);
	ag_teller_go(teller);
}

void JNICALL ag_hook_arrays(JNIEnv *jni, jclass hooks, jobject array, jint number)
{
	struct ag_teller *teller = array ? enter(jni) : NULL;
	struct ag_profile *profile;

	(void)hooks;
	if (!teller)
		return;
	profile = take_part(teller);
	if (profile)
		ag_count_arrays(profile, teller, array, number);
	ag_teller_go(teller);
}

void JNICALL ag_hook_result(JNIEnv *jni, jclass hooks, jobject result, jint number)
{
	struct ag_teller *teller = result && number > 0 ? enter(jni) : NULL;
	struct ag_profile *profile;

	(void)hooks;
	if (!teller)
		return;
	profile = take_part(teller);
	if (profile)
		ag_count_result(profile, teller, result, number);
	ag_teller_go(teller);
}

void JNICALL ag_exact_vm_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
			       jclass class, jlong size)
{
	struct ag_teller *teller;
	struct ag_profile *profile;

	(void)ti, (void)thread, (void)class, (void)size;
	/* what the VM throws: its constructor has told of it */
	if (!object || (*jni)->ExceptionCheck(jni))
		return;
	teller = enter(jni);
	if (!teller)
		return;
	profile = take_part(teller);
	if (profile)
		ag_count_vm(profile, teller, object);
	ag_teller_go(teller);
}

/* Beginning and ending */

void ag_hooks_share(struct ag_exact *exact, jint hash)
{
	uint32_t at = __atomic_fetch_add(&exact->n_shared, 1, __ATOMIC_ACQ_REL);
	uint64_t on = __atomic_load_n(&counting, __ATOMIC_RELAXED);

	if (at < AG_SHARED_MAX)
		__atomic_store_n(&exact->shared[at], (uint32_t)hash, __ATOMIC_RELEASE);
	while (on != 0 && !__atomic_compare_exchange_n(&counting, &on, on + 1, false,
						       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

void ag_hooks_open(struct ag_profile *profile)
{
	__atomic_store_n(&crowd, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&present, profile, __ATOMIC_SEQ_CST);
}

void ag_hooks_on(struct ag_profile *profile)
{
	serial = serial == INT32_MAX ? 1 : serial + 1;
	profile->exact->serial = serial;
	__atomic_store_n(&counting, (uint64_t)serial << 32, __ATOMIC_SEQ_CST);
}

static bool is_busy(void)
{
	for (uint32_t i = 0; i < AG_TELLERS; i++) {
		if (__atomic_load_n(&ag_tellers[i].busy, __ATOMIC_SEQ_CST))
			return true;
	}
	return false;
}

bool ag_hooks_idle(int ms)
{
	while (is_busy() && ms-- > 0)
		(void)poll(NULL, 0, 1);
	return !is_busy();
}

/*
 * By the profile's own thread.  While the JVM stands still, so does who is in a hook: that time
 * does not count, since any call of JNI waits as well.
 */
static bool is_left_idle(JNIEnv *own)
{
	for (int ms = 0; is_busy() && ms < OFF_MS; ms++) {
		(void)poll(NULL, 0, 1);
		(void)(*own)->ExceptionCheck(own);
	}
	return !is_busy();
}

void ag_hooks_off(struct ag_profile *profile)
{
	__atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&present, NULL, __ATOMIC_SEQ_CST);
	if (!is_left_idle(profile->own))
		__atomic_store_n(&profile->left, 1, __ATOMIC_RELEASE);
	ag_exact_drop(profile, __atomic_exchange_n(&crowd, 0, __ATOMIC_RELAXED));
}
