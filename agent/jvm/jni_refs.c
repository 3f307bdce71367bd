#include "jvm/ref.h"

#include <string.h>

#define FRAME 32
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
	/* HotSpot refuses more than MaxJNILocalCapacity, 65536, but does not enforce it. */
	if (n > 65536)
		n = 65536;
	if ((*jvm->jni)->EnsureLocalCapacity(jvm->jni, n) == JNI_OK)
		return 0;
	(void)ag_ref_threw(jvm, "EnsureLocalCapacity");
	return ag_fail(jvm, "EnsureLocalCapacity", "no memory");
}

void ag_ref_drop(struct ag_jvm *jvm, jobject ref)
{
	if (ref)
		(*jvm->jni)->DeleteLocalRef(jvm->jni, ref);
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

/* Read as an instance's, a static field of some later JDK would crash the JVM. */
static bool field_is(struct ag_jvm *jvm, jclass class, jfieldID field, const char *name,
		     const char *signature)
{
	char *its_name = NULL, *its_signature = NULL;
	jint modifiers;
	bool same;

	if (AG_TI(jvm, GetFieldName, class, field, &its_name, &its_signature, NULL) != 0)
		return false;
	same = strcmp(its_name, name) == 0 && strcmp(its_signature, signature) == 0;
	ag_ti_free(jvm, its_name);
	ag_ti_free(jvm, its_signature);
	return same && AG_TI(jvm, GetFieldModifiers, class, field, &modifiers) == 0 &&
	       !(modifiers & ACC_STATIC);
}

jfieldID ag_ref_field(struct ag_jvm *jvm, jclass class, const char *name, const char *signature)
{
	jfieldID *fields = NULL, found = NULL;
	jint n = 0;

	if (AG_TI(jvm, GetClassFields, class, &n, &fields) != 0)
		return NULL;
	for (jint i = 0; i < n && !found; i++) {
		if (field_is(jvm, class, fields[i], name, signature))
			found = fields[i];
	}
	ag_ti_free(jvm, fields);
	return found;
}
