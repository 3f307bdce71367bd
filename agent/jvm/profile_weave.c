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

#include "jvm/capture.h"
#include "jvm/classes.h"
#include "jvm/ref.h"
#include "jvm/trace.h"
#include "jvm/trace_state.h"

#define BATCH_LEAST 4u
#define BATCH_SHARE 4 /* a batch is no more than the how many-th part of all so far */
#define SWEEPS 3 /* classes may be loaded all the time */
#define LAST_WORD_MS 100
#define OBJECT "java/lang/Object"

/* One pass through all loaded classes. */
struct sweep {
	struct ag_jvm *jvm;
	struct ag_weaving *w;
	bool out;      /* hooks are taken out; else put in */
	bool new_only; /* only classes of loaders that were asked in this sweep */
	uint32_t done; /* classes */
	jvmtiError code; /* out: the last error */
};

static struct ag_weave_group batch(struct ag_jvm *jvm, struct ag_weaving *w)
{
	return (struct ag_weave_group){ jvm, &w->weave, w->members, w->refs };
}

static jlong tag_of(const struct ag_weaving *w, jobject object)
{
	jlong tag = 0;

	/* of what cannot be told, nothing is known */
	(void)(*w->weave.ti)->GetTag(w->weave.ti, object, &tag);
	return tag;
}

static jvmtiError set_tag(const struct ag_weaving *w, jobject object, jlong tag)
{
	return (*w->weave.ti)->SetTag(w->weave.ti, object, tag);
}

static void set_class(struct ag_weaving *w, uint32_t index, const char *signature)
{
	*ag_weave_class(&w->weave, index) = (struct ag_weave_class){
		.name = ag_weave_name(signature),
	};
}

/* A number for a class that is to be hooked; 0: there is none, for that reason. */
static uint32_t number(struct ag_jvm *jvm, struct ag_weaving *w, jclass class,
		       const char *signature)
{
	uint32_t index = w->weave.n_classes;

	if (ag_weave_reserve(jvm, &w->weave, index + 1) != 0)
		return 0;
	set_class(w, index, signature);
	__atomic_store_n(&w->weave.n_classes, index + 1, __ATOMIC_SEQ_CST);
	if (ag_ti_check(jvm, "SetTag", set_tag(w, class, (jlong)index + 1)) != 0)
		return 0;
	return index;
}

static void refuse(struct ag_weaving *w, jclass class, const char *why)
{
	w->refused++;
	ag_weaving_reason(w, why, 1);
	(void)set_tag(w, class, AG_WEAVING_DONE); /* without it is refused once more */
}

/*
 * How long the JVM stands still for a batch hardly depends on how many classes are in it: it looks
 * at all classes and all code that are there, each time (with 4,000 classes, those of a Tomcat, 4
 * at a time take as long as 128).  So batches are large, and few.  But it frees memory, if at all,
 * after a batch, to use it for the next: so they are small where few classes get hooks.
 */
static uint32_t batch_size(const struct ag_weaving *w)
{
	uint32_t share = (w->weave.n_classes - AG_WEAVING_SPARE) / BATCH_SHARE;

	if (share < BATCH_LEAST)
		return BATCH_LEAST;
	return share < AG_WEAVING_BATCH ? share : AG_WEAVING_BATCH;
}

static void flush_in(struct sweep *s, uint32_t n)
{
	struct ag_weave_group group = batch(s->jvm, s->w);

	for (uint32_t i = 0; i < n; i++)
		ag_weave_set_hooked(ag_weave_class(&s->w->weave, s->w->members[i]), true);
	/* The arrays are in another order afterwards, and some are missing: so all are asked. */
	ag_weave_in(&group, n);
}

static void flush_out(struct sweep *s, uint32_t n)
{
	struct ag_weave_group group = batch(s->jvm, s->w);
	jvmtiError code = ag_weave_out(&group, n);

	if (code != JVMTI_ERROR_NONE)
		s->code = code;
	for (uint32_t i = 0; i < n; i++) {
		if (s->w->members[i] < AG_WEAVING_SPARE)
			(void)set_tag(s->w, s->w->refs[i], AG_WEAVING_DONE);
	}
}

static void flush(struct sweep *s)
{
	uint32_t n = s->w->n;

	s->w->n = 0;
	if (n == 0 || s->jvm->stopping)
		return;
	if (s->out)
		flush_out(s, n);
	else
		flush_in(s, n);
	s->done += n;
}

static void add(struct sweep *s, jclass class, uint32_t index)
{
	s->w->members[s->w->n] = index;
	s->w->refs[s->w->n++] = class;
	if (s->w->n >= batch_size(s->w))
		flush(s);
}

/*
 * Has the class anything to be hooked?  It has the first spare number meanwhile.  Of code only the
 * JVM's error, if it cannot be told.
 */
static bool look(struct sweep *s, jclass class, const char *signature, jvmtiError *code)
{
	struct ag_weaving *w = s->w;
	uint32_t index = 0;
	jclass ref = class;
	const struct ag_weave_group one = { s->jvm, &w->weave, &index, &ref };

	set_class(w, index, signature);
	*code = set_tag(w, class, (jlong)index + 1);
	if (*code != JVMTI_ERROR_NONE)
		return false;
	*code = ag_weave_look(&one);
	return ag_weave_class(&w->weave, index)->woven == AG_WOVEN_DONE;
}

/* One that was loaded while the first sweep went on, and got its hooks then. */
static bool has_hooks(const struct ag_weaving *w, const char *signature)
{
	uint32_t n = __atomic_load_n(&w->loaded, __ATOMIC_RELAXED);
	uint64_t name = ag_weave_name(signature);

	for (uint32_t i = 0; i < n && i < AG_WEAVING_NAMES; i++) {
		if (__atomic_load_n(&w->names[i], __ATOMIC_RELAXED) == name)
			return true;
	}
	return false;
}

/* In: it is looked at for the first time. */
static void hook_class(struct sweep *s, jclass class, const char *signature)
{
	jvmtiError code;
	uint32_t index;

	if (!look(s, class, signature, &code)) {
		if (code != JVMTI_ERROR_NONE && !s->jvm->stopping)
			refuse(s->w, class, ag_weaving_error(code));
		else
			(void)set_tag(s->w, class, AG_WEAVING_DONE);
		return;
	}
	index = number(s->jvm, s->w, class, signature);
	if (index > 0)
		add(s, class, index);
	else
		refuse(s->w, class, "memory ran out");
	ag_forgive(s->jvm);
}

/*
 * Out: it was loaded since, or its tag was lost.  If it cannot be looked at, it is put back in any
 * case.
 */
static void unhook_new(struct sweep *s, jclass class, const char *signature)
{
	struct ag_weaving *w = s->w;
	jvmtiError code = JVMTI_ERROR_NONE;
	uint32_t index = w->n + 1;

	if (w->weave.thrown && !look(s, class, signature, &code) && code == JVMTI_ERROR_NONE) {
		(void)set_tag(w, class, AG_WEAVING_DONE);
		return;
	}
	set_class(w, index, signature);
	(void)set_tag(w, class, (jlong)index + 1); /* without, nothing is handed on: as good */
	add(s, class, index);
}

/* Does the class's loader find the hooks?  If not, it gets none. */
static bool is_reached(struct sweep *s, jclass class)
{
	jlong tag = ag_weaving_ask(s->jvm, s->w, class);

	if (tag == AG_WEAVING_BLIND)
		refuse(s->w, class, "their class loader does not find the class with the hooks");
	if (s->new_only)
		return tag == AG_WEAVING_SEES - (jlong)s->w->sweep;
	return tag <= AG_WEAVING_SEES;
}

/* May it have got hooks as it was loaded? */
static bool was_reached(struct sweep *s, jclass class)
{
	jobject loader = NULL;
	bool reached = true; /* if it cannot be told */

	if (AG_TI(s->jvm, GetClassLoader, class, &loader) == 0 && loader)
		reached = tag_of(s->w, loader) <= AG_WEAVING_SEES;
	ag_ref_drop(s->jvm, loader);
	return reached;
}

static void consider_new(struct sweep *s, jclass class, const char *signature)
{
	struct ag_captured captured;
	int rc = ag_capture_can(s->jvm, class, signature, &captured);

	if (rc <= 0 || captured.code != JVMTI_ERROR_NONE) {
		if (rc == 0 && *signature == 'L' && !s->out)
			refuse(s->w, class, captured.code ? ag_weaving_error(captured.code)
							  : "they are hidden");
		return;
	}
	if (s->out && was_reached(s, class))
		unhook_new(s, class, signature);
	else if (!s->out && is_reached(s, class) && (s->new_only || !has_hooks(s->w, signature)))
		hook_class(s, class, signature);
}

/* One that has a number: was it given hooks, by us or, while it was being looked at, by others? */
static void unhook_known(struct sweep *s, jclass class, uint32_t index)
{
	struct ag_weave_class *its = ag_weave_class(&s->w->weave, index);

	if (index == s->w->object || index < AG_WEAVING_SPARE)
		return;
	if (!(its->note & AG_WEAVING_WOVEN) && !ag_weave_is_touched(its))
		return;
	its->note &= (uint16_t)~AG_WEAVING_WOVEN;
	__atomic_store_n(&its->touched, false, __ATOMIC_SEQ_CST);
	add(s, class, index);
}

static void consider(struct sweep *s, jclass class)
{
	jlong tag = tag_of(s->w, class);
	char *signature;

	if (tag > 0 && tag <= s->w->weave.n_classes && s->out)
		unhook_known(s, class, (uint32_t)tag - 1);
	if (tag != 0)
		return;
	signature = ag_class_signature(s->jvm, class);
	if (signature && *signature == 'L')
		consider_new(s, class, signature);
	ag_ti_free(s->jvm, signature);
	ag_forgive(s->jvm);
}

static int sweep(struct sweep *s)
{
	struct ag_classes classes;

	s->w->sweep++;
	s->done = 0;
	if (ag_classes_get(s->jvm, &classes) != 0) {
		ag_forgive(s->jvm); /* it may have been for want of memory: once more */
		if (s->jvm->stopping || ag_classes_get(s->jvm, &classes) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < classes.n && !s->jvm->stopping; i++)
		consider(s, classes.list[i]);
	flush(s);
	ag_classes_release(s->jvm, &classes);
	return 0;
}

/* The one class that every other one is built on. */
static int hook_object(struct ag_jvm *jvm, struct ag_weaving *w)
{
	struct ag_weave_group group = batch(jvm, w);
	jclass class = (*jvm->jni)->FindClass(jvm->jni, OBJECT);
	uint32_t index;

	if (ag_ref_threw(jvm, "FindClass"))
		return -1;
	index = number(jvm, w, class, "L" OBJECT ";");
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
	struct ag_weave_group group = batch(jvm, w);
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
	struct sweep s = { .jvm = jvm, .w = w };
	int rc = 0, left = SWEEPS;

	/* Those that were being loaded when the first began to listen are met in the next. */
	do
		rc = sweep(&s);
	while (rc == 0 && s.done > 0 && --left > 0 && !jvm->stopping);
	count(w);
	if (rc == 0 && !jvm->stopping)
		rc = hook_object(jvm, w);
	count(w);
	return jvm->stopping ? -1 : rc;
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
	struct sweep s = { .jvm = jvm, .w = w, .new_only = true };

	if (__atomic_exchange_n(&w->left, 0, __ATOMIC_SEQ_CST) == 0)
		return;
	if (ag_weave_begin(jvm, &w->weave) == 0) {
		(void)sweep(&s); /* what it did not come to counts from the next on */
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
	struct sweep s = { .jvm = jvm, .w = w, .out = true };

	for (uint32_t i = AG_WEAVING_SPARE; i < w->weave.n_classes; i++)
		ag_weave_set_hooked(ag_weave_class(&w->weave, i), false);
	if (w->object)
		s.code = unhook_object(jvm, w);
	if (sweep(&s) != 0)
		s.code = jvm->err.code ? jvm->err.code : JVMTI_ERROR_INTERNAL;
	if (is_any_touched(w) && !jvm->stopping) {
		(void)poll(NULL, 0, LAST_WORD_MS);
		if (w->object && ag_weave_is_touched(ag_weave_class(&w->weave, w->object)))
			(void)unhook_object(jvm, w);
		(void)sweep(&s);
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
