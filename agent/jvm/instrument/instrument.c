#include "jvm/instrument/instrument.h"

#include <string.h>

#include "util/hash.h"
#include "jvm/capture/capture.h"
#include "jvm/code_change.h"
#include "jvm/jni_refs.h"

void ag_instrument_set_hooked(struct ag_instrument_class *class, bool hooked)
{
	__atomic_store_n(&class->hooked, hooked, __ATOMIC_SEQ_CST);
}

bool ag_instrument_is_hooked(const struct ag_instrument_class *class)
{
	return __atomic_load_n(&class->hooked, __ATOMIC_SEQ_CST);
}

bool ag_instrument_is_touched(const struct ag_instrument_class *class)
{
	return __atomic_load_n(&class->touched, __ATOMIC_SEQ_CST);
}

uint64_t ag_instrument_name(const char *signature)
{
	return ag_hash(signature + 1, strlen(signature) - (*signature == 'L' ? 2 : 1));
}

int ag_instrument_open(struct ag_jvm *jvm, struct ag_instrument *instrument,
		       const struct ag_instrumenter *ops)
{
	const jvmtiCapabilities capabilities = {
		.can_retransform_classes = 1,
		.can_retransform_any_class = 1,
		.can_tag_objects = 1,
	};

	instrument->ops = ops;
	if ((*jvm->vm)->GetEnv(jvm->vm, (void **)&instrument->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		instrument->ti = NULL;
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	}
	return ag_jvmti_check(jvm, "AddCapabilities",
			      (*instrument->ti)->AddCapabilities(instrument->ti, &capabilities));
}

int ag_instrument_begin(struct ag_jvm *jvm, struct ag_instrument *instrument)
{
	instrument->thrown = ag_capture_exception(jvm);
	__atomic_store_n(&instrument->jni, jvm->jni, __ATOMIC_SEQ_CST);
	return instrument->thrown ? 0 : -1;
}

void ag_instrument_end(struct ag_jvm *jvm, struct ag_instrument *instrument)
{
	__atomic_store_n(&instrument->jni, NULL, __ATOMIC_SEQ_CST);
	ag_ref_drop(jvm, instrument->thrown);
	instrument->thrown = NULL;
}

int ag_instrument_reserve(struct ag_jvm *jvm, struct ag_instrument *instrument, uint32_t n)
{
	while (instrument->room < n) {
		uint32_t chunk = instrument->room / AG_INSTRUMENT_CHUNK;

		if (chunk == AG_INSTRUMENT_CHUNKS)
			return ag_fail(jvm, "instrument classes", "there are too many");
		instrument->chunks[chunk] =
			ag_jvm_alloc(jvm, AG_INSTRUMENT_CHUNK, sizeof(**instrument->chunks));
		if (!instrument->chunks[chunk])
			return -1;
		instrument->room += AG_INSTRUMENT_CHUNK;
	}
	return 0;
}

void ag_instrument_release(struct ag_jvm *jvm, struct ag_instrument *instrument)
{
	for (uint32_t i = 0; i < instrument->room / AG_INSTRUMENT_CHUNK; i++)
		ag_free(jvm->mem, instrument->chunks[i]);
	instrument->room = 0;
	instrument->n_classes = 0;
}

static void give_up(const struct ag_instrument_group *g, uint32_t index, jvmtiError code)
{
	ag_instrument_set_hooked(ag_instrument_class(g->instrument, index), false);
	g->instrument->ops->give_up(g->instrument, index, code);
}

static jvmtiError retransform(const struct ag_instrument_group *g, uint32_t n, bool look)
{
	struct ag_instrument *instrument = g->instrument;
	jvmtiError code;

	instrument->pass = (struct ag_instrument_pass){ .n = n, .look = look };
	for (uint32_t i = 0; i < n; i++)
		ag_instrument_class(instrument, g->members[i])->outcome = AG_INSTRUMENTED_UNSEEN;
	if (!look)
		ag_code_change_begins();
	code = (*instrument->ti)->RetransformClasses(instrument->ti, (jint)n, g->refs);
	/* HotSpot treats the hook's exception as its own error; no exception may remain pending. */
	(*g->jvm->jni)->ExceptionClear(g->jvm->jni);
	if (code == JVMTI_ERROR_WRONG_PHASE)
		g->jvm->stopping = true;
	return code;
}

/*
 * Removes from the group the classes that the hook did not instrument.  Returns the number of
 * remaining classes.
 */
static uint32_t drop_unchanged(const struct ag_instrument_group *g, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t index = g->members[i];
		struct ag_instrument_class *class = ag_instrument_class(g->instrument, index);

		if (class->outcome == AG_INSTRUMENTED_DONE) {
			g->members[left] = index;
			g->refs[left++] = g->refs[i];
		} else if (class->outcome == AG_INSTRUMENTED_NO_MEMORY) {
			give_up(g, index, JVMTI_ERROR_OUT_OF_MEMORY);
		} else if (class->outcome == AG_INSTRUMENTED_UNSEEN) {
			give_up(g, index, JVMTI_ERROR_INTERNAL);
		} else {
			ag_instrument_set_hooked(class, false); /* AG_INSTRUMENTED_NOTHING */
		}
	}
	return left;
}

/* After a successful retransformation: gives up the classes for which the hook was not called. */
static void give_up_unseen(const struct ag_instrument_group *g, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ag_instrument_class(g->instrument, g->members[i])->outcome !=
		    AG_INSTRUMENTED_DONE)
			give_up(g, g->members[i], JVMTI_ERROR_INTERNAL);
	}
}

static struct ag_instrument_group group_after(const struct ag_instrument_group *g, uint32_t n)
{
	return (struct ag_instrument_group){ g->jvm, g->instrument, g->members + n, g->refs + n };
}

/*
 * Instruments the group.  If the JVM refuses the group, tries each half of it, because usually the
 * JVM refuses only one class.
 */
void ag_instrument_add(const struct ag_instrument_group *g, uint32_t n)
{
	jvmtiError code = JVMTI_ERROR_NONE;
	struct ag_instrument_group second;

	while (n > 0 && !g->jvm->stopping) {
		code = retransform(g, n, false);
		if (!g->instrument->pass.abandoned)
			break;
		n = drop_unchanged(g, n);
	}
	if (n == 0)
		return;
	if (code == JVMTI_ERROR_NONE && !g->jvm->stopping) {
		give_up_unseen(g, n);
		return;
	}
	if (n == 1 || g->jvm->stopping) {
		for (uint32_t i = 0; i < n; i++)
			give_up(g, g->members[i], code ? code : JVMTI_ERROR_WRONG_PHASE);
		return;
	}
	second = group_after(g, n / 2);
	ag_instrument_add(g, n / 2);
	ag_instrument_add(&second, n - n / 2);
}

jvmtiError ag_instrument_remove(const struct ag_instrument_group *g, uint32_t n)
{
	struct ag_instrument_group second;
	jvmtiError code, other;

	if (n == 0 || g->jvm->stopping)
		return JVMTI_ERROR_NONE;
	code = retransform(g, n, false);
	if (code == JVMTI_ERROR_NONE || g->jvm->stopping)
		return code;
	if (n == 1)
		return retransform(g, n, false);
	second = group_after(g, n / 2);
	code = ag_instrument_remove(g, n / 2);
	other = ag_instrument_remove(&second, n - n / 2);
	return other ? other : code;
}

jvmtiError ag_instrument_look(const struct ag_instrument_group *g)
{
	jvmtiError code = retransform(g, 1, true);

	return g->instrument->pass.abandoned ? JVMTI_ERROR_NONE : code;
}
