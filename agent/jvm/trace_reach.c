/*
 * Whether a class finds the class with the hooks.
 *
 * Loaders hand on what begins with "java." as a rule, but one that does not, or a security manager
 * that forbids the package, would make each method that is hooked throw NoClassDefFoundError.  So
 * the loader is asked before, on our thread; whom it answers, it is not asked for again by the
 * application's: the JVM knows then.
 */

#include "jvm/ref.h"
#include "jvm/trace.h"

#define NAME_MAX_LEN 32 /* as in trace_hooks.c */
#define HIDDEN "its class loader does not find the class with the hooks"

/* NULL: recorded. */
static jstring make_name(struct ag_jvm *jvm)
{
	char name[NAME_MAX_LEN] = { 0 };
	jstring made;

	for (size_t i = 0; i < sizeof(name) - 1 && ag_trace_hooks()[i]; i++)
		name[i] = ag_trace_hooks()[i] == '/' ? '.' : ag_trace_hooks()[i];
	made = (*jvm->jni)->NewStringUTF(jvm->jni, name);
	return ag_ref_threw(jvm, "NewStringUTF") ? NULL : made;
}

/* As Class.forName(name, false, loader); false: recorded. */
static bool is_found(struct ag_jvm *jvm, jclass classes, jstring name, jobject loader)
{
	JNIEnv *jni = jvm->jni;
	jmethodID method = (*jni)->GetStaticMethodID(jni, classes, "forName",
		"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
	jvalue arguments[] = { { .l = name }, { .z = JNI_FALSE }, { .l = loader } };
	jobject found;

	if (ag_ref_threw(jvm, "forName"))
		return false;
	found = (*jni)->CallStaticObjectMethodA(jni, classes, method, arguments);
	if (ag_ref_threw(jvm, "forName"))
		return false;
	ag_ref_drop(jvm, found);
	return found;
}

const char *ag_trace_hidden(struct ag_jvm *jvm, jclass class)
{
	jobject loader = NULL;
	jclass classes;
	jstring name;
	bool found = false;

	if (AG_TI(jvm, GetClassLoader, class, &loader) != 0 || !loader) {
		ag_forgive(jvm); /* of an error the JVM will speak again; the boot loader has it */
		return NULL;
	}
	classes = ag_ref_class(jvm, class);
	name = classes ? make_name(jvm) : NULL;
	if (name)
		found = is_found(jvm, classes, name, loader);
	ag_ref_drop(jvm, name);
	ag_ref_drop(jvm, classes);
	ag_ref_drop(jvm, loader);
	ag_forgive(jvm);
	return found ? NULL : HIDDEN;
}
