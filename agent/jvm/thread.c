#include "jvm/thread.h"

#include "jvm/jni_refs.h"

#define NAME "jtool agent"

/*
 * Allocates a java.lang.Thread.  Finds that class as the base class (ag_ref_base_class()) of the
 * current thread's class.
 */
static jthread new_thread(struct ag_jvm *jvm)
{
	JNIEnv *jni = jvm->jni;
	jthread current, thread;
	jclass class;
	jmethodID constructor;
	jstring name;

	if (AG_JVMTI(jvm, GetCurrentThread, &current) != 0)
		return NULL;
	class = ag_ref_base_class(jvm, current);
	constructor = (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V");
	if (ag_ref_threw(jvm, "GetMethodID"))
		return NULL;
	name = (*jni)->NewStringUTF(jni, NAME);
	if (ag_ref_threw(jvm, "NewStringUTF"))
		return NULL;
	thread = (*jni)->NewObject(jni, class, constructor, name);
	return ag_ref_threw(jvm, "NewObject") ? NULL : thread;
}

int ag_thread_start(struct ag_jvm *jvm, jvmtiStartFunction run, void *arg)
{
	struct ag_jvm own = *jvm; /* *jvm may be freed as soon as the new thread runs */
	jthread thread;
	int rc = AG_THREAD_NO_OBJECT;

	if (ag_ref_push(&own) != 0)
		return -1;
	thread = new_thread(&own);
	if (thread)
		rc = AG_JVMTI(&own, RunAgentThread, thread, run, arg, JVMTI_THREAD_NORM_PRIORITY);
	ag_ref_pop(&own);
	return rc;
}
