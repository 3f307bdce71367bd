#include <string.h>

#include "jvm/classes.h"
#include "jvm/profile_exact_state.h"
#include "jvm/ref.h"

/* Classes */

/* As long as the class is not linked it tells no fields. */
static void learn_carrier(struct ag_profile *profile, JNIEnv *jni, jclass class)
{
	struct ag_jvm jvm = { .ti = profile->ti, .jni = jni }; /* its errors go nowhere */
	jfieldID field = ag_ref_field(&jvm, class, "carrierThread", "Ljava/lang/Thread;");
	jclass held, none = NULL;

	if (!field)
		return;
	held = (*jni)->NewGlobalRef(jni, class);
	if (!held)
		return;
	if (!__atomic_compare_exchange_n(&profile->exact->virtual_threads, &none, held, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		(*jni)->DeleteGlobalRef(jni, held);
	__atomic_store_n(&profile->exact->carrier, field, __ATOMIC_RELEASE);
}

void ag_exact_learn(struct ag_profile *profile, JNIEnv *jni, jclass class)
{
	const char *signature;
	bool shared = false;
	uint32_t kind;
	jint hash;

	if ((*profile->ti)->GetObjectHashCode(profile->ti, class, &hash) != JVMTI_ERROR_NONE)
		return;
	kind = ag_kinds_of(profile->kinds, profile->ti, jni, class, hash, &shared);
	if (shared && !ag_exact_is_shared(profile->exact, (uint32_t)hash))
		ag_hooks_share(profile->exact, hash);
	signature = ag_kinds_signature(profile->kinds, kind);
	if (signature && strcmp(signature, "Ljava/lang/VirtualThread;") == 0 &&
	    !profile->exact->carrier)
		learn_carrier(profile, jni, class);
}

static void JNICALL class_prepared(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jclass class)
{
	struct ag_teller *teller;
	struct ag_profile *profile = ag_teller_come(jni, &teller);

	(void)ti, (void)thread;
	if (!profile)
		return;
	ag_exact_learn(profile, jni, class);
	ag_teller_go(teller);
}

static int learn_loaded(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct ag_classes classes = { 0 };
	int rc;

	if (ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_classes_get(jvm, &classes);
	if (rc == 0) /* JDK 8 and 11 count what frames further out hold */
		rc = ag_ref_expect(jvm, 2 * ((jint)classes.n + 64));
	for (uint32_t i = 0; rc == 0 && i < classes.n; i++)
		ag_exact_learn(profile, jvm->jni, classes.list[i]);
	ag_classes_release(jvm, &classes);
	ag_ref_pop(jvm);
	return rc;
}

/* Beginning and ending */

#define IDLE_MS 1000

static uint32_t held; /* one exact profile at a time: a hook tells no other's */

static int hold(struct ag_jvm *jvm, struct ag_exact *exact)
{
	uint32_t free = 0;

	if (!__atomic_compare_exchange_n(&held, &free, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return ag_fail(jvm, "count every allocation",
			       "another jtool alloc --exact or a recording does already, and only "
			       "one can: wait until it has ended");
	exact->held = true;
	if (!ag_hooks_idle(IDLE_MS))
		return ag_fail(jvm, "count every allocation",
			       "a suspended thread is still in a hook of an earlier profile");
	return 0;
}

static int add_capabilities(struct ag_jvm *jvm, struct ag_profile *profile)
{
	const jvmtiCapabilities wanted = {
		.can_generate_vm_object_alloc_events = 1, .can_get_bytecodes = 1,
	};

	profile->callbacks.ClassPrepare = class_prepared;
	profile->callbacks.VMObjectAlloc = ag_exact_vm_alloc;
	return ag_ti_check(jvm, "AddCapabilities",
			   (*profile->ti)->AddCapabilities(profile->ti, &wanted));
}

static int prepare(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct ag_exact *exact = ag_arena_take(&profile->arena, sizeof(*exact));

	if (exact)
		exact->methods = ag_arena_take(&profile->arena, sizeof(*exact->methods)
					       << AG_METHODS_BITS);
	if (!exact || !exact->methods)
		return ag_fail(jvm, "count every allocation", "so little memory is not enough");
	exact->profile = profile;
	profile->exact = exact;
	ag_places_begin(exact);
	if (hold(jvm, exact) != 0 || ag_sizes_measure(jvm, &exact->sizes) != 0)
		return -1;
	return add_capabilities(jvm, profile);
}

/* Classes that come meanwhile are told of by the event: so it comes first. */
static int start(struct ag_jvm *jvm, struct ag_profile *profile)
{
	if (ag_profile_listen(jvm, profile, JVMTI_EVENT_CLASS_PREPARE) != 0 ||
	    learn_loaded(jvm, profile) != 0)
		return -1;
	profile->exact->weaving = ag_weaving_in(jvm, profile);
	if (!profile->exact->weaving)
		return -1;
	profile->exact->began_ns = ag_now_ns();
	ag_hooks_on(profile);
	return ag_profile_listen(jvm, profile, JVMTI_EVENT_VM_OBJECT_ALLOC);
}

static void deafen(const struct ag_profile *profile)
{
	jvmtiEnv *ti = profile->ti;

	/* of an event that was never enabled, or of a JVM that is leaving */
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_VM_OBJECT_ALLOC, NULL);
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
}

void ag_exact_off(struct ag_jvm *jvm, struct ag_profile *profile, jvmtiError *code)
{
	struct ag_exact *exact = profile->exact;

	*code = JVMTI_ERROR_NONE;
	if (exact->still)
		return;
	deafen(profile);
	ag_hooks_off(profile);
	exact->still = true;
	if (exact->weaving)
		ag_weaving_out(jvm, exact->weaving, code);
}

void ag_exact_tick(struct ag_jvm *jvm, struct ag_profile *profile)
{
	ag_weaving_tick(jvm, profile->exact->weaving);
}

int ag_exact_on(struct ag_jvm *jvm, struct ag_profile *profile)
{
	jvmtiError code;

	if (prepare(jvm, profile) != 0)
		return -1;
	ag_hooks_open(profile);
	if (start(jvm, profile) == 0)
		return 0;
	ag_exact_off(jvm, profile, &code); /* what failed first is what is told */
	return -1;
}

void ag_exact_free(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct ag_exact *exact = profile->exact;

	if (exact->weaving)
		ag_weaving_free(jvm, exact->weaving);
	if (exact->virtual_threads && !profile->left)
		(*jvm->jni)->DeleteGlobalRef(jvm->jni, exact->virtual_threads);
	if (exact->held)
		__atomic_store_n(&held, 0, __ATOMIC_RELEASE);
	profile->exact = NULL;
}

int ag_exact_notes(const struct ag_profile *profile, ag_profile_note_fn *tell, void *arg)
{
	const struct ag_exact *exact = profile->exact;
	uint64_t strayed = __atomic_load_n(&exact->strayed, __ATOMIC_RELAXED);
	int rc = exact->weaving ? ag_weaving_notes(exact->weaving, tell, arg) : 0;

	if (rc != 0 || strayed == 0)
		return rc;
	return tell(arg, WIRE_ALLOC_FULL, "objects, counted at other stacks of their class,",
		    strayed);
}
