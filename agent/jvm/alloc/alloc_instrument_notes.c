#include <string.h>

#include "jvm/classes.h"
#include "jvm/alloc/alloc_instrument.h"
#include "jvm/jni_refs.h"

#define FRAMES 128   /* maximum number of frames that are examined in each thread's stack */
#define OLD_MAX 100u /* maximum number of methods in ac->old */
#define NAME_MAX_LEN 1000
#define OTHERS "other reasons"

void ag_alloc_code_reason(struct ag_alloc_code *ac, const char *why, uint64_t n)
{
	struct ag_reason *row = ac->reasons;

	for (;; row++) {
		const char *expected = NULL;

		if (row == &ac->reasons[AG_ALLOC_CODE_REASONS - 1])
			why = OTHERS;
		if (__atomic_compare_exchange_n(&row->why, &expected, why, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST) ||
		    strcmp(expected, why) == 0)
			break;
	}
	(void)__atomic_add_fetch(&row->n, n, __ATOMIC_RELAXED);
}

const char *ag_alloc_code_error(jvmtiError code)
{
	switch ((int)code) {
	case JVMTI_ERROR_OUT_OF_MEMORY:
		return "out of memory";
	case JVMTI_ERROR_WRONG_PHASE:
		return "the JVM is shutting down";
	case JVMTI_ERROR_FAILS_VERIFICATION:
		return "the JVM's verifier refuses their code";
	case JVMTI_ERROR_UNMODIFIABLE_CLASS:
		return "the JVM forbids changing them";
	default:
		return "the JVM refuses to retransform them";
	}
}

static struct ag_old_code *find_row(const struct ag_alloc_code *ac, const char *name, uint32_t *n)
{
	struct ag_old_code *row = ac->old;

	for (*n = 0; row && strcmp(row->name, name) != 0; row = row->next)
		++*n;
	return row;
}

static struct ag_old_code *add_row(struct ag_jvm *jvm, struct ag_alloc_code *ac, const char *name)
{
	struct ag_old_code *row = ag_alloc(jvm->mem, 1, sizeof(*row));
	size_t size = strlen(name) + 1;
	char *copy = ag_alloc(jvm->mem, size, 1);

	if (!row || !copy) {
		ag_free(jvm->mem, row);
		ag_free(jvm->mem, copy);
		return NULL;
	}
	memcpy(copy, name, size);
	*row = (struct ag_old_code){ .name = copy, .next = ac->old };
	ac->old = row;
	return row;
}

static void note_old(struct ag_jvm *jvm, struct ag_alloc_code *ac, const char *name,
		     uint32_t thread)
{
	uint32_t n;
	struct ag_old_code *row = find_row(ac, name, &n);

	if (!row && n < OLD_MAX)
		row = add_row(jvm, ac, name);
	if (!row || row->last == thread)
		return;
	row->last = thread;
	row->threads++;
}

/* Formats "La/b/C;" and "m" as "a.b.C.m".  Returns false if the result is too long. */
static bool make_name(char name[NAME_MAX_LEN], const char *signature, const char *method)
{
	size_t len = strlen(signature), method_len = strlen(method);

	if (*signature != 'L' || len + method_len >= NAME_MAX_LEN)
		return false;
	for (size_t i = 1; i < len - 1; i++)
		name[i - 1] = signature[i] == '/' ? '.' : signature[i];
	name[len - 2] = '.';
	memcpy(name + len - 1, method, method_len + 1);
	return true;
}

static void name_old(struct ag_jvm *jvm, struct ag_alloc_code *ac, jclass class, jmethodID id,
		     uint32_t thread)
{
	char name[NAME_MAX_LEN], *method = NULL, *signature = ag_class_signature(jvm, class);

	if (signature && AG_JVMTI(jvm, GetMethodName, id, &method, NULL, NULL) == 0 &&
	    make_name(name, signature, method))
		note_old(jvm, ac, name, thread);
	ag_jvmti_free(jvm, method);
	ag_jvmti_free(jvm, signature);
}

/*
 * Notes the method of a stack frame if the method is obsolete: its class was changed while the
 * method was running.  Ignores an obsolete method if its class has no hooks, because then another
 * agent has changed the class.
 */
static void check_frame(struct ag_jvm *jvm, struct ag_alloc_code *ac, jmethodID id, uint32_t thread)
{
	jboolean obsolete = JNI_FALSE;
	jclass class = NULL;
	jlong tag = 0;

	if (AG_JVMTI(jvm, IsMethodObsolete, id, &obsolete) != 0 || !obsolete ||
	    AG_JVMTI(jvm, GetMethodDeclaringClass, id, &class) != 0)
		return;
	if ((*ac->base.ti)->GetTag(ac->base.ti, class, &tag) == JVMTI_ERROR_NONE && tag > 0)
		name_old(jvm, ac, class, id, thread);
	ag_ref_drop(jvm, class);
}

static void check_thread(struct ag_jvm *jvm, struct ag_alloc_code *ac, jthread thread,
			 uint32_t number)
{
	jvmtiFrameInfo frames[FRAMES];
	jint n = 0;

	if (AG_JVMTI(jvm, GetStackTrace, thread, 0, FRAMES, frames, &n) != 0)
		return; /* the thread has ended */
	for (jint i = 0; i < n && !jvm->stopping; i++) {
		check_frame(jvm, ac, frames[i].method, number);
		ag_clear_error(jvm);
	}
}

void ag_alloc_code_find_old(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	jthread *threads = NULL;
	jint n = 0;

	if (AG_JVMTI(jvm, GetAllThreads, &n, &threads) == 0) {
		for (jint i = 0; i < n && !jvm->stopping; i++) {
			check_thread(jvm, ac, threads[i], (uint32_t)i + 1);
			ag_clear_error(jvm);
		}
		for (jint i = 0; i < n; i++)
			ag_ref_drop(jvm, threads[i]);
		ag_jvmti_free(jvm, threads);
	}
	ag_clear_error(jvm);
}

void ag_alloc_code_free_old(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	while (ac->old) {
		struct ag_old_code *row = ac->old;

		ac->old = row->next;
		ag_free(jvm->mem, row->name);
		ag_free(jvm->mem, row);
	}
}

int ag_alloc_code_notes(const struct ag_alloc_code *ac, ag_alloc_profile_note_fn *report, void *arg)
{
	int rc = 0;

	for (const struct ag_old_code *row = ac->old; row && rc == 0; row = row->next)
		rc = report(arg, WIRE_ALLOC_OLD_CODE, row->name, row->threads);
	for (int i = 0; i < AG_ALLOC_CODE_REASONS && rc == 0; i++) {
		const char *why = __atomic_load_n(&ac->reasons[i].why, __ATOMIC_SEQ_CST);

		if (!why)
			break;
		rc = report(arg, WIRE_ALLOC_REFUSED, why,
			    __atomic_load_n(&ac->reasons[i].n, __ATOMIC_RELAXED));
	}
	return rc;
}
