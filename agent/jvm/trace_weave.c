#include "jvm/trace_weave.h"

#include <poll.h>
#include <string.h>

#include "base/hash.h"

#define CAPACITY 64 /* more references than a callback has anyway */
#define BUDGET ((size_t)64 << 20) /* for one class */
#define PATIENCE_MS 2000

/* Which install an environment's hook works for. */
struct ag_weave_slot {
	int state;    /* of the following */
	jvmtiEnv *ti; /* NULL: none does */
	struct ag_install *install;
	uint32_t users;
};
enum { FREE = 0, TAKEN, LEFT /* free, once the last user has gone */ };
static struct ag_weave_slot slots[AG_TRACES];

static struct ag_weave_slot *enter(jvmtiEnv *ti)
{
	for (size_t i = 0; i < AG_TRACES; i++) {
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
	for (size_t i = 0; i < AG_TRACES; i++) {
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

/* One call of the hook. */
struct call {
	struct ag_install *install;
	jvmtiEnv *ti; /* not to be taken from the install, which goes first */
	JNIEnv *jni;
	const struct ag_weave_class *class;
	const unsigned char *bytes; /* what comes in */
	size_t len;
	jint *new_len;
	unsigned char **new_bytes;
};

/* False: no memory. */
static bool hand_on(const struct call *call, const uint8_t *data, size_t len)
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

/* What the methods are told, each its own or (probes NULL) why; on the installing thread only. */
static void record(const struct call *call, const struct cf_probe *probes, const char *why)
{
	struct ag_install_method *m = call->install->methods + call->class->first;

	for (uint32_t i = 0; i < call->class->n; i++) {
		m[i].refused = probes ? (uint32_t)probes[i].refused : 0;
		m[i].why = why;
	}
}

static enum ag_woven inject(const struct call *call, const struct cf_class *file,
			    struct cf_probe *probes, bool own)
{
	struct cf_output out = { .mem = file->pool.mem };
	const char *why = cf_inject(file, call->install->hooks, probes, call->class->n, &out);
	enum ag_woven woven = AG_WOVEN_NOTHING;

	if (own)
		record(call, why ? NULL : probes, why);
	if (!why && out.len > 0)
		woven = hand_on(call, out.data, out.len) ? AG_WOVEN_DONE : AG_WOVEN_NO_MEMORY;
	cf_output_release(&out);
	return woven;
}

/* Any thread: memory is not counted as the session's. */
static enum ag_woven weave(const struct call *call, bool own)
{
	struct ag_mem mem = { .budget = BUDGET };
	struct cf_probe *probes = ag_alloc(&mem, call->class->n, sizeof(*probes));
	enum ag_woven woven = AG_WOVEN_NOTHING;
	struct cf_class file;
	const char *why;

	if (!probes)
		return AG_WOVEN_NO_MEMORY;
	memcpy(probes, call->install->probes + call->class->first,
	       call->class->n * sizeof(*probes));
	why = cf_open(&file, call->bytes, call->len, &mem);
	if (why) {
		if (own)
			record(call, NULL, why);
	} else {
		woven = inject(call, &file, probes, own);
		cf_release(&file);
	}
	ag_free(&mem, probes);
	return woven;
}

/*
 * A retransformation that changes nothing is not nothing: it deoptimises code, and classes with
 * a NaN constant grow.  So one that turns out to be in vain is abandoned, with all that are
 * asked for together, as in capture.c.
 */
static void take_part(const struct call *call)
{
	struct ag_install *install = call->install;
	struct ag_weave_class *class = &install->classes[call->class - install->classes];
	struct ag_weave_pass *pass = &install->pass;

	class->woven = weave(call, true);
	pass->hits++;
	pass->in_vain |= class->woven != AG_WOVEN_DONE;
	if (pass->hits < pass->n || !pass->in_vain)
		return;
	pass->abandoned = true;
	(void)(*call->jni)->Throw(call->jni, install->thrown);
}

/* Someone else's retransformation.  What fails leaves the class as it comes in. */
static void stand_by(const struct call *call)
{
	struct ag_install *install = call->install;
	struct ag_weave_class *class = &install->classes[call->class - install->classes];

	__atomic_store_n(&class->touched, true, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&class->hooked, __ATOMIC_SEQ_CST))
		(void)weave(call, false);
	else
		(void)hand_on(call, call->bytes, call->len);
}

/*
 * Is it the class itself?  While a class is being redefined, the JVM may load another one on
 * the same thread, and tells that one's name, loader and bytes (see capture.c).
 */
static bool is_of_loader(const struct call *call, jclass class, jobject loader)
{
	JNIEnv *jni = call->jni;
	jobject its;
	bool same;

	if ((*call->ti)->GetClassLoader(call->ti, class, &its) != JVMTI_ERROR_NONE)
		return false;
	same = (*jni)->IsSameObject(jni, its, loader);
	if (its)
		(*jni)->DeleteLocalRef(jni, its);
	return same;
}

static void consult(struct call *call, jclass class, jobject loader, const char *name)
{
	struct ag_install *install = call->install;
	JNIEnv *jni = call->jni;
	jlong tag = 0;

	if ((*call->ti)->GetTag(call->ti, class, &tag) != JVMTI_ERROR_NONE || tag <= 0 ||
	    tag > install->n_classes)
		return;
	call->class = &install->classes[tag - 1];
	if (call->class->name != ag_hash(name, strlen(name)))
		return;
	/* As in capture.c, before any other: -Xcheck:jni counts the references of all frames. */
	if ((*jni)->EnsureLocalCapacity(jni, CAPACITY) != JNI_OK)
		(*jni)->ExceptionClear(jni);
	/* With an exception pending it is abandoned anyhow, and JNI must not be called. */
	if ((*jni)->ExceptionCheck(jni) || !is_of_loader(call, class, loader))
		return;
	if (jni != install->jni)
		stand_by(call);
	else if (__atomic_load_n(&call->class->hooked, __ATOMIC_SEQ_CST))
		take_part(call);
	else
		(void)hand_on(call, call->bytes, call->len); /* none has the same effect */
}

/* On every thread; a class that is merely loaded is let through without any call. */
static void JNICALL hook(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader,
			 const char *name, jobject domain, jint len, const unsigned char *bytes,
			 jint *new_len, unsigned char **new_bytes)
{
	struct call call = {
		.ti = ti, .jni = jni, .bytes = bytes, .len = (size_t)len,
		.new_len = new_len, .new_bytes = new_bytes,
	};
	struct ag_weave_slot *slot;

	(void)domain;
	if (!class || !name || len <= 0)
		return;
	slot = enter(ti);
	if (!slot)
		return;
	call.install = slot->install;
	consult(&call, class, loader, name);
	leave(slot);
}

int ag_weave_listen(struct ag_jvm *jvm, struct ag_install *install)
{
	const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = hook };
	struct ag_weave_slot *slot = take_slot();
	jvmtiEnv *ti = install->ti;

	if (!slot)
		return ag_fail(jvm, "begin a trace", "others go on or have not ended yet");
	install->slot = slot;
	slot->install = install;
	__atomic_store_n(&slot->ti, ti, __ATOMIC_SEQ_CST);
	if (ag_ti_check(jvm, "SetEventCallbacks",
			(*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks))) != 0)
		return -1;
	return ag_ti_check(jvm, "SetEventNotificationMode",
			   (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE,
							   JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
							   NULL));
}

bool ag_weave_deafen(struct ag_install *install)
{
	struct ag_weave_slot *slot = install->slot;
	int64_t end = ag_now_ns() + (int64_t)PATIENCE_MS * 1000000;
	bool used = false;

	if (slot)
		__atomic_store_n(&slot->ti, NULL, __ATOMIC_SEQ_CST);
	if (install->ti)
		(void)(*install->ti)->DisposeEnvironment(install->ti); /* the JVM may be leaving */
	install->ti = NULL;
	install->slot = NULL;
	if (!slot)
		return true;
	while ((used = is_used(slot)) && ag_now_ns() < end)
		(void)poll(NULL, 0, 1);
	__atomic_store_n(&slot->state, used ? LEFT : FREE, __ATOMIC_SEQ_CST);
	return !used;
}
