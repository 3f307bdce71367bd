#include "jvm/own.h"

#include "jvm/ref.h"

/* Fields of Thread in one JDK or another whose objects belong to one thread. */
static const struct {
	const char *name, *signature;
} thread_fields[] = {
	{ "holder", "Ljava/lang/Thread$FieldHolder;" },
	{ "inheritedAccessControlContext", "Ljava/security/AccessControlContext;" },
	{ "blockerLock", "Ljava/lang/Object;" },
	{ "interruptLock", "Ljava/lang/Object;" },
};

/* Tag what a field of an object refers to, and return it: a local reference, or NULL. */
static jobject tag_field(struct ag_jvm *jvm, jobject object, const char *name,
			 const char *signature)
{
	jclass class = ag_ref_base_class(jvm, object);
	jfieldID field = ag_ref_field(jvm, class, name, signature);
	jobject value = field ? (*jvm->jni)->GetObjectField(jvm->jni, object, field) : NULL;

	ag_ref_drop(jvm, class);
	if (value)
		(void)AG_TI(jvm, SetTag, value, AG_TAG_OWN); /* the error is recorded */
	return value;
}

int ag_own_tag(struct ag_jvm *jvm)
{
	jthread thread;
	jobject name;

	if (AG_TI(jvm, GetCurrentThread, &thread) != 0 ||
	    AG_TI(jvm, SetTag, thread, AG_TAG_OWN) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(thread_fields) / sizeof(thread_fields[0]); i++)
		ag_ref_drop(jvm, tag_field(jvm, thread, thread_fields[i].name,
					   thread_fields[i].signature));
	name = tag_field(jvm, thread, "name", "Ljava/lang/String;");
	if (name) {
		ag_ref_drop(jvm, tag_field(jvm, name, "value", "[B"));
		ag_ref_drop(jvm, tag_field(jvm, name, "value", "[C")); /* before JDK 9 */
	}
	ag_ref_drop(jvm, name);
	ag_ref_drop(jvm, thread);
	return jvm->err.what ? -1 : 0;
}
