#include <string.h>

#include "jvm/classes.h"
#include "jvm/alloc/alloc_exact_state.h"
#include "jvm/jni_refs.h"

/*
 * Looks up the field VirtualThread.carrierThread.  Does nothing if the class VirtualThread is not
 * linked yet, because JVMTI reports no fields of a class that is not linked.
 */
static void learn_carrier(struct ag_alloc_profile *profile, JNIEnv *jni, jclass class)
{
	struct ag_jvm jvm = { .ti = profile->ti, .jni = jni }; /* errors are ignored */
	jfieldID field = ag_ref_field(&jvm, class, "carrierThread", "Ljava/lang/Thread;");
	jclass ref, none = NULL;

	if (!field)
		return;
	ref = ag_ref_global(jni, class, &profile->globals);
	if (!ref)
		return;
	/*
	 * A reader loads `carrier`, then `virtual_threads`.  If another thread has already stored
	 * its reference in `virtual_threads`, the failed exchange acquires that reference, so that
	 * the release of `carrier` below also makes it visible to readers.
	 */
	if (!__atomic_compare_exchange_n(&profile->exact->virtual_threads, &none, ref, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		ag_ref_global_drop(jni, ref, &profile->globals);
	__atomic_store_n(&profile->exact->carrier, field, __ATOMIC_RELEASE);
}

void ag_exact_learn(struct ag_alloc_profile *profile, JNIEnv *jni, jclass class)
{
	const char *signature;
	bool shared = false;
	uint32_t kind;
	jint hash;

	if ((*profile->ti)->GetObjectHashCode(profile->ti, class, &hash) != JVMTI_ERROR_NONE)
		return;
	kind = ag_alloc_classes_of(profile->kinds, profile->ti, jni, class, hash, &shared);
	if (shared && !ag_exact_is_shared(profile->exact, (uint32_t)hash))
		ag_alloc_hooks_share(profile->exact, hash);
	signature = ag_alloc_classes_signature(profile->kinds, kind);
	if (signature && strcmp(signature, "Ljava/lang/VirtualThread;") == 0 &&
	    !profile->exact->carrier)
		learn_carrier(profile, jni, class);
}

static void JNICALL class_prepared(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jclass class)
{
	struct ag_thread_slot *slot;
	struct ag_alloc_profile *profile = ag_thread_slot_enter(jni, &slot);

	(void)ti, (void)thread;
	if (!profile)
		return;
	ag_exact_learn(profile, jni, class);
	ag_thread_slot_leave(slot);
}

static int learn_loaded(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	struct ag_classes classes = { 0 };
	int rc;

	if (ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_classes_get(jvm, &classes);
	/*
	 * Announce twice as many local references as there are classes, because -Xcheck:jni of JDK
	 * 8 and 11 also counts the references in outer JNI local frames.
	 */
	if (rc == 0)
		rc = ag_ref_expect(jvm, 2 * ((jint)classes.n + 64));
	for (uint32_t i = 0; rc == 0 && i < classes.n; i++)
		ag_exact_learn(profile, jvm->jni, classes.list[i]);
	ag_classes_release(jvm, &classes);
	ag_ref_pop(jvm);
	return rc;
}

static int add_capabilities(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	const jvmtiCapabilities wanted = {
		.can_generate_vm_object_alloc_events = 1, .can_get_bytecodes = 1,
	};

	profile->callbacks.ClassPrepare = class_prepared;
	profile->callbacks.VMObjectAlloc = ag_exact_vm_alloc;
	return ag_jvmti_check(jvm, "AddCapabilities",
			      (*profile->ti)->AddCapabilities(profile->ti, &wanted));
}

static int prepare(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	struct ag_exact *exact = ag_arena_take(&profile->arena, sizeof(*exact));

	if (exact)
		exact->methods = ag_arena_take(&profile->arena, sizeof(*exact->methods)
					       << AG_METHODS_BITS);
	if (!exact || !exact->methods)
		return ag_fail(jvm, "count every allocation",
			       "the memory limit is too low; allow more");
	exact->profile = profile;
	profile->exact = exact;
	ag_array_sites_begin(exact);
	exact->registered = ag_alloc_hooks_take(jvm) == 0;
	if (!exact->registered || ag_sizes_measure(jvm, &exact->sizes) != 0)
		return -1;
	return add_capabilities(jvm, profile);
}

/*
 * Starts counting: adds the loaded classes to the profile, and adds hooks to their code.  Enables
 * the event ClassPrepare before it lists the loaded classes, so that it misses no class.
 */
static int start(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	if (ag_alloc_profile_listen(jvm, profile, JVMTI_EVENT_CLASS_PREPARE) != 0 ||
	    learn_loaded(jvm, profile) != 0)
		return -1;
	profile->exact->alloc_code = ag_alloc_code_install(jvm, profile);
	if (!profile->exact->alloc_code)
		return -1;
	profile->exact->began_ns = ag_now_ns();
	ag_alloc_hooks_on(profile);
	return ag_alloc_profile_listen(jvm, profile, JVMTI_EVENT_VM_OBJECT_ALLOC);
}

static void disable_events(const struct ag_alloc_profile *profile)
{
	jvmtiEnv *ti = profile->ti;

	/* A call fails if its event was never enabled or if the JVM is shutting down: harmless. */
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_VM_OBJECT_ALLOC, NULL);
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
}

void ag_exact_off(struct ag_jvm *jvm, struct ag_alloc_profile *profile, jvmtiError *code)
{
	struct ag_exact *exact = profile->exact;

	*code = JVMTI_ERROR_NONE;
	if (exact->stopped)
		return;
	disable_events(profile);
	ag_alloc_hooks_off(profile);
	exact->stopped = true;
	if (exact->alloc_code)
		ag_alloc_code_remove(jvm, exact->alloc_code, code);
}

void ag_exact_tick(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	ag_alloc_code_tick(jvm, profile->exact->alloc_code);
}

int ag_exact_on(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	jvmtiError code;

	if (prepare(jvm, profile) != 0)
		return -1;
	ag_alloc_hooks_open(profile);
	if (start(jvm, profile) == 0)
		return 0;
	ag_exact_off(jvm, profile, &code); /* the error of start() remains recorded */
	return -1;
}

void ag_exact_let_go(struct ag_exact *exact)
{
	if (exact->registered)
		ag_alloc_hooks_give_back();
	exact->registered = false;
}

void ag_exact_free(struct ag_jvm *jvm, struct ag_alloc_profile *profile)
{
	struct ag_exact *exact = profile->exact;

	if (exact->alloc_code)
		ag_alloc_code_free(jvm, exact->alloc_code);
	if (!profile->left)
		ag_ref_global_drop(jvm->jni, exact->virtual_threads, &profile->globals);
	ag_exact_let_go(exact);
	profile->exact = NULL;
}

int ag_exact_notes(const struct ag_alloc_profile *profile, ag_alloc_profile_note_fn *report,
		   void *arg)
{
	const struct ag_exact *exact = profile->exact;
	uint64_t misattributed = __atomic_load_n(&exact->misattributed, __ATOMIC_RELAXED);
	int rc = exact->alloc_code ? ag_alloc_code_notes(exact->alloc_code, report, arg) : 0;

	if (rc != 0 || misattributed == 0)
		return rc;
	return report(arg, WIRE_ALLOC_FULL, "objects (counted at other stacks of their class)",
		      misattributed);
}
