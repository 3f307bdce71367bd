#include "jvm/vthreads.h"

#include <string.h>

#include "jvm/ref.h"

#define SINCE 21 /* that FollowReferences looks into their stacks */

static int is_used(struct ag_jvm *jvm, jclass class, bool *used)
{
	char *signature = ag_class_signature(jvm, class);
	jint status = 0;
	int rc = signature ? 0 : -1;

	*used = signature && strcmp(signature, "Ljava/lang/VirtualThread;") == 0;
	ag_ti_free(jvm, signature);
	if (*used) {
		rc = AG_TI(jvm, GetClassStatus, class, &status);
		*used = status & JVMTI_CLASS_STATUS_INITIALIZED;
	}
	return rc;
}

/* The application's loaders may define no class in this package: there is one of the name. */
int ag_vthreads_find(struct ag_jvm *jvm, const struct ag_classes *classes, jclass *found)
{
	int release = ag_ti_release(jvm);

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

static jint JNICALL on_thread(jlong class_tag, jlong size, jlong *tag, jint length, void *user)
{
	(void)class_tag, (void)size, (void)length, (void)user;
	*tag = AG_VTHREAD_WHOLE;
	return 0;
}

static int list_threads(struct ag_jvm *jvm, struct ag_vthreads *threads)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_iteration_callback = on_thread };
	const jlong tag = AG_VTHREAD_WHOLE;

	if (AG_TI(jvm, IterateThroughHeap, 0, threads->class, &callbacks, NULL) != 0 ||
	    AG_TI(jvm, GetObjectsWithTags, 1, &tag, &threads->n, &threads->whole, NULL) != 0)
		return -1;
	return ag_ref_expect(jvm, threads->n + 64);
}

/* Also what is dead already may have none. */
static int drop_unfinished(struct ag_jvm *jvm, const struct ag_vthreads *threads)
{
	JNIEnv *jni = jvm->jni;
	jfieldID field = ag_ref_field(jvm, threads->class, "cont",
				      "Ljdk/internal/vm/Continuation;");

	for (jint i = 0; i < threads->n && field; i++) {
		jobject continuation = (*jni)->GetObjectField(jni, threads->whole[i], field);

		if (!continuation && AG_TI(jvm, SetTag, threads->whole[i], 0) != 0)
			return -1;
		ag_ref_drop(jvm, continuation);
	}
	return field ? 0 : -1;
}

int ag_vthreads_mark(struct ag_jvm *jvm, const struct ag_classes *classes,
		     struct ag_vthreads *threads)
{
	*threads = (struct ag_vthreads){ 0 };
	if (ag_vthreads_find(jvm, classes, &threads->class) != 0)
		return -1;
	if (!threads->class)
		return 0;
	if (AG_TI(jvm, SetTag, threads->class, AG_VTHREAD_CLASS) != 0)
		return -1;
	return list_threads(jvm, threads) == 0 ? drop_unfinished(jvm, threads) : -1;
}

/* What fails here leaves tags that mean nothing to anybody, until the session ends. */
void ag_vthreads_forget(struct ag_jvm *jvm, struct ag_vthreads *threads)
{
	jvmtiEnv *ti = jvm->ti;

	for (jint i = 0; i < threads->n; i++) {
		(void)(*ti)->SetTag(ti, threads->whole[i], 0);
		ag_ref_drop(jvm, threads->whole[i]);
	}
	ag_ti_free(jvm, threads->whole);
	if (threads->class)
		(void)(*ti)->SetTag(ti, threads->class, 0);
	*threads = (struct ag_vthreads){ 0 };
}
