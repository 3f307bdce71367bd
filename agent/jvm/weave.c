#include "jvm/weave.h"

#include <string.h>

#include "base/hash.h"
#include "jvm/capture.h"
#include "jvm/ref.h"

void ag_weave_set_hooked(struct ag_weave_class *class, bool hooked)
{
	__atomic_store_n(&class->hooked, hooked, __ATOMIC_SEQ_CST);
}

bool ag_weave_is_hooked(const struct ag_weave_class *class)
{
	return __atomic_load_n(&class->hooked, __ATOMIC_SEQ_CST);
}

bool ag_weave_is_touched(const struct ag_weave_class *class)
{
	return __atomic_load_n(&class->touched, __ATOMIC_SEQ_CST);
}

uint64_t ag_weave_name(const char *signature)
{
	return ag_hash(signature + 1, strlen(signature) - (*signature == 'L' ? 2 : 1));
}

int ag_weave_open(struct ag_jvm *jvm, struct ag_weave *weave, const struct ag_weaver *weaver)
{
	const jvmtiCapabilities capabilities = {
		.can_retransform_classes = 1,
		.can_retransform_any_class = 1,
		.can_tag_objects = 1,
	};

	weave->weaver = weaver;
	if ((*jvm->vm)->GetEnv(jvm->vm, (void **)&weave->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		weave->ti = NULL;
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	}
	return ag_ti_check(jvm, "AddCapabilities",
			   (*weave->ti)->AddCapabilities(weave->ti, &capabilities));
}

int ag_weave_begin(struct ag_jvm *jvm, struct ag_weave *weave)
{
	weave->thrown = ag_capture_exception(jvm);
	__atomic_store_n(&weave->jni, jvm->jni, __ATOMIC_SEQ_CST);
	return weave->thrown ? 0 : -1;
}

void ag_weave_end(struct ag_jvm *jvm, struct ag_weave *weave)
{
	__atomic_store_n(&weave->jni, NULL, __ATOMIC_SEQ_CST);
	ag_ref_drop(jvm, weave->thrown);
	weave->thrown = NULL;
}

int ag_weave_reserve(struct ag_jvm *jvm, struct ag_weave *weave, uint32_t n)
{
	while (weave->room < n) {
		uint32_t chunk = weave->room / AG_WEAVE_CHUNK;

		if (chunk == AG_WEAVE_CHUNKS)
			return ag_fail(jvm, "instrument classes", "there are too many");
		weave->chunks[chunk] = ag_jvm_alloc(jvm, AG_WEAVE_CHUNK,
						    sizeof(**weave->chunks));
		if (!weave->chunks[chunk])
			return -1;
		weave->room += AG_WEAVE_CHUNK;
	}
	return 0;
}

void ag_weave_release(struct ag_jvm *jvm, struct ag_weave *weave)
{
	for (uint32_t i = 0; i < weave->room / AG_WEAVE_CHUNK; i++)
		ag_free(jvm->mem, weave->chunks[i]);
	weave->room = 0;
	weave->n_classes = 0;
}

/* Retransforming */

static void give_up(const struct ag_weave_group *g, uint32_t index, jvmtiError code)
{
	ag_weave_set_hooked(ag_weave_class(g->weave, index), false);
	g->weave->weaver->give_up(g->weave, index, code);
}

static jvmtiError retransform(const struct ag_weave_group *g, uint32_t n, bool look)
{
	struct ag_weave *weave = g->weave;
	jvmtiError code;

	weave->pass = (struct ag_weave_pass){ .n = n, .look = look };
	for (uint32_t i = 0; i < n; i++)
		ag_weave_class(weave, g->members[i])->woven = AG_WOVEN_UNSEEN;
	code = (*weave->ti)->RetransformClasses(weave->ti, (jint)n, g->refs);
	/* The JVM takes an exception of the hook's for its own; none may stay. */
	(*g->jvm->jni)->ExceptionClear(g->jvm->jni);
	if (code == JVMTI_ERROR_WRONG_PHASE)
		g->jvm->stopping = true;
	return code;
}

/* Of the group those remain whose retransformation is not in vain. */
static uint32_t drop_vain(const struct ag_weave_group *g, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t index = g->members[i];
		struct ag_weave_class *class = ag_weave_class(g->weave, index);

		if (class->woven == AG_WOVEN_DONE) {
			g->members[left] = index;
			g->refs[left++] = g->refs[i];
		} else if (class->woven == AG_WOVEN_NO_MEMORY) {
			give_up(g, index, JVMTI_ERROR_OUT_OF_MEMORY);
		} else if (class->woven == AG_WOVEN_UNSEEN) {
			give_up(g, index, JVMTI_ERROR_INTERNAL);
		} else {
			ag_weave_set_hooked(class, false); /* the weaver knows why */
		}
	}
	return left;
}

/* The JVM has taken them; what the hook did not see of them is as it was. */
static void look_after(const struct ag_weave_group *g, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ag_weave_class(g->weave, g->members[i])->woven != AG_WOVEN_DONE)
			give_up(g, g->members[i], JVMTI_ERROR_INTERNAL);
	}
}

static struct ag_weave_group behind(const struct ag_weave_group *g, uint32_t n)
{
	return (struct ag_weave_group){ g->jvm, g->weave, g->members + n, g->refs + n };
}

/* A class that the JVM does not take is found by halves: mostly it is one of many. */
void ag_weave_in(const struct ag_weave_group *g, uint32_t n)
{
	jvmtiError code = JVMTI_ERROR_NONE;
	struct ag_weave_group second;

	while (n > 0 && !g->jvm->stopping) {
		code = retransform(g, n, false);
		if (!g->weave->pass.abandoned)
			break;
		n = drop_vain(g, n);
	}
	if (n == 0)
		return;
	if (code == JVMTI_ERROR_NONE && !g->jvm->stopping) {
		look_after(g, n);
		return;
	}
	if (n == 1 || g->jvm->stopping) {
		for (uint32_t i = 0; i < n; i++)
			give_up(g, g->members[i], code ? code : JVMTI_ERROR_WRONG_PHASE);
		return;
	}
	second = behind(g, n / 2);
	ag_weave_in(g, n / 2);
	ag_weave_in(&second, n - n / 2);
}

jvmtiError ag_weave_out(const struct ag_weave_group *g, uint32_t n)
{
	struct ag_weave_group second;
	jvmtiError code, other;

	if (n == 0 || g->jvm->stopping)
		return JVMTI_ERROR_NONE;
	code = retransform(g, n, false);
	if (code == JVMTI_ERROR_NONE || g->jvm->stopping)
		return code;
	if (n == 1)
		return retransform(g, n, false);
	second = behind(g, n / 2);
	code = ag_weave_out(g, n / 2);
	other = ag_weave_out(&second, n - n / 2);
	return other ? other : code;
}

jvmtiError ag_weave_look(const struct ag_weave_group *g)
{
	jvmtiError code = retransform(g, 1, true);

	return g->weave->pass.abandoned ? JVMTI_ERROR_NONE : code;
}
