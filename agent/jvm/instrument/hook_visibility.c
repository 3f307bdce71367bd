/*
 * Checks whether a class loader finds the hooks class.
 *
 * Class loaders normally delegate names that begin with "java." to their parents.  If a loader does
 * not, or if a security manager forbids the package, the loader's classes must not be instrumented,
 * because each instrumented method would throw NoClassDefFoundError.  The check calls the loader.
 * The JVM records the loader's answer, so application threads do not call the loader for the hooks
 * class again.
 */
#include "jvm/instrument/hooks.h"
#include "jvm/jni_refs.h"

#define FOR_NAME "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;"

/* Returns the name of the hooks class as "java.jtool.Hooks1", or NULL if memory is short. */
static jstring java_name(JNIEnv *jni)
{
	const char *name = ag_hooks_name();
	char java[AG_HOOKS_NAME_MAX] = { 0 };

	for (size_t i = 0; i < sizeof(java) - 1 && name[i]; i++)
		java[i] = name[i] == '/' ? '.' : name[i];
	return (*jni)->NewStringUTF(jni, java);
}

/* Calls Class.forName(name, false, loader): `false` means that the class is not initialised. */
bool ag_hooks_found_by(JNIEnv *jni, jobject loader)
{
	struct ag_jvm jvm = { .jni = jni }; /* receives errors, which are discarded */
	jclass class = ag_ref_class(&jvm, loader), classes = ag_ref_class(&jvm, class);
	jmethodID for_name = (*jni)->GetStaticMethodID(jni, classes, "forName", FOR_NAME);
	jstring name = ag_ref_threw(&jvm, "forName") ? NULL : java_name(jni);
	jvalue arguments[] = { { .l = name }, { .z = JNI_FALSE }, { .l = loader } };
	jobject found = NULL;

	if (name)
		found = (*jni)->CallStaticObjectMethodA(jni, classes, for_name, arguments);
	if (ag_ref_threw(&jvm, "forName"))
		found = NULL;
	ag_ref_drop(&jvm, found);
	ag_ref_drop(&jvm, name);
	ag_ref_drop(&jvm, classes);
	ag_ref_drop(&jvm, class);
	return found;
}

const char *ag_hooks_hidden(struct ag_jvm *jvm, jclass class)
{
	jobject loader = NULL;
	bool found;

	if (AG_JVMTI(jvm, GetClassLoader, class, &loader) != 0 || !loader) {
		/*
		 * For a class of the boot loader, return NULL, because the boot loader finds the
		 * hooks class.  If GetClassLoader failed, return NULL too: the next JVMTI call for
		 * this class fails as well, and its error is reported.
		 */
		ag_clear_error(jvm);
		return NULL;
	}
	found = ag_hooks_found_by(jvm->jni, loader);
	ag_ref_drop(jvm, loader);
	return found ? NULL : "its class loader does not find the class with the hooks";
}
