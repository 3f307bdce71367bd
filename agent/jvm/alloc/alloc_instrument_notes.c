#include <string.h>

#include "jvm/classes.h"
#include "jvm/profile_weave.h"
#include "jvm/ref.h"

#define FRAMES 128   /* of a thread's stack that are looked at */
#define OLD_MAX 100u /* methods that are told */
#define NAME_MAX_LEN 1000
#define OTHERS "other reasons"

/* Reasons */

void ag_weaving_reason(struct ag_weaving *w, const char *why, uint64_t n)
{
	struct ag_reason *row = w->reasons;

	for (;; row++) {
		const char *its = NULL;

		if (row == &w->reasons[AG_WEAVING_REASONS - 1])
			why = OTHERS;
		if (__atomic_compare_exchange_n(&row->why, &its, why, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST) ||
		    strcmp(its, why) == 0)
			break;
	}
	(void)__atomic_add_fetch(&row->n, n, __ATOMIC_RELAXED);
}

const char *ag_weaving_error(jvmtiError code)
{
	switch ((int)code) {
	case JVMTI_ERROR_OUT_OF_MEMORY:
		return "memory ran out";
	case JVMTI_ERROR_WRONG_PHASE:
		return "the JVM is leaving";
	case JVMTI_ERROR_FAILS_VERIFICATION:
		return "the JVM's verifier refuses their code";
	case JVMTI_ERROR_UNMODIFIABLE_CLASS:
		return "the JVM lets nobody change them";
	default:
		return "the JVM refuses to retransform them";
	}
}

/* Code from before */

static struct ag_old_code *find_row(const struct ag_weaving *w, const char *name, uint32_t *n)
{
	struct ag_old_code *row = w->old;

	for (*n = 0; row && strcmp(row->name, name) != 0; row = row->next)
		++*n;
	return row;
}

static struct ag_old_code *add_row(struct ag_jvm *jvm, struct ag_weaving *w, const char *name)
{
	struct ag_old_code *row = ag_alloc(jvm->mem, 1, sizeof(*row));
	char *copy = ag_alloc(jvm->mem, strlen(name) + 1, 1);

	if (!row || !copy) {
		ag_free(jvm->mem, row);
		ag_free(jvm->mem, copy);
		return NULL;
	}
	memcpy(copy, name, strlen(name));
	*row = (struct ag_old_code){ .name = copy, .next = w->old };
	w->old = row;
	return row;
}

static void note_old(struct ag_jvm *jvm, struct ag_weaving *w, const char *name, uint32_t thread)
{
	uint32_t n;
	struct ag_old_code *row = find_row(w, name, &n);

	if (!row && n < OLD_MAX)
		row = add_row(jvm, w, name);
	if (!row || row->last == thread)
		return;
	row->last = thread;
	row->threads++;
}

/* "La/b/C;", "m": "a.b.C.m"; false: it is too long. */
static bool make_name(char name[NAME_MAX_LEN], const char *signature, const char *method)
{
	size_t len = strlen(signature), method_len = strlen(method);

	if (*signature != 'L' || len + method_len >= NAME_MAX_LEN)
		return false;
	for (size_t i = 1; i < len - 1; i++)
		name[i - 1] = signature[i];
	for (size_t i = 0; i < len - 2; i++) {
		if (name[i] == '/')
			name[i] = '.';
	}
	name[len - 2] = '.';
	memcpy(name + len - 1, method, method_len + 1);
	return true;
}

static void name_old(struct ag_jvm *jvm, struct ag_weaving *w, jclass class, jmethodID id,
		     uint32_t thread)
{
	char name[NAME_MAX_LEN], *method = NULL, *signature = ag_class_signature(jvm, class);

	if (signature && AG_TI(jvm, GetMethodName, id, &method, NULL, NULL) == 0 &&
	    make_name(name, signature, method))
		note_old(jvm, w, name, thread);
	ag_ti_free(jvm, method);
	ag_ti_free(jvm, signature);
}

/* Of a class that has hooks now: what is obsolete of another one does not matter. */
static void look_at(struct ag_jvm *jvm, struct ag_weaving *w, jmethodID id, uint32_t thread)
{
	jboolean obsolete = JNI_FALSE;
	jclass class = NULL;
	jlong tag = 0;

	if (AG_TI(jvm, IsMethodObsolete, id, &obsolete) != 0 || !obsolete ||
	    AG_TI(jvm, GetMethodDeclaringClass, id, &class) != 0)
		return;
	if ((*w->weave.ti)->GetTag(w->weave.ti, class, &tag) == JVMTI_ERROR_NONE && tag > 0)
		name_old(jvm, w, class, id, thread);
	ag_ref_drop(jvm, class);
}

static void look_at_thread(struct ag_jvm *jvm, struct ag_weaving *w, jthread thread,
			   uint32_t number)
{
	jvmtiFrameInfo frames[FRAMES];
	jint n = 0;

	if (AG_TI(jvm, GetStackTrace, thread, 0, FRAMES, frames, &n) != 0)
		return; /* it has ended */
	for (jint i = 0; i < n && !jvm->stopping; i++) {
		look_at(jvm, w, frames[i].method, number);
		ag_forgive(jvm);
	}
}

void ag_weaving_find_old(struct ag_jvm *jvm, struct ag_weaving *w)
{
	jthread *threads = NULL;
	jint n = 0;

	if (AG_TI(jvm, GetAllThreads, &n, &threads) == 0) {
		for (jint i = 0; i < n && !jvm->stopping; i++) {
			look_at_thread(jvm, w, threads[i], (uint32_t)i + 1);
			ag_forgive(jvm);
		}
		for (jint i = 0; i < n; i++)
			ag_ref_drop(jvm, threads[i]);
		ag_ti_free(jvm, threads);
	}
	ag_forgive(jvm);
}

void ag_weaving_free_old(struct ag_jvm *jvm, struct ag_weaving *w)
{
	while (w->old) {
		struct ag_old_code *row = w->old;

		w->old = row->next;
		ag_free(jvm->mem, row->name);
		ag_free(jvm->mem, row);
	}
}

int ag_weaving_notes(const struct ag_weaving *w, ag_profile_note_fn *tell, void *arg)
{
	int rc = 0;

	for (const struct ag_old_code *row = w->old; row && rc == 0; row = row->next)
		rc = tell(arg, WIRE_ALLOC_OLD_CODE, row->name, row->threads);
	for (int i = 0; i < AG_WEAVING_REASONS && rc == 0; i++) {
		const char *why = __atomic_load_n(&w->reasons[i].why, __ATOMIC_SEQ_CST);

		if (!why)
			break;
		rc = tell(arg, WIRE_ALLOC_REFUSED, why,
			  __atomic_load_n(&w->reasons[i].n, __ATOMIC_RELAXED));
	}
	return rc;
}
