#include "jvm/graph/vthreads.h"

#include <string.h>

#include "jvm/jni_refs.h"

#define SINCE 21 /* the first JDK whose FollowReferences visits stacks of virtual threads */
#define OFFSET_MAX 1024
#define ACC_STATIC 0x0008 /* JVMS table 4.5-A */

static int is_used(struct ag_jvm *jvm, jclass class, bool *used)
{
	char *signature = ag_class_signature(jvm, class);
	jint status = 0;
	int rc = signature ? 0 : -1;

	*used = signature && strcmp(signature, "Ljava/lang/VirtualThread;") == 0;
	ag_jvmti_free(jvm, signature);
	if (*used) {
		rc = AG_JVMTI(jvm, GetClassStatus, class, &status);
		*used = status & JVMTI_CLASS_STATUS_INITIALIZED;
	}
	return rc;
}

/* Identifies the class by its name alone: application loaders cannot define classes in java.*. */
int ag_vthreads_find(struct ag_jvm *jvm, const struct ag_classes *classes, jclass *found)
{
	int release = ag_jvmti_release(jvm);

	*found = NULL;
	if (release < SINCE)
		return release < 0 ? -1 : 0;
	for (uint32_t i = 0; i < classes->n && !*found; i++) {
		bool used = false;

		if (classes->list[i] && is_used(jvm, classes->list[i], &used) != 0)
			return -1;
		if (used)
			*found = classes->list[i];
	}
	return 0;
}

/*
 * Decodes the offset of an instance field, in bytes, from its jfieldID.  If bit 0 of the id is set,
 * the id also contains data for a check, and the offset has only 7 bits (jfieldIDWorkaround.hpp).
 * Returns 0 if the offset is not below OFFSET_MAX.
 */
static uint32_t offset_of(jfieldID field)
{
	uint64_t id = (uint64_t)(uintptr_t)field;
	uint64_t offset = id & 1 ? id >> 2 & 127 : id >> 2;

	return offset < OFFSET_MAX ? (uint32_t)offset : 0;
}

static int probe(struct ag_jvm *jvm, struct ag_vthreads *threads, jclass class, jfieldID field)
{
	char *signature = NULL;
	jint modifiers = 0;
	jobject value;
	bool refers;

	if (AG_JVMTI(jvm, GetFieldModifiers, class, field, &modifiers) != 0 ||
	    AG_JVMTI(jvm, GetFieldName, class, field, NULL, &signature, NULL) != 0)
		return -1;
	refers = *signature == 'L' || *signature == '[';
	ag_jvmti_free(jvm, signature);
	if (!refers || modifiers & ACC_STATIC || threads->n == AG_VTHREAD_PROBES)
		return 0;
	value = (*jvm->jni)->GetObjectField(jvm->jni, threads->own, field);
	threads->probes[threads->n++] = (struct ag_vthread_probe){ offset_of(field), !value };
	ag_ref_drop(jvm, value);
	return 0;
}

static int make_probes(struct ag_jvm *jvm, struct ag_vthreads *threads)
{
	jclass class = (*jvm->jni)->FindClass(jvm->jni, "java/lang/Thread");
	jfieldID *fields = NULL;
	jint n = 0;
	int rc;

	if (ag_ref_threw(jvm, "FindClass"))
		return -1;
	rc = AG_JVMTI(jvm, GetClassFields, class, &n, &fields);
	for (jint i = 0; i < n && rc == 0; i++)
		rc = probe(jvm, threads, class, fields[i]);
	ag_jvmti_free(jvm, fields);
	ag_ref_drop(jvm, class);
	return rc;
}

int ag_vthreads_learn(struct ag_jvm *jvm, const struct ag_classes *classes, jobject own,
		      struct ag_vthreads *threads)
{
	jfieldID field;

	*threads = (struct ag_vthreads){ .own = own };
	if (ag_vthreads_find(jvm, classes, &threads->class) != 0)
		return -1;
	if (!threads->class)
		return 0;
	field = ag_ref_field(jvm, threads->class, "cont", "Ljdk/internal/vm/Continuation;");
	if (jvm->err.what || make_probes(jvm, threads) != 0)
		return -1;
	threads->offset = field ? offset_of(field) : 0; /* 0 if a later JDK has no field `cont` */
	return AG_JVMTI(jvm, SetTag, threads->class, AG_VTHREAD_CLASS);
}

static bool is_confirmed(const struct ag_vthreads *threads)
{
	uint64_t own = (uint64_t)(uintptr_t)ag_object_of(threads->own);
	uint32_t n_null = 0;

	for (uint32_t i = 0; i < threads->n; i++) {
		const struct ag_vthread_probe *probe = &threads->probes[i];

		if (probe->offset == 0 ||
		    ag_vthread_is_null(own, probe->offset, threads->colored) != probe->is_null)
			return false;
		n_null += probe->is_null;
	}
	return n_null > 0 && n_null < threads->n;
}

bool ag_vthreads_certain(struct ag_vthreads *threads)
{
	if (!threads->class)
		return true;
	if (threads->offset == 0 || !ag_is_plain(threads->own))
		return false;
	if (is_confirmed(threads))
		return true;
	threads->colored = true;
	return is_confirmed(threads);
}

/* Removes the tag.  If SetTag fails, the class is tagged until the session ends: harmless. */
void ag_vthreads_forget(struct ag_jvm *jvm, struct ag_vthreads *threads)
{
	if (threads->class)
		(void)(*jvm->ti)->SetTag(jvm->ti, threads->class, 0);
	*threads = (struct ag_vthreads){ 0 };
}
