/*
 * One pass through all loaded classes: which ones are retransformed, and how many at a time.
 */
#include "jvm/capture.h"
#include "jvm/classes.h"
#include "jvm/profile_weave.h"
#include "jvm/ref.h"

#define BATCH_LEAST 4u
/* A batch is no more than the how many-th part */
#define BATCH_SHARE 4 /* of all so far */
#define BATCH_PART 32 /* of all loaded classes */

struct ag_weave_group ag_weaving_batch(struct ag_jvm *jvm, struct ag_weaving *w)
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

uint32_t ag_weaving_number(struct ag_jvm *jvm, struct ag_weaving *w, jclass class,
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
 * at a time take as long as 128).  So batches are large, and few, where there are many classes.
 *
 * But what it needs for a batch besides the classes, constant pools of twice the size, and class
 * files, it gives back after the batch at the earliest, for the next one to use, and then keeps.
 * So batches are small where few classes have hooks yet, and where few are loaded: a JVM with 500
 * stands still for some 1.5 ms each time, and stays 1 to 2 MB smaller with 16 at a time than 32.
 */
static uint32_t batch_size(const struct ag_sweep *s)
{
	uint32_t share = (s->w->weave.n_classes - AG_WEAVING_SPARE) / BATCH_SHARE;
	uint32_t part = s->n_loaded / BATCH_PART;

	if (part < share)
		share = part;
	if (share < BATCH_LEAST)
		return BATCH_LEAST;
	return share < AG_WEAVING_BATCH ? share : AG_WEAVING_BATCH;
}

static void flush_in(struct ag_sweep *s, uint32_t n)
{
	struct ag_weave_group group = ag_weaving_batch(s->jvm, s->w);

	for (uint32_t i = 0; i < n; i++)
		ag_weave_set_hooked(ag_weave_class(&s->w->weave, s->w->members[i]), true);
	/* The arrays are in another order afterwards, and some are missing: so all are asked. */
	ag_weave_in(&group, n);
}

static void flush_out(struct ag_sweep *s, uint32_t n)
{
	struct ag_weave_group group = ag_weaving_batch(s->jvm, s->w);
	jvmtiError code = ag_weave_out(&group, n);

	if (code != JVMTI_ERROR_NONE)
		s->code = code;
	for (uint32_t i = 0; i < n; i++) {
		if (s->w->members[i] < AG_WEAVING_SPARE)
			(void)set_tag(s->w, s->w->refs[i], AG_WEAVING_DONE);
	}
}

static void flush(struct ag_sweep *s)
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

static void add(struct ag_sweep *s, jclass class, uint32_t index)
{
	s->w->members[s->w->n] = index;
	s->w->refs[s->w->n++] = class;
	if (s->w->n >= batch_size(s))
		flush(s);
}

/*
 * Has the class anything to be hooked?  It has the first spare number meanwhile.  Of code only the
 * JVM's error, if it cannot be told.
 */
static bool look(struct ag_sweep *s, jclass class, const char *signature, jvmtiError *code)
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
static void hook_class(struct ag_sweep *s, jclass class, const char *signature)
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
	index = ag_weaving_number(s->jvm, s->w, class, signature);
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
static void unhook_new(struct ag_sweep *s, jclass class, const char *signature)
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
static bool is_reached(struct ag_sweep *s, jclass class)
{
	jlong tag = ag_weaving_ask(s->jvm, s->w, class);

	if (tag == AG_WEAVING_BLIND)
		refuse(s->w, class, "their class loader does not find the class with the hooks");
	if (s->new_only)
		return tag == AG_WEAVING_SEES - (jlong)s->w->sweep;
	return tag <= AG_WEAVING_SEES;
}

/* May it have got hooks as it was loaded? */
static bool was_reached(struct ag_sweep *s, jclass class)
{
	jobject loader = NULL;
	bool reached = true; /* if it cannot be told */

	if (AG_TI(s->jvm, GetClassLoader, class, &loader) == 0 && loader)
		reached = tag_of(s->w, loader) <= AG_WEAVING_SEES;
	ag_ref_drop(s->jvm, loader);
	return reached;
}

static void consider_new(struct ag_sweep *s, jclass class, const char *signature)
{
	struct ag_captured captured;
	int rc = ag_capture_can(s->jvm, class, signature, &captured);

	if (rc <= 0 || captured.code != JVMTI_ERROR_NONE) {
		if (rc == 0 && *signature == 'L' && !s->out)
			refuse(s->w, class, captured.code ? ag_weaving_error(captured.code)
							  : "hidden");
		return;
	}
	if (s->out && was_reached(s, class))
		unhook_new(s, class, signature);
	else if (!s->out && is_reached(s, class) && (s->new_only || !has_hooks(s->w, signature)))
		hook_class(s, class, signature);
}

/* One that has a number: was it given hooks, by us or, while it was being looked at, by others? */
static void unhook_known(struct ag_sweep *s, jclass class, uint32_t index)
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

static void consider(struct ag_sweep *s, jclass class)
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

int ag_weaving_sweep(struct ag_sweep *s)
{
	struct ag_classes classes;

	s->w->sweep++;
	s->done = 0;
	if (ag_classes_get(s->jvm, &classes) != 0) {
		ag_forgive(s->jvm); /* it may have been for want of memory: once more */
		if (s->jvm->stopping || ag_classes_get(s->jvm, &classes) != 0)
			return -1;
	}
	/* JDK 8 and 11 count them in callbacks, too; at worst -Xcheck:jni complains of that. */
	if (ag_ref_expect(s->jvm, 2 * ((jint)classes.n + 64)) != 0)
		ag_forgive(s->jvm);
	s->n_loaded = classes.n;
	for (uint32_t i = 0; i < classes.n && !s->jvm->stopping; i++)
		consider(s, classes.list[i]);
	flush(s);
	ag_classes_release(s->jvm, &classes);
	return 0;
}
