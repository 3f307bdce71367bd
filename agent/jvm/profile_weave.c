/*
 * Classes get hooks, and lose them again.
 *
 * Most classes make no array and stay as they are: each is looked at first, by a retransformation
 * that is abandoned (capture.h), which costs tens of microseconds and leaves nothing.  The others
 * are retransformed in batches, each a pause of its own.  New classes get their hooks as they are
 * loaded.
 *
 * No reference to a class is kept, which would keep it from being unloaded: which ones have
 * hooks is told by their tags, when all are listed.  Of those without a tag, which were loaded
 * since, whatever would get hooks is taken for one that did.
 */
#include "jvm/profile_weave.h"

#include <poll.h>

#include "jvm/classes.h"
#include "jvm/ref.h"
#include "jvm/trace.h"
#include "jvm/trace_state.h"

#define SWEEPS 3 /* classes may be loaded all the time */
#define LAST_WORD_MS 100
#define OBJECT "java/lang/Object"

/* The one class that every other one is built on. */
static int hook_object(struct ag_jvm *jvm, struct ag_weaving *w)
{
	struct ag_weave_group group = ag_weaving_batch(jvm, w);
	jclass class = (*jvm->jni)->FindClass(jvm->jni, OBJECT);
	uint32_t index;

	if (ag_ref_threw(jvm, "FindClass"))
		return -1;
	index = ag_weaving_number(jvm, w, class, "L" OBJECT ";");
	if (index > 0) {
		w->members[0] = index;
		__atomic_store_n(&w->object, index, __ATOMIC_SEQ_CST);
		w->refs[0] = class;
		ag_weave_set_hooked(ag_weave_class(&w->weave, index), true);
		ag_weave_in(&group, 1);
		if (!ag_weave_is_hooked(ag_weave_class(&w->weave, index)))
			(void)ag_fail(jvm, "instrument java.lang.Object", "the JVM refuses it");
	}
	ag_ref_drop(jvm, class);
	return jvm->err.what || jvm->stopping ? -1 : 0;
}

static jvmtiError unhook_object(struct ag_jvm *jvm, struct ag_weaving *w)
{
	struct ag_weave_group group = ag_weaving_batch(jvm, w);
	jclass class = (*jvm->jni)->FindClass(jvm->jni, OBJECT);
	jvmtiError code;

	if (ag_ref_threw(jvm, "FindClass")) {
		ag_forgive(jvm);
		class = (*jvm->jni)->FindClass(jvm->jni, OBJECT);
		if (ag_ref_threw(jvm, "FindClass"))
			return JVMTI_ERROR_OUT_OF_MEMORY;
	}
	w->members[0] = w->object;
	w->refs[0] = class;
	code = ag_weave_out(&group, 1);
	ag_ref_drop(jvm, class);
	return code;
}

/* In: what the sweep found before, the JVM has taken, or not. */
static void count(struct ag_weaving *w)
{
	w->hooked = 0;
	for (uint32_t i = AG_WEAVING_SPARE; i < w->weave.n_classes; i++) {
		struct ag_weave_class *class = ag_weave_class(&w->weave, i);

		if (!ag_weave_is_hooked(class))
			continue;
		class->note |= AG_WEAVING_WOVEN;
		w->hooked++;
	}
}

static int hook_all(struct ag_jvm *jvm, struct ag_weaving *w)
{
	struct ag_sweep s = { .jvm = jvm, .w = w };
	int rc = 0, left = SWEEPS;

	/* Those that were being loaded when the first began to listen are met in the next. */
	do
		rc = ag_weaving_sweep(&s);
	while (rc == 0 && s.done > 0 && --left > 0 && !jvm->stopping);
	count(w);
	if (rc == 0 && !jvm->stopping)
		rc = hook_object(jvm, w);
	count(w);
	return jvm->stopping ? -1 : rc;
}

/*
 * Before anything is changed: a loader that waits for a lock, in a deadlock for ever, keeps us
 * until it has that.  Those that are new until the first sweep, or all if there is no list of
 * classes, are asked then.
 */
static void ask_loaders(struct ag_jvm *jvm, struct ag_weaving *w)
{
	struct ag_classes classes;

	if (ag_classes_get(jvm, &classes) == 0) {
		if (ag_ref_expect(jvm, 2 * ((jint)classes.n + 64)) != 0)
			ag_forgive(jvm);
		for (uint32_t i = 0; i < classes.n && !jvm->stopping; i++)
			(void)ag_weaving_ask(jvm, w, classes.list[i]);
		ag_classes_release(jvm, &classes);
	}
	ag_forgive(jvm);
}

static int prepare(struct ag_jvm *jvm, struct ag_weaving *w)
{
	if (ag_hooks_define(jvm) != 0 || ag_weaving_learn_loaders(jvm, w) != 0 ||
	    ag_weave_reserve(jvm, &w->weave, AG_WEAVING_SPARE) != 0 ||
	    ag_weave_open(jvm, &w->weave, &ag_profile_weaver) != 0)
		return -1;
	w->hooks = ag_trace_hooks();
	for (size_t i = 0; i < sizeof(w->hooks_name) - 1 && w->hooks[i]; i++)
		w->hooks_name[i] = w->hooks[i] == '/' ? '.' : w->hooks[i];
	w->weave.n_classes = AG_WEAVING_SPARE;
	w->sun_unsafe = (*jvm->jni)->GetVersion(jvm->jni) < JNI_VERSION_9;
	ask_loaders(jvm, w);
	w->on = 1;
	if (ag_weave_begin(jvm, &w->weave) != 0)
		return -1;
	return ag_weave_listen(jvm, &w->weave, "begin an exact profile");
}

/* Classes are as they were.  What a suspended thread looks at is left to it. */
static void close_weave(struct ag_jvm *jvm, struct ag_weaving *w)
{
	ag_weave_end(jvm, &w->weave);
	if (!ag_weave_deafen(&w->weave))
		__atomic_store_n(&w->profile->left, 1, __ATOMIC_SEQ_CST);
}

struct ag_weaving *ag_weaving_in(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct ag_weaving *w = ag_jvm_alloc(jvm, 1, sizeof(*w));
	struct ag_error why;
	jvmtiError code;

	if (!w)
		return NULL;
	w->profile = profile;
	if (prepare(jvm, w) == 0 && hook_all(jvm, w) == 0) {
		ag_weaving_find_old(jvm, w);
		ag_weave_end(jvm, &w->weave);
		return w;
	}
	why = jvm->err;
	ag_forgive(jvm);
	ag_weave_end(jvm, &w->weave);
	ag_weaving_out(jvm, w, &code);
	ag_weaving_free(jvm, w);
	jvm->err = why;
	return NULL;
}

void ag_weaving_tick(struct ag_jvm *jvm, struct ag_weaving *w)
{
	struct ag_sweep s = { .jvm = jvm, .w = w, .new_only = true };

	if (__atomic_exchange_n(&w->left, 0, __ATOMIC_SEQ_CST) == 0)
		return;
	if (ag_weave_begin(jvm, &w->weave) == 0) {
		(void)ag_weaving_sweep(&s); /* what it did not come to counts from the next on */
		count(w);
	}
	ag_weave_end(jvm, &w->weave);
	ag_forgive(jvm);
}

/*
 * Somebody may have been given a class with hooks just before, to install it just now: another
 * thread that retransforms, for which JDK 8 has no lock, or one that loads.
 */
static bool is_any_touched(const struct ag_weaving *w)
{
	int64_t loaded = __atomic_load_n(&w->loaded_ns, __ATOMIC_RELAXED);

	if (loaded > 0 && ag_now_ns() - loaded < (int64_t)LAST_WORD_MS * 1000000)
		return true;
	for (uint32_t i = AG_WEAVING_SPARE; i < w->weave.n_classes; i++) {
		if (ag_weave_is_touched(ag_weave_class(&w->weave, i)))
			return true;
	}
	return false;
}

static jvmtiError unhook_all(struct ag_jvm *jvm, struct ag_weaving *w)
{
	struct ag_sweep s = { .jvm = jvm, .w = w, .out = true };

	for (uint32_t i = AG_WEAVING_SPARE; i < w->weave.n_classes; i++)
		ag_weave_set_hooked(ag_weave_class(&w->weave, i), false);
	if (w->object)
		s.code = unhook_object(jvm, w);
	if (ag_weaving_sweep(&s) != 0)
		s.code = jvm->err.code ? jvm->err.code : JVMTI_ERROR_INTERNAL;
	if (is_any_touched(w) && !jvm->stopping) {
		(void)poll(NULL, 0, LAST_WORD_MS);
		if (w->object && ag_weave_is_touched(ag_weave_class(&w->weave, w->object)))
			(void)unhook_object(jvm, w);
		(void)ag_weaving_sweep(&s);
	}
	return s.code;
}

void ag_weaving_out(struct ag_jvm *jvm, struct ag_weaving *w, jvmtiError *code)
{
	*code = JVMTI_ERROR_NONE;
	__atomic_store_n(&w->on, 0, __ATOMIC_SEQ_CST);
	if (w->weave.slot && !jvm->stopping) {
		(void)ag_weave_begin(jvm, &w->weave);
		*code = unhook_all(jvm, w);
	}
	ag_forgive(jvm);
	close_weave(jvm, w);
}

void ag_weaving_count(const struct ag_weaving *w, uint32_t *hooked, uint32_t *refused)
{
	*hooked = w->hooked + __atomic_load_n(&w->loaded, __ATOMIC_RELAXED);
	*refused = w->refused;
}

void ag_weaving_free(struct ag_jvm *jvm, struct ag_weaving *w)
{
	ag_weaving_free_old(jvm, w);
	if (w->profile->left)
		return;
	ag_weave_release(jvm, &w->weave);
	ag_free(jvm->mem, w);
}
