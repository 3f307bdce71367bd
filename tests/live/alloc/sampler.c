/*
 * An agent that samples allocations as other profilers do: "hold" acquires the capability, which
 * only one agent can have, and "release" relinquishes it.  Returns 1 if another agent has it.
 */
#include <jvmti.h>
#include <string.h>

static jvmtiEnv *held;

static void JNICALL sampled(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object, jclass class,
			    jlong size)
{
	(void)ti;
	(void)jni;
	(void)thread;
	(void)object;
	(void)class;
	(void)size;
}

static int hold(JavaVM *vm)
{
	jvmtiEventCallbacks callbacks = { .SampledObjectAlloc = sampled };
	jvmtiCapabilities wanted = { .can_generate_sampled_object_alloc_events = 1 };

	if (held)
		return 2;
	if ((*vm)->GetEnv(vm, (void **)&held, JVMTI_VERSION_1_0) != JNI_OK)
		return 3;
	if ((*held)->AddCapabilities(held, &wanted)) {
		(*held)->DisposeEnvironment(held);
		held = NULL;
		return 1;
	}
	if ((*held)->SetEventCallbacks(held, &callbacks, sizeof(callbacks)) ||
	    (*held)->SetEventNotificationMode(held, JVMTI_ENABLE,
					      JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL))
		return 4;
	return 0;
}

static int release(void)
{
	jvmtiError code;

	if (!held)
		return 5;
	code = (*held)->DisposeEnvironment(held);
	held = NULL;
	return code ? 6 : 0;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return options && strcmp(options, "release") == 0 ? release() : hold(vm);
}
