/* The ClassFileLoadHook of traces and exact profiles, and its in-flight counters. */
#include <string.h>

#include "jvm/classes.h"
#include "jvm/instrument/instrument.h"
#include "jvm/instrument/quiesce.h"
#include "jvm/jni_refs.h"
#include "util/hash.h"

#define PATIENCE_MS 2000
#define SLOTS 6 /* maximum number of running traces and profiles, together */

/* Maps the JVMTI environment of a trace or profile to its ag_instrument.  Never freed. */
struct ag_instrument_slot {
	uint32_t taken; /* claimed with ag_quiesce_claim() */
	jvmtiEnv *ti;   /* the environment: the "owner's word" of quiesce.h; NULL: no owner */
	struct ag_instrument *instrument;
	struct ag_quiesce_shard in_flight[1]; /* one shard is enough: classes are loaded rarely */
};
static struct ag_instrument_slot listeners[SLOTS];
#define WORDS(slot) AG_QUIESCE_WORDS((slot)->in_flight, word)

static struct ag_instrument_slot *enter(jvmtiEnv *ti)
{
	for (struct ag_instrument_slot *slot = listeners; slot < listeners + SLOTS; slot++) {
		if (AG_QUIESCE_LOOK(&slot->ti) != ti)
			continue;
		ag_quiesce_enter(&slot->in_flight->word);
		if (AG_QUIESCE_LOOK(&slot->ti) == ti)
			return slot;
		ag_quiesce_leave(&slot->in_flight->word);
	}
	return NULL;
}

static struct ag_instrument_slot *take_slot(void)
{
	for (struct ag_instrument_slot *slot = listeners; slot < listeners + SLOTS; slot++) {
		if (ag_quiesce_claim(&slot->taken, WORDS(slot)))
			return slot;
	}
	return NULL;
}

bool ag_instrument_pass_through(const struct ag_instrument_call *call, const void *data, size_t len)
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

static void abandon(const struct ag_instrument_call *call)
{
	call->instrument->pass.abandoned = true;
	(void)(*call->jni)->Throw(call->jni, call->instrument->thrown);
}

/*
 * Instruments a class of the current pass, on the thread that started the retransformation.
 *
 * Even a retransformation that does not change the bytes deoptimises code, and appends a copy of
 * each NaN to the class's constant pool (ConstantPool::compare_entry_to()).  So if at least one
 * class of the pass would not change, the last call of the hook throws an exception, as in
 * capture.c: HotSpot then retransforms no class of the pass.
 */
static void instrument_own(const struct ag_instrument_call *call, uint32_t index)
{
	struct ag_instrument_class *class = ag_instrument_class(call->instrument, index);
	struct ag_instrument_pass *pass = &call->instrument->pass;

	class->outcome = call->instrument->ops->instrument(call, index, true);
	pass->hits++;
	pass->unchanged |= class->outcome != AG_INSTRUMENTED_DONE;
	if (pass->hits >= pass->n && pass->unchanged)
		abandon(call);
}

static void dry_run(const struct ag_instrument_call *call, uint32_t index)
{
	ag_instrument_class(call->instrument, index)->outcome =
		call->instrument->ops->look(call, index);
	abandon(call);
}

/*
 * Handles a retransformation that another thread has started.  If the class is marked as hooked,
 * instruments the class; else returns the class without hooks.  If this fails, HotSpot uses the
 * bytes that it passed to the hook.
 */
static void instrument_other(const struct ag_instrument_call *call, uint32_t index)
{
	struct ag_instrument_class *class = ag_instrument_class(call->instrument, index);

	__atomic_store_n(&class->touched, true, __ATOMIC_SEQ_CST);
	if (ag_instrument_is_hooked(class))
		(void)call->instrument->ops->instrument(call, index, false);
	else
		(void)ag_instrument_pass_through(call, call->bytes, call->len);
}

static void untagged(const struct ag_instrument_call *call)
{
	if (!call->instrument->ops->untagged)
		return;
	if (call->loader)
		ag_ref_expect_callback(call->jni);
	call->instrument->ops->untagged(call);
}

static void dispatch(const struct ag_instrument_call *call, jclass class)
{
	struct ag_instrument *instrument = call->instrument;
	JNIEnv *jni = call->jni;
	uint32_t index, n = __atomic_load_n(&instrument->n_classes, __ATOMIC_SEQ_CST);
	jlong tag = 0;

	if (class && (*call->ti)->GetTag(call->ti, class, &tag) != JVMTI_ERROR_NONE)
		return;
	if (tag == 0)
		untagged(call);
	if (tag <= 0 || tag > n)
		return;
	index = (uint32_t)tag - 1;
	if (ag_instrument_class(instrument, index)->name !=
	    ag_hash(call->name, strlen(call->name))) {
		untagged(call);
		return;
	}
	if (!ag_class_is_hooked(call->ti, jni, class, call->loader, false))
		return;
	if (jni != __atomic_load_n(&instrument->jni, __ATOMIC_SEQ_CST))
		instrument_other(call, index);
	else if (instrument->pass.look)
		dry_run(call, index);
	else if (ag_instrument_is_hooked(ag_instrument_class(instrument, index)))
		instrument_own(call, index);
	else
		/*
		 * Return a copy of the bytes: patches.h says what HotSpot does if a hook returns
		 * no bytes.  Ignore a lack of memory, because the class then does not change.
		 */
		(void)ag_instrument_pass_through(call, call->bytes, call->len);
}

/*
 * Calls dispatch() for each class that is being redefined or retransformed.  If `ops` has the
 * function untagged(), also calls dispatch() for each class that is being loaded, which has no tag
 * yet.  Runs on every thread that loads, redefines or retransforms a class.
 */
static void JNICALL hook(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader,
			 const char *name, jobject domain, jint len, const unsigned char *bytes,
			 jint *new_len, unsigned char **new_bytes)
{
	struct ag_instrument_call call = {
		.ti = ti,
		.jni = jni,
		.loader = loader,
		.name = name,
		.bytes = bytes,
		.len = (size_t)len,
		.new_len = new_len,
		.new_bytes = new_bytes,
	};
	struct ag_instrument_slot *slot;

	(void)domain;
	if (!name || len <= 0)
		return;
	slot = enter(ti);
	if (!slot)
		return;
	call.instrument = slot->instrument;
	if (class || call.instrument->ops->untagged)
		dispatch(&call, class);
	ag_quiesce_leave(&slot->in_flight->word);
}

int ag_instrument_listen(struct ag_jvm *jvm, struct ag_instrument *instrument, const char *what)
{
	const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = hook };
	struct ag_instrument_slot *slot = take_slot();
	jvmtiEnv *ti = instrument->ti;

	if (!slot)
		return ag_fail(jvm, what, "too many are active; stop another");
	instrument->slot = slot;
	slot->instrument = instrument;
	AG_QUIESCE_SET(&slot->ti, ti);
	return ag_jvmti_listen(jvm, ti, &callbacks, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
}

bool ag_instrument_disable_events(struct ag_jvm *jvm, struct ag_instrument *instrument)
{
	struct ag_instrument_slot *slot = instrument->slot;
	bool quiet = true;

	/*
	 * Wait first: a hook in flight still uses the environment, for example its tags, which
	 * DisposeEnvironment frees.  A hook that is called meanwhile finds no owner and returns.
	 */
	if (slot) {
		AG_QUIESCE_SET(&slot->ti, NULL);
		quiet = ag_quiesce_wait(WORDS(slot), jvm->jni, PATIENCE_MS);
	}
	if (instrument->ti)
		/* DisposeEnvironment fails only if the JVM is exiting. */
		(void)(*instrument->ti)->DisposeEnvironment(instrument->ti);
	if (slot)
		ag_quiesce_release(&slot->taken);
	instrument->ti = NULL;
	instrument->slot = NULL;
	return quiet;
}
