/*
 * Links classes of the boot loader.  Class-data archives of JDK 17 and later have instances of
 * classes that are loaded but not linked, and JVMTI does not report the fields of such a class.  So
 * the agent makes reflection list the fields of the class: HotSpot then links the class, as it
 * would before the first use of the class, but does not initialise it.
 */
#include "jvm/dump/dump_layout.h"

#include "jvm/jni_refs.h"

#define ARCHIVED_SINCE 17

/* Returns the method Class.getDeclaredFields0(), or NULL if this JDK does not have it. */
static jmethodID find_method(struct ag_jvm *jvm, jclass any)
{
	jclass class = ag_ref_class(jvm, any);
	jmethodID method = (*jvm->jni)->GetMethodID(jvm->jni, class, "getDeclaredFields0",
						    "(Z)[Ljava/lang/reflect/Field;");

	ag_ref_drop(jvm, class);
	if (!ag_ref_threw(jvm, "GetMethodID"))
		return method;
	ag_clear_error(jvm);
	return NULL;
}

/*
 * Links a class of the boot loader: the call that lists its public fields also links it.  The list
 * is not used.  A class that cannot be linked remains unlinked.
 */
static int link_class(struct ag_jvm *jvm, jclass class, jmethodID method)
{
	jobject loader, fields;

	if (ag_class_loader(jvm, class, &loader) != 0)
		return -1;
	ag_ref_drop(jvm, loader);
	if (loader)
		return 0;
	fields = (*jvm->jni)->CallObjectMethod(jvm->jni, class, method, JNI_TRUE);
	if (ag_ref_threw(jvm, "getDeclaredFields0"))
		ag_clear_error(jvm);
	else
		ag_ref_drop(jvm, fields);
	return 0;
}

static int link_all(struct ag_jvm *jvm, const struct ag_classes *list)
{
	const jint linked = JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ARRAY |
			    JVMTI_CLASS_STATUS_ERROR;
	jmethodID method = find_method(jvm, list->list[0]);

	for (uint32_t i = 0; method && i < list->n; i++) {
		jint status;

		if (AG_JVMTI(jvm, GetClassStatus, list->list[i], &status) != 0 ||
		    (!(status & linked) && link_class(jvm, list->list[i], method) != 0))
			return -1;
	}
	return 0;
}

int ag_dump_link(struct ag_jvm *jvm)
{
	int release = ag_jvmti_release(jvm), rc;
	struct ag_classes list;

	if (release < ARCHIVED_SINCE)
		return release < 0 ? -1 : 0;
	if (ag_classes_get(jvm, &list) != 0)
		return -1;
	rc = ag_ref_expect(jvm, (jint)list.n + 64);
	if (rc == 0)
		rc = link_all(jvm, &list);
	ag_classes_release(jvm, &list);
	return rc;
}
