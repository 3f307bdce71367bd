/*
 * The hook of what weaves, and who is in it.
 */
#include <poll.h>
#include <string.h>

#include "base/hash.h"
#include "jvm/weave.h"

#define CAPACITY 64 /* more references than a callback has anyway */
#define PATIENCE_MS 2000
#define SLOTS 6 /* traces, and a profile */

/* Which weave an environment's hook works for. */
struct ag_weave_slot {
	int state;    /* of the following */
	jvmtiEnv *ti; /* NULL: none does */
	struct ag_weave *weave;
	uint32_t users;
};
enum { FREE = 0, TAKEN, LEFT /* free, once the last user has gone */ };
static struct ag_weave_slot slots[SLOTS];

static struct ag_weave_slot *enter(jvmtiEnv *ti)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct ag_weave_slot *slot = &slots[i];

		if (__atomic_load_n(&slot->ti, __ATOMIC_SEQ_CST) != ti)
			continue;
		(void)__atomic_add_fetch(&slot->users, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&slot->ti, __ATOMIC_SEQ_CST) == ti)
			return slot;
		(void)__atomic_sub_fetch(&slot->users, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void leave(struct ag_weave_slot *slot)
{
	(void)__atomic_sub_fetch(&slot->users, 1, __ATOMIC_SEQ_CST);
}

static bool is_used(const struct ag_weave_slot *slot)
{
	return __atomic_load_n(&slot->users, __ATOMIC_SEQ_CST) > 0;
}

static struct ag_weave_slot *take_slot(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct ag_weave_slot *slot = &slots[i];
		int state = __atomic_load_n(&slot->state, __ATOMIC_SEQ_CST);

		if (state == TAKEN || (state == LEFT && is_used(slot)))
			continue;
		if (__atomic_compare_exchange_n(&slot->state, &state, TAKEN, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return slot;
	}
	return NULL;
}

bool ag_weave_hand_on(const struct ag_weave_call *call, const void *data, size_t len)
{
	unsigned char *bytes = NULL;

	if (len > INT32_MAX ||
	    (*call->ti)->Allocate(call->ti, (jlong)len, &bytes) != JVMTI_ERROR_NONE)
		return false;
	memcpy(bytes, data, len);
	*call->new_bytes = bytes;
	*call->new_len = (jint)len;
	return true;
}

static void abandon(const struct ag_weave_call *call)
{
	call->weave->pass.abandoned = true;
	(void)(*call->jni)->Throw(call->jni, call->weave->thrown);
}

/*
 * A retransformation that changes nothing is not nothing: it deoptimises code, and classes with
 * a NaN constant grow.  So one that turns out to be in vain is abandoned, with all that are
 * asked for together, as in capture.c.
 */
static void take_part(const struct ag_weave_call *call, uint32_t index)
{
	struct ag_weave_class *class = ag_weave_class(call->weave, index);
	struct ag_weave_pass *pass = &call->weave->pass;

	class->woven = call->weave->weaver->weave(call, index, true);
	pass->hits++;
	pass->in_vain |= class->woven != AG_WOVEN_DONE;
	if (pass->hits >= pass->n && pass->in_vain)
		abandon(call);
}

static void take_look(const struct ag_weave_call *call, uint32_t index)
{
	ag_weave_class(call->weave, index)->woven = call->weave->weaver->look(call, index);
	abandon(call);
}

/* Someone else's retransformation.  What fails leaves the class as it comes in. */
static void stand_by(const struct ag_weave_call *call, uint32_t index)
{
	struct ag_weave_class *class = ag_weave_class(call->weave, index);

	__atomic_store_n(&class->touched, true, __ATOMIC_SEQ_CST);
	if (ag_weave_is_hooked(class))
		(void)call->weave->weaver->weave(call, index, false);
	else
		(void)ag_weave_hand_on(call, call->bytes, call->len);
}

/*
 * Is it the class itself?  While a class is being redefined, the JVM may load another one on
 * the same thread, and tells that one's name, loader and bytes (see capture.c).
 */
static bool is_of_loader(const struct ag_weave_call *call, jclass class)
{
	JNIEnv *jni = call->jni;
	jobject its;
	bool same;

	if ((*call->ti)->GetClassLoader(call->ti, class, &its) != JVMTI_ERROR_NONE)
		return false;
	same = (*jni)->IsSameObject(jni, its, call->loader);
	if (its)
		(*jni)->DeleteLocalRef(jni, its);
	return same;
}

/* As in capture.c, before any other: -Xcheck:jni counts the references of all frames. */
static void prepare_jni(JNIEnv *jni)
{
	if ((*jni)->EnsureLocalCapacity(jni, CAPACITY) != JNI_OK)
		(*jni)->ExceptionClear(jni);
}

static void untagged(const struct ag_weave_call *call)
{
	if (!call->weave->weaver->untagged)
		return;
	if (call->loader)
		prepare_jni(call->jni);
	call->weave->weaver->untagged(call);
}

static void consult(const struct ag_weave_call *call, jclass class)
{
	struct ag_weave *weave = call->weave;
	JNIEnv *jni = call->jni;
	uint32_t index, n = __atomic_load_n(&weave->n_classes, __ATOMIC_SEQ_CST);
	jlong tag = 0;

	if (class && (*call->ti)->GetTag(call->ti, class, &tag) != JVMTI_ERROR_NONE)
		return;
	if (tag == 0)
		untagged(call);
	if (tag <= 0 || tag > n)
		return;
	index = (uint32_t)tag - 1;
	if (ag_weave_class(weave, index)->name != ag_hash(call->name, strlen(call->name))) {
		untagged(call);
		return;
	}
	prepare_jni(jni);
	/* With an exception pending it is abandoned anyhow, and JNI must not be called. */
	if ((*jni)->ExceptionCheck(jni) || !is_of_loader(call, class))
		return;
	if (jni != __atomic_load_n(&weave->jni, __ATOMIC_SEQ_CST))
		stand_by(call, index);
	else if (weave->pass.look)
		take_look(call, index);
	else if (ag_weave_is_hooked(ag_weave_class(weave, index)))
		take_part(call, index);
	else
		(void)ag_weave_hand_on(call, call->bytes, call->len); /* else see patches.h */
}

/* On every thread; a class that is merely loaded is let through without any call, if it can. */
static void JNICALL hook(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader,
			 const char *name, jobject domain, jint len, const unsigned char *bytes,
			 jint *new_len, unsigned char **new_bytes)
{
	struct ag_weave_call call = {
		.ti = ti, .jni = jni, .loader = loader, .name = name,
		.bytes = bytes, .len = (size_t)len,
		.new_len = new_len, .new_bytes = new_bytes,
	};
	struct ag_weave_slot *slot;

	(void)domain;
	if (!name || len <= 0)
		return;
	slot = enter(ti);
	if (!slot)
		return;
	call.weave = slot->weave;
	if (class || call.weave->weaver->untagged)
		consult(&call, class);
	leave(slot);
}

int ag_weave_listen(struct ag_jvm *jvm, struct ag_weave *weave, const char *what)
{
	const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = hook };
	struct ag_weave_slot *slot = take_slot();
	jvmtiEnv *ti = weave->ti;

	if (!slot)
		return ag_fail(jvm, what, "others go on or have not ended yet");
	weave->slot = slot;
	slot->weave = weave;
	__atomic_store_n(&slot->ti, ti, __ATOMIC_SEQ_CST);
	return ag_ti_listen(jvm, ti, &callbacks, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
}

bool ag_weave_deafen(struct ag_weave *weave)
{
	struct ag_weave_slot *slot = weave->slot;
	int64_t end = ag_now_ns() + (int64_t)PATIENCE_MS * 1000000;
	bool used = false;

	if (slot)
		__atomic_store_n(&slot->ti, NULL, __ATOMIC_SEQ_CST);
	if (weave->ti)
		(void)(*weave->ti)->DisposeEnvironment(weave->ti); /* the JVM may be leaving */
	weave->ti = NULL;
	weave->slot = NULL;
	if (!slot)
		return true;
	while ((used = is_used(slot)) && ag_now_ns() < end)
		(void)poll(NULL, 0, 1);
	__atomic_store_n(&slot->state, used ? LEFT : FREE, __ATOMIC_SEQ_CST);
	return !used;
}
