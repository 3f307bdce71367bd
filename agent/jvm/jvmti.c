#include "jvm/jvmti.h"

static const char *error_name(jvmtiError code)
{
	switch (code) {
#define NAME(code) \
	case JVMTI_ERROR_##code: \
		return #code;
	NAME(INVALID_THREAD)
	NAME(INVALID_OBJECT)
	NAME(INVALID_CLASS)
	NAME(CLASS_NOT_PREPARED)
	NAME(INVALID_METHODID)
	NAME(INVALID_FIELDID)
	NAME(NOT_FOUND)
	NAME(NOT_AVAILABLE)
	NAME(MUST_POSSESS_CAPABILITY)
	NAME(NULL_POINTER)
	NAME(UNMODIFIABLE_CLASS)
	NAME(OUT_OF_MEMORY)
	NAME(ACCESS_DENIED)
	NAME(ILLEGAL_ARGUMENT)
	NAME(INTERNAL)
	NAME(UNATTACHED_THREAD)
	NAME(INVALID_ENVIRONMENT)
#undef NAME
	default:
		return "JVMTI error";
	}
}

int ag_jvmti_check(struct ag_jvm *jvm, const char *what, jvmtiError code)
{
	if (code == JVMTI_ERROR_NONE)
		return 0;
	if (code == JVMTI_ERROR_WRONG_PHASE)
		jvm->stopping = true;
	if (!jvm->err.what)
		jvm->err = (struct ag_error){ what, code, error_name(code) };
	return -1;
}

void ag_clear_error(struct ag_jvm *jvm)
{
	jvm->err = (struct ag_error){ 0 };
}

void *ag_jvm_alloc(struct ag_jvm *jvm, size_t n, size_t size)
{
	void *p = ag_alloc(jvm->mem, n, size);

	if (!p)
		(void)ag_fail_memory(jvm);
	return p;
}

void ag_jvmti_free(struct ag_jvm *jvm, void *p)
{
	if (p)
		(void)AG_JVMTI(jvm, Deallocate, p);
}

int ag_jvmti_listen(struct ag_jvm *jvm, jvmtiEnv *ti, const jvmtiEventCallbacks *callbacks,
		    jvmtiEvent event)
{
	if (ag_jvmti_check(jvm, "SetEventCallbacks",
			   (*ti)->SetEventCallbacks(ti, callbacks, sizeof(*callbacks))) != 0)
		return -1;
	return ag_jvmti_check(jvm, "SetEventNotificationMode",
			      (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, event, NULL));
}

int ag_jvmti_release(struct ag_jvm *jvm)
{
	jint version;

	if (AG_JVMTI(jvm, GetVersionNumber, &version) != 0)
		return -1;
	return (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR;
}
