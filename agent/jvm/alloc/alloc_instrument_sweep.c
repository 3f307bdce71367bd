/*
 * Sweeps.  A sweep goes through all loaded classes, selects those that need hooks or need to be
 * restored, and retransforms the selected classes in batches.
 */
#include "jvm/capture/capture.h"
#include "jvm/classes.h"
#include "jvm/alloc/alloc_instrument.h"
#include "jvm/jni_refs.h"

#define BATCH_MIN 4u
/*
 * A batch has at most 1/BATCH_SHARE of the classes that have an index, and at most 1/BATCH_PART of
 * the loaded classes, but may always have BATCH_MIN classes.
 */
#define BATCH_SHARE 4
#define BATCH_PART 32
#define ADAPTED_MIN 16u /* ag_alloc_code_adapt(): with smaller ones, a sweep takes too long */

struct ag_instrument_group ag_alloc_code_batch(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	return (struct ag_instrument_group){ jvm, &ac->base, ac->sweep.members, ac->sweep.refs };
}

static jlong tag_of(const struct ag_alloc_code *ac, jobject object)
{
	jlong tag = 0;

	/* If GetTag fails, the tag remains 0, which means unknown. */
	(void)(*ac->base.ti)->GetTag(ac->base.ti, object, &tag);
	return tag;
}

static jvmtiError set_tag(const struct ag_alloc_code *ac, jobject object, jlong tag)
{
	return (*ac->base.ti)->SetTag(ac->base.ti, object, tag);
}

static void set_class(struct ag_alloc_code *ac, uint32_t index, const char *signature)
{
	*ag_instrument_class(&ac->base, index) = (struct ag_instrument_class){
		.name = ag_instrument_name(signature),
	};
}

uint32_t ag_alloc_code_number(struct ag_jvm *jvm, struct ag_alloc_code *ac, jclass class,
			      const char *signature)
{
	uint32_t index = ac->base.n_classes;

	if (ag_instrument_reserve(jvm, &ac->base, index + 1) != 0)
		return 0;
	set_class(ac, index, signature);
	__atomic_store_n(&ac->base.n_classes, index + 1, __ATOMIC_SEQ_CST);
	if (ag_jvmti_check(jvm, "SetTag", set_tag(ac, class, (jlong)index + 1)) != 0)
		return 0;
	return index;
}

static void refuse(struct ag_alloc_code *ac, jclass class, const char *why)
{
	ac->refused++;
	ag_alloc_code_reason(ac, why, 1);
	/* If set_tag() fails, the next sweep refuses the class again. */
	(void)set_tag(ac, class, AG_ALLOC_CODE_DONE);
}

/*
 * Returns the number of classes in a batch.
 *
 * From JDK 11 on, the pause for a batch hardly depends on the size of the batch, because HotSpot
 * visits all classes and all compiled code each time (Tomcat, 4,000 classes: a batch of 4 classes
 * pauses as long as a batch of 128 classes).  So in a JVM with many classes, batches are large and
 * few.  JDK 8 visits all classes once for each class of the batch: ag_alloc_code_adapt().
 *
 * For each class, a batch needs memory for the class file, and for a constant pool twice as large
 * as the class's own, because HotSpot merges the old pool and the new one.  HotSpot frees this
 * memory after the batch at the earliest, and then reuses it for further batches, so the JVM grows
 * by what its largest batch needs.  Batches are therefore small while few classes have hooks, and
 * if few classes are loaded: a JVM with 500 classes pauses for about 1.5 ms for each batch, and
 * needs 1 to 2 MB less if a batch has 16 classes than if it has 32.
 */
static uint32_t batch_size(const struct ag_sweep *s)
{
	uint32_t share = (s->ac->base.n_classes - AG_ALLOC_CODE_SPARE) / BATCH_SHARE;
	uint32_t part = s->n_loaded / BATCH_PART;

	if (part < share)
		share = part;
	if (share < BATCH_MIN)
		return BATCH_MIN;
	return share < s->ac->sweep.most ? share : s->ac->sweep.most;
}

void ag_alloc_code_adapt(struct ag_jvm *jvm, struct ag_alloc_code *ac, uint32_t n, int64_t ns)
{
	uint32_t most = ac->sweep.most;

	if ((*jvm->jni)->GetVersion(jvm->jni) >= JNI_VERSION_9)
		return;
	if (ns > AG_ALLOC_CODE_PAUSE_NS)
		most = n / 2;
	else if (ns < AG_ALLOC_CODE_PAUSE_NS / 2 && n >= most)
		most *= 2;
	if (most < ADAPTED_MIN)
		most = ADAPTED_MIN;
	ac->sweep.most = most < AG_ALLOC_CODE_BATCH ? most : AG_ALLOC_CODE_BATCH;
}

static void flush_in(struct ag_sweep *s, uint32_t n)
{
	struct ag_instrument_group group = ag_alloc_code_batch(s->jvm, s->ac);

	for (uint32_t i = 0; i < n; i++)
		ag_instrument_set_hooked(ag_instrument_class(&s->ac->base, s->ac->sweep.members[i]),
					 true);
	/*
	 * This call reorders `members` and `refs`.  For a class that does not get hooks, it clears
	 * the mark that was set above.  After the sweep, count() counts the classes that are still
	 * marked as hooked.
	 */
	ag_instrument_add(&group, n);
}

static void flush_out(struct ag_sweep *s, uint32_t n)
{
	struct ag_instrument_group group = ag_alloc_code_batch(s->jvm, s->ac);
	jvmtiError code = ag_instrument_remove(&group, n);

	if (code != JVMTI_ERROR_NONE)
		s->code = code;
	for (uint32_t i = 0; i < n; i++) {
		if (s->ac->sweep.members[i] < AG_ALLOC_CODE_SPARE)
			(void)set_tag(s->ac, s->ac->sweep.refs[i], AG_ALLOC_CODE_DONE);
	}
}

static void flush(struct ag_sweep *s)
{
	uint32_t n = s->ac->sweep.n;
	int64_t begun_ns = ag_now_ns();

	s->ac->sweep.n = 0;
	if (n == 0 || s->jvm->stopping)
		return;
	if (s->out)
		flush_out(s, n);
	else
		flush_in(s, n);
	ag_alloc_code_adapt(s->jvm, s->ac, n, ag_now_ns() - begun_ns);
	s->done += n;
}

static void add(struct ag_sweep *s, jclass class, uint32_t index)
{
	s->ac->sweep.members[s->ac->sweep.n] = index;
	s->ac->sweep.refs[s->ac->sweep.n++] = class;
	if (s->ac->sweep.n >= batch_size(s))
		flush(s);
}

/*
 * Returns true if the class has something to hook.  Uses the scratch entry 0, and leaves the class
 * with the tag of that entry.  If the class could not be examined, *code is the JVM's error.
 */
static bool look(struct ag_sweep *s, jclass class, const char *signature, jvmtiError *code)
{
	struct ag_alloc_code *ac = s->ac;
	uint32_t index = 0;
	jclass ref = class;
	const struct ag_instrument_group one = { s->jvm, &ac->base, &index, &ref };

	set_class(ac, index, signature);
	*code = set_tag(ac, class, (jlong)index + 1);
	if (*code != JVMTI_ERROR_NONE)
		return false;
	*code = ag_instrument_look(&one);
	return ag_instrument_class(&ac->base, index)->outcome == AG_INSTRUMENTED_DONE;
}

uint64_t ag_alloc_code_key(jvmtiEnv *ti, uint64_t name, jobject loader)
{
	jint hash = 0;

	if (loader && (*ti)->GetObjectHashCode(ti, loader, &hash) != JVMTI_ERROR_NONE)
		return 0;
	return name ^ (uint32_t)hash * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns true if the class has got hooks while it was loaded.  If unsure, returns false. */
static bool has_hooks(const struct ag_sweep *s, jclass class, const char *signature)
{
	const struct ag_alloc_code *ac = s->ac;
	uint32_t n = __atomic_load_n(&ac->loaded.n, __ATOMIC_RELAXED);
	jobject loader = NULL;
	uint64_t key;

	if (n == 0 || AG_JVMTI(s->jvm, GetClassLoader, class, &loader) != 0)
		return false;
	key = ag_alloc_code_key(ac->base.ti, ag_instrument_name(signature), loader);
	ag_ref_drop(s->jvm, loader);
	for (uint32_t i = 0; key != 0 && i < n && i < AG_ALLOC_CODE_KEYS; i++) {
		if (__atomic_load_n(&ac->loaded.keys[i], __ATOMIC_RELAXED) == key)
			return true;
	}
	return false;
}

/* Adds hooks to a class that is examined for the first time. */
static void hook_class(struct ag_sweep *s, jclass class, const char *signature)
{
	jvmtiError code;
	uint32_t index;

	if (!look(s, class, signature, &code)) {
		if (code != JVMTI_ERROR_NONE && !s->jvm->stopping)
			refuse(s->ac, class, ag_alloc_code_error(code));
		else
			(void)set_tag(s->ac, class, AG_ALLOC_CODE_DONE);
		return;
	}
	index = ag_alloc_code_number(s->jvm, s->ac, class, signature);
	if (index > 0)
		add(s, class, index);
	else
		refuse(s->ac, class, "out of memory");
	ag_clear_error(s->jvm);
}

/*
 * Restores a class without a tag, because it may have got hooks while it was loaded.  First
 * examines the class, if possible, and does not restore it if it has nothing to hook.
 */
static void unhook_new(struct ag_sweep *s, jclass class, const char *signature)
{
	struct ag_alloc_code *ac = s->ac;
	jvmtiError code = JVMTI_ERROR_NONE;
	uint32_t index = ac->sweep.n + 1;

	if (ac->base.thrown && !look(s, class, signature, &code) && code == JVMTI_ERROR_NONE) {
		(void)set_tag(ac, class, AG_ALLOC_CODE_DONE);
		return;
	}
	set_class(ac, index, signature);
	/* If set_tag() fails, the agent's ClassFileLoadHook ignores the class. */
	(void)set_tag(ac, class, (jlong)index + 1);
	add(s, class, index);
}

/*
 * Returns true if the loader of the class finds the class with the hooks.  With s->new_only,
 * returns true only if this sweep is the first that has asked the loader.
 */
static bool finds_hooks(struct ag_sweep *s, jclass class)
{
	jlong tag = ag_alloc_code_ask(s->jvm, s->ac, class);

	if (tag == AG_ALLOC_CODE_HIDDEN)
		refuse(s->ac, class, "their class loader does not find the class with the hooks");
	if (s->new_only)
		return tag == AG_ALLOC_CODE_VISIBLE - (jlong)s->ac->sweep.number;
	return tag <= AG_ALLOC_CODE_VISIBLE;
}

/*
 * Returns true if `class` may have got hooks while it was loaded.  This is possible only if the
 * loader of `class` finds the class with the hooks.
 */
static bool may_have_hooks(struct ag_sweep *s, jclass class)
{
	jobject loader = NULL;
	bool found = true; /* true also if the loader cannot be determined */

	if (AG_JVMTI(s->jvm, GetClassLoader, class, &loader) == 0 && loader)
		found = tag_of(s->ac, loader) <= AG_ALLOC_CODE_VISIBLE;
	ag_ref_drop(s->jvm, loader);
	return found;
}

static void consider_new(struct ag_sweep *s, jclass class, const char *signature)
{
	struct ag_captured captured;
	int rc = ag_capture_can(s->jvm, class, signature, &captured);

	if (rc <= 0 || captured.code != JVMTI_ERROR_NONE) {
		if (rc == 0 && *signature == 'L' && !s->out)
			refuse(s->ac, class,
			       captured.code ? ag_alloc_code_error(captured.code) : "hidden");
		return;
	}
	if (s->out && may_have_hooks(s, class))
		unhook_new(s, class, signature);
	else if (!s->out && finds_hooks(s, class) &&
		 (s->new_only || !has_hooks(s, class, signature)))
		hook_class(s, class, signature);
}

/*
 * Restores a class that has an index, if a sweep has added hooks to it, or if another thread has
 * retransformed it and may thereby have added hooks.
 */
static void unhook_known(struct ag_sweep *s, jclass class, uint32_t index)
{
	struct ag_instrument_class *entry = ag_instrument_class(&s->ac->base, index);

	if (index == s->ac->object || index < AG_ALLOC_CODE_SPARE)
		return;
	if (!(entry->note & AG_ALLOC_CODE_HOOKED) && !ag_instrument_is_touched(entry))
		return;
	entry->note &= (uint16_t)~AG_ALLOC_CODE_HOOKED;
	__atomic_store_n(&entry->touched, false, __ATOMIC_SEQ_CST);
	add(s, class, index);
}

static void consider(struct ag_sweep *s, jclass class)
{
	jlong tag = tag_of(s->ac, class);
	char *signature;

	if (tag > 0 && tag <= s->ac->base.n_classes && s->out)
		unhook_known(s, class, (uint32_t)tag - 1);
	if (tag != 0)
		return;
	signature = ag_class_signature(s->jvm, class);
	if (signature && *signature == 'L')
		consider_new(s, class, signature);
	ag_jvmti_free(s->jvm, signature);
	ag_clear_error(s->jvm);
}

int ag_alloc_code_sweep(struct ag_sweep *s)
{
	struct ag_classes classes;

	s->ac->sweep.number++;
	s->done = 0;
	if (ag_classes_get(s->jvm, &classes) != 0) {
		ag_clear_error(s->jvm); /* try again, because memory may have been short */
		if (s->jvm->stopping || ag_classes_get(s->jvm, &classes) != 0)
			return -1;
	}
	/*
	 * Announce twice as many references as there are classes: if a JVMTI callback runs the
	 * sweep, -Xcheck:jni of JDK 8 and 11 counts the callback's other references as well.
	 * Ignore a failure: it only makes -Xcheck:jni print warnings.
	 */
	if (ag_ref_expect(s->jvm, 2 * ((jint)classes.n + 64)) != 0)
		ag_clear_error(s->jvm);
	s->n_loaded = classes.n;
	for (uint32_t i = 0; i < classes.n && !s->jvm->stopping; i++)
		consider(s, classes.list[i]);
	flush(s);
	ag_classes_release(s->jvm, &classes);
	return 0;
}
