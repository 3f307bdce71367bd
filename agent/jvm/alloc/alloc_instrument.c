/*
 * Adds the hooks of an exact profile to classes, and removes them.
 *
 * An exact profile needs hooks only where a class allocates arrays, which most classes do not.  So
 * the agent first examines the bytecode of each class: it starts a retransformation and abandons it
 * with an exception (capture/capture.h).  This takes tens of microseconds for each class and
 * changes nothing.  Classes that allocate arrays are then retransformed in batches; each batch is a
 * pause.  New classes get their hooks while they are loaded.
 *
 * No reference to a class is retained, because it would prevent unloading.  Instead, the tag of
 * each class shows whether the class has hooks.  A class without a tag was loaded after the last
 * sweep (alloc_instrument_sweep.c).  The end of the profile restores such a class if the class has
 * something to hook, because it may have got hooks while it was loaded.
 */
#include "jvm/alloc/alloc_instrument.h"

#include <poll.h>

#include "jvm/classes.h"
#include "jvm/instrument/hooks.h"
#include "jvm/jni_refs.h"

#define SWEEPS 3 /* maximum number of sweeps, because new classes may be loaded forever */
#define RACE_MS 100
#define OBJECT "java/lang/Object"

static int hook_object(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	struct ag_instrument_group group = ag_alloc_code_batch(jvm, ac);
	jclass class = (*jvm->jni)->FindClass(jvm->jni, OBJECT);
	uint32_t index;

	if (ag_ref_threw(jvm, "FindClass"))
		return -1;
	index = ag_alloc_code_number(jvm, ac, class, "L" OBJECT ";");
	if (index > 0) {
		ac->sweep.members[0] = index;
		__atomic_store_n(&ac->object, index, __ATOMIC_SEQ_CST);
		ac->sweep.refs[0] = class;
		ag_instrument_set_hooked(ag_instrument_class(&ac->base, index), true);
		ag_instrument_add(&group, 1);
		if (!ag_instrument_is_hooked(ag_instrument_class(&ac->base, index)))
			(void)ag_fail(jvm, "instrument java.lang.Object", "the JVM refuses it");
	}
	ag_ref_drop(jvm, class);
	return jvm->err.what || jvm->stopping ? -1 : 0;
}

static jvmtiError unhook_object(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	struct ag_instrument_group group = ag_alloc_code_batch(jvm, ac);
	jclass class = (*jvm->jni)->FindClass(jvm->jni, OBJECT);
	jvmtiError code;

	if (ag_ref_threw(jvm, "FindClass")) {
		ag_clear_error(jvm);
		class = (*jvm->jni)->FindClass(jvm->jni, OBJECT);
		if (ag_ref_threw(jvm, "FindClass"))
			return JVMTI_ERROR_OUT_OF_MEMORY;
	}
	ac->sweep.members[0] = ac->object;
	ac->sweep.refs[0] = class;
	code = ag_instrument_remove(&group, 1);
	ag_ref_drop(jvm, class);
	return code;
}

/* Sets ac->hooked to the number of classes with hooks, and marks each as AG_ALLOC_CODE_HOOKED. */
static void count(struct ag_alloc_code *ac)
{
	ac->hooked = 0;
	for (uint32_t i = AG_ALLOC_CODE_SPARE; i < ac->base.n_classes; i++) {
		struct ag_instrument_class *class = ag_instrument_class(&ac->base, i);

		if (!ag_instrument_is_hooked(class))
			continue;
		class->note |= AG_ALLOC_CODE_HOOKED;
		ac->hooked++;
	}
}

static int hook_all(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	struct ag_sweep s = { .jvm = jvm, .ac = ac };
	int rc = 0, left = SWEEPS;

	/* Sweep again for classes that were being loaded when ClassFileLoadHook was enabled. */
	do
		rc = ag_alloc_code_sweep(&s);
	while (rc == 0 && s.done > 0 && --left > 0 && !jvm->stopping);
	count(ac);
	if (rc == 0 && !jvm->stopping)
		rc = hook_object(jvm, ac);
	count(ac);
	return jvm->stopping ? -1 : rc;
}

/*
 * Asks all loaders whether they find the hooks class.  This happens before any class is changed,
 * because a loader may wait for a lock (in a deadlock, forever) and block this thread, which then
 * could not restore classes.  The first sweep asks the loaders that this function did not ask:
 * loaders that are created later, or all loaders if the classes cannot be listed here.
 */
static void ask_loaders(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	struct ag_classes classes;

	if (ag_classes_get(jvm, &classes) == 0) {
		if (ag_ref_expect(jvm, 2 * ((jint)classes.n + 64)) != 0)
			ag_clear_error(jvm);
		for (uint32_t i = 0; i < classes.n && !jvm->stopping; i++)
			(void)ag_alloc_code_ask(jvm, ac, classes.list[i]);
		ag_classes_release(jvm, &classes);
	}
	ag_clear_error(jvm);
}

static int prepare(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	if (ag_hooks_define(jvm) != 0 || ag_alloc_code_learn_loaders(jvm, ac) != 0 ||
	    ag_instrument_reserve(jvm, &ac->base, AG_ALLOC_CODE_SPARE) != 0 ||
	    ag_instrument_open(jvm, &ac->base, &ag_alloc_instrumenter) != 0)
		return -1;
	ac->hooks = ag_hooks_name();
	ac->base.n_classes = AG_ALLOC_CODE_SPARE;
	ac->sweep.most = AG_ALLOC_CODE_BATCH;
	ac->sun_unsafe = (*jvm->jni)->GetVersion(jvm->jni) < JNI_VERSION_9;
	ask_loaders(jvm, ac);
	ac->on = 1;
	if (ag_instrument_begin(jvm, &ac->base) != 0)
		return -1;
	return ag_instrument_listen(jvm, &ac->base, "begin an exact profile");
}

/*
 * Disposes of the JVMTI environment.  Call this after all classes are restored.  If a suspended
 * thread may still be in ClassFileLoadHook, sets profile->left, so that the memory that the hook
 * uses is never freed.
 */
static void close_environment(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	ag_instrument_end(jvm, &ac->base);
	if (!ag_instrument_disable_events(jvm, &ac->base))
		__atomic_store_n(&ac->profile->left, 1, __ATOMIC_SEQ_CST);
}

struct ag_alloc_code *ag_alloc_code_install(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	struct ag_alloc_code *ac = ag_jvm_alloc(jvm, 1, sizeof(*ac));
	struct ag_error why;
	jvmtiError code;

	if (!ac)
		return NULL;
	ac->profile = profile;
	if (prepare(jvm, ac) == 0 && hook_all(jvm, ac) == 0) {
		ag_alloc_code_find_old(jvm, ac);
		ag_instrument_end(jvm, &ac->base);
		return ac;
	}
	why = jvm->err;
	ag_clear_error(jvm);
	ag_instrument_end(jvm, &ac->base);
	ag_alloc_code_remove(jvm, ac, &code);
	ag_alloc_code_free(jvm, ac);
	jvm->err = why;
	return NULL;
}

void ag_alloc_code_tick(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	struct ag_sweep s = { .jvm = jvm, .ac = ac, .new_only = true };

	if (__atomic_exchange_n(&ac->loaders.skipped, 0, __ATOMIC_SEQ_CST) == 0)
		return;
	if (ag_instrument_begin(jvm, &ac->base) == 0) {
		(void)ag_alloc_code_sweep(&s); /* if it fails, the next sweep finds the classes */
		count(ac);
	}
	ag_instrument_end(jvm, &ac->base);
	ag_clear_error(jvm);
}

/*
 * Returns true if another thread may be about to install a class with hooks: the thread may be
 * loading the class, or retransforming it (JDK 8 does not lock retransformations).
 */
static bool is_any_touched(const struct ag_alloc_code *ac)
{
	int64_t loaded = __atomic_load_n(&ac->loaded.last_ns, __ATOMIC_RELAXED);

	if (loaded > 0 && ag_now_ns() - loaded < (int64_t)RACE_MS * 1000000)
		return true;
	for (uint32_t i = AG_ALLOC_CODE_SPARE; i < ac->base.n_classes; i++) {
		if (ag_instrument_is_touched(ag_instrument_class(&ac->base, i)))
			return true;
	}
	return false;
}

static jvmtiError unhook_all(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	struct ag_sweep s = { .jvm = jvm, .ac = ac, .out = true };

	for (uint32_t i = AG_ALLOC_CODE_SPARE; i < ac->base.n_classes; i++)
		ag_instrument_set_hooked(ag_instrument_class(&ac->base, i), false);
	if (ac->object)
		s.code = unhook_object(jvm, ac);
	if (ag_alloc_code_sweep(&s) != 0)
		s.code = jvm->err.code ? jvm->err.code : JVMTI_ERROR_INTERNAL;
	if (is_any_touched(ac) && !jvm->stopping) {
		(void)poll(NULL, 0, RACE_MS);
		if (ac->object &&
		    ag_instrument_is_touched(ag_instrument_class(&ac->base, ac->object)))
			(void)unhook_object(jvm, ac);
		(void)ag_alloc_code_sweep(&s);
	}
	return s.code;
}

void ag_alloc_code_remove(struct ag_jvm *jvm, struct ag_alloc_code *ac, jvmtiError *code)
{
	*code = JVMTI_ERROR_NONE;
	__atomic_store_n(&ac->on, 0, __ATOMIC_SEQ_CST);
	if (ac->base.slot && !jvm->stopping) {
		(void)ag_instrument_begin(jvm, &ac->base);
		*code = unhook_all(jvm, ac);
	}
	ag_clear_error(jvm);
	close_environment(jvm, ac);
}

void ag_alloc_code_count(const struct ag_alloc_code *ac, uint32_t *hooked, uint32_t *refused)
{
	*hooked = ac->hooked + __atomic_load_n(&ac->loaded.n, __ATOMIC_RELAXED);
	*refused = ac->refused;
}

void ag_alloc_code_free(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	ag_alloc_code_free_old(jvm, ac);
	if (ac->profile->left)
		return;
	ag_instrument_release(jvm, &ac->base);
	ag_free(jvm->mem, ac);
}
