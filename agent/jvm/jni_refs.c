#include "jvm/jni_refs.h"

#include <string.h>

#define FRAME 32
#define CALLBACK 64 /* number of local references, more than any callback needs */
#define ACC_STATIC 0x0008 /* JVMS 4.5 */

int ag_ref_push(struct ag_jvm *jvm)
{
	if ((*jvm->jni)->PushLocalFrame(jvm->jni, FRAME) == JNI_OK)
		return 0;
	(void)ag_ref_threw(jvm, "PushLocalFrame");
	return ag_fail(jvm, "PushLocalFrame", "no memory");
}

void ag_ref_pop(struct ag_jvm *jvm)
{
	(void)(*jvm->jni)->PopLocalFrame(jvm->jni, NULL);
}

int ag_ref_expect(struct ag_jvm *jvm, jint n)
{
	/* HotSpot rejects a capacity above MaxJNILocalCapacity, but allows more references. */
	if (n > 65536)
		n = 65536;
	if ((*jvm->jni)->EnsureLocalCapacity(jvm->jni, n) == JNI_OK)
		return 0;
	(void)ag_ref_threw(jvm, "EnsureLocalCapacity");
	return ag_fail(jvm, "EnsureLocalCapacity", "no memory");
}

void ag_ref_expect_callback(JNIEnv *jni)
{
	if ((*jni)->EnsureLocalCapacity(jni, CALLBACK) != JNI_OK)
		(*jni)->ExceptionClear(jni);
}

void ag_ref_drop(struct ag_jvm *jvm, jobject ref)
{
	if (ref)
		(*jvm->jni)->DeleteLocalRef(jvm->jni, ref);
}

static jobject counted(JNIEnv *jni, jobject ref, uint64_t *count)
{
	if (ref)
		(void)__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	else
		(*jni)->ExceptionClear(jni); /* OutOfMemoryError */
	return ref;
}

jobject ag_ref_global(JNIEnv *jni, jobject object, uint64_t *count)
{
	return counted(jni, (*jni)->NewGlobalRef(jni, object), count);
}

jweak ag_ref_weak(JNIEnv *jni, jobject object, uint64_t *count)
{
	return counted(jni, (*jni)->NewWeakGlobalRef(jni, object), count);
}

void ag_ref_global_drop(JNIEnv *jni, jobject ref, uint64_t *count)
{
	if (!ref)
		return;
	(*jni)->DeleteGlobalRef(jni, ref);
	(void)__atomic_fetch_sub(count, 1, __ATOMIC_RELAXED);
}

void ag_ref_weak_drop(JNIEnv *jni, jweak ref, uint64_t *count)
{
	if (!ref)
		return;
	(*jni)->DeleteWeakGlobalRef(jni, ref);
	(void)__atomic_fetch_sub(count, 1, __ATOMIC_RELAXED);
}

bool ag_ref_threw(struct ag_jvm *jvm, const char *what)
{
	if (!(*jvm->jni)->ExceptionCheck(jvm->jni))
		return false;
	(*jvm->jni)->ExceptionClear(jvm->jni);
	(void)ag_fail(jvm, what, "it threw an exception");
	return true;
}

jclass ag_ref_class(struct ag_jvm *jvm, jobject object)
{
	return (*jvm->jni)->GetObjectClass(jvm->jni, object);
}

jclass ag_ref_super(struct ag_jvm *jvm, jclass class)
{
	return (*jvm->jni)->GetSuperclass(jvm->jni, class);
}

jclass ag_ref_base_class(struct ag_jvm *jvm, jobject object)
{
	jclass class = ag_ref_class(jvm, object);
	jclass super = class ? ag_ref_super(jvm, class) : NULL;

	while (super) {
		jclass next = ag_ref_super(jvm, super);

		if (!next)
			break;
		ag_ref_drop(jvm, class);
		class = super;
		super = next;
	}
	ag_ref_drop(jvm, super);
	return class;
}

/*
 * Compares name and signature, and excludes static fields: if a later JDK made the field static,
 * reading it as an instance field would crash the JVM.
 */
static bool field_is(struct ag_jvm *jvm, jclass class, jfieldID field, const char *name,
		     const char *signature)
{
	char *field_name = NULL, *field_signature = NULL;
	jint modifiers;
	bool same;

	if (AG_JVMTI(jvm, GetFieldName, class, field, &field_name, &field_signature, NULL) != 0)
		return false;
	same = strcmp(field_name, name) == 0 && strcmp(field_signature, signature) == 0;
	ag_jvmti_free(jvm, field_name);
	ag_jvmti_free(jvm, field_signature);
	return same && AG_JVMTI(jvm, GetFieldModifiers, class, field, &modifiers) == 0 &&
	       !(modifiers & ACC_STATIC);
}

jfieldID ag_ref_field(struct ag_jvm *jvm, jclass class, const char *name, const char *signature)
{
	jfieldID *fields = NULL, found = NULL;
	jint n = 0;

	if (AG_JVMTI(jvm, GetClassFields, class, &n, &fields) != 0)
		return NULL;
	for (jint i = 0; i < n && !found; i++) {
		if (field_is(jvm, class, fields[i], name, signature))
			found = fields[i];
	}
	ag_jvmti_free(jvm, fields);
	return found;
}
