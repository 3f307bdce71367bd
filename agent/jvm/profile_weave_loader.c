/*
 * Which loaders find the class with the hooks.
 *
 * A loader is asked once for all its classes: of those that are there, by the session's thread, as
 * a trace does it (trace_reach.c).  One that is met by a class that is being loaded is known if
 * its methods are java.lang.ClassLoader's own, which asks the parent first, and the parent is.
 * Else it is asked there and then, on the thread that loads: which does it no more than the JVM
 * does right afterwards on the same thread with the same locks, when it asks that loader for the
 * superclass of its first class, java.lang.Object for one.  What that loads is not asked for
 * again on the way.  When in doubt the class is let through, and gets its hooks in the next sweep.
 */
#include "jvm/profile_weave.h"
#include "jvm/ref.h"
#include "jvm/trace.h"

#define ANCESTORS_MAX 16
#define LOAD "loadClass"
static const char *const signatures[] = {
	"(Ljava/lang/String;)Ljava/lang/Class;", "(Ljava/lang/String;Z)Ljava/lang/Class;",
};

/* Class.forName(), of the class's class; NULL: recorded. */
static jmethodID for_name(struct ag_jvm *jvm, jclass class)
{
	jclass classes = jvm->err.what ? NULL : ag_ref_class(jvm, class);
	jmethodID id;

	if (!classes)
		return NULL;
	id = (*jvm->jni)->GetStaticMethodID(jvm->jni, classes, "forName",
		"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
	ag_ref_drop(jvm, classes);
	return ag_ref_threw(jvm, "forName") ? NULL : id;
}

int ag_weaving_learn_loaders(struct ag_jvm *jvm, struct ag_weaving *w)
{
	JNIEnv *jni = jvm->jni;
	jclass class = (*jni)->FindClass(jni, "java/lang/ClassLoader");

	if (ag_ref_threw(jvm, "FindClass"))
		return -1;
	for (int i = 0; i < 2; i++) {
		w->load[i] = (*jni)->GetMethodID(jni, class, LOAD, signatures[i]);
		if (ag_ref_threw(jvm, "GetMethodID"))
			break;
	}
	w->for_name = for_name(jvm, class);
	if (!jvm->err.what) {
		w->parent = (*jni)->GetFieldID(jni, class, "parent", "Ljava/lang/ClassLoader;");
		(void)ag_ref_threw(jvm, "GetFieldID");
	}
	ag_ref_drop(jvm, class);
	return jvm->err.what ? -1 : 0;
}

static bool inherits(const struct ag_weaving *w, JNIEnv *jni, jobject loader)
{
	jclass class = (*jni)->GetObjectClass(jni, loader);
	bool same = true;

	for (int i = 0; i < 2 && same; i++) {
		jmethodID its = (*jni)->GetMethodID(jni, class, LOAD, signatures[i]);

		if ((*jni)->ExceptionCheck(jni))
			(*jni)->ExceptionClear(jni);
		same = its == w->load[i];
	}
	(*jni)->DeleteLocalRef(jni, class);
	return same;
}

/* The loader's own reference is not dropped; those to its ancestors are. */
static bool sees(struct ag_weaving *w, jvmtiEnv *ti, JNIEnv *jni, jobject loader, int depth)
{
	jlong tag = 0;
	jobject parent;
	bool seen;

	if (!loader)
		return true;
	if ((*ti)->GetTag(ti, loader, &tag) != JVMTI_ERROR_NONE || depth == ANCESTORS_MAX)
		return false;
	if (tag != 0)
		return tag <= AG_WEAVING_SEES;
	if (!inherits(w, jni, loader))
		return false;
	parent = (*jni)->GetObjectField(jni, loader, w->parent);
	seen = sees(w, ti, jni, parent, depth + 1);
	if (parent)
		(*jni)->DeleteLocalRef(jni, parent);
	if (seen) /* without a tag it is looked at again */
		(void)(*ti)->SetTag(ti, loader, AG_WEAVING_SEES);
	return seen;
}

static void drop(JNIEnv *jni, jobject ref)
{
	if (ref)
		(*jni)->DeleteLocalRef(jni, ref);
}

/* As Class.forName(name, false, loader), on any thread. */
static bool finds(const struct ag_weaving *w, JNIEnv *jni, jobject loader)
{
	jclass class = (*jni)->GetObjectClass(jni, loader);
	jclass classes = (*jni)->GetObjectClass(jni, class);
	jstring name = (*jni)->NewStringUTF(jni, w->hooks_name);
	jvalue arguments[] = { { .l = name }, { .z = JNI_FALSE }, { .l = loader } };
	jobject found = NULL;

	if (name)
		found = (*jni)->CallStaticObjectMethodA(jni, classes, w->for_name, arguments);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		found = NULL;
	}
	drop(jni, found);
	drop(jni, name);
	drop(jni, classes);
	drop(jni, class);
	return found;
}

/*
 * The thread asks from now on, if it does not already.  Kept here, and not by the JVM: of nobody
 * in particular JDK 19 to 24 take SetThreadLocalStorage() for all virtual threads' business, and
 * wait until none is being moved.
 */
static JNIEnv **begin_asking(struct ag_weaving *w, JNIEnv *jni)
{
	for (int i = 0; i < AG_WEAVING_ASKING; i++) {
		if (__atomic_load_n(&w->asking[i], __ATOMIC_RELAXED) == jni)
			return NULL;
	}
	for (int i = 0; i < AG_WEAVING_ASKING; i++) {
		JNIEnv *none = NULL;

		if (__atomic_compare_exchange_n(&w->asking[i], &none, jni, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &w->asking[i];
	}
	return NULL;
}

/* Only if this thread is not asking another one. */
static bool ask_here(struct ag_weaving *w, jvmtiEnv *ti, JNIEnv *jni, jobject loader)
{
	JNIEnv **asking = begin_asking(w, jni);
	bool found;

	if (!asking)
		return false;
	found = finds(w, jni, loader);
	__atomic_store_n(asking, NULL, __ATOMIC_RELEASE);
	if (found) /* without a tag it is asked again */
		(void)(*ti)->SetTag(ti, loader, AG_WEAVING_SEES);
	return found;
}

bool ag_weaving_sees(struct ag_weaving *w, jvmtiEnv *ti, JNIEnv *jni, jobject loader)
{
	jlong tag = 0;

	if (!loader)
		return true;
	if (!(*jni)->ExceptionCheck(jni)) {
		if (sees(w, ti, jni, loader, 0))
			return true;
		if ((*ti)->GetTag(ti, loader, &tag) == JVMTI_ERROR_NONE && tag == 0 &&
		    ask_here(w, ti, jni, loader))
			return true;
		if (tag == AG_WEAVING_BLIND)
			return false;
	}
	/* From now on all its classes are let through, so that all are met when it is asked. */
	if (tag == 0)
		(void)(*ti)->SetTag(ti, loader, AG_WEAVING_LEFT);
	(void)__atomic_add_fetch(&w->left, 1, __ATOMIC_SEQ_CST);
	return false;
}

static jlong ask(struct ag_jvm *jvm, struct ag_weaving *w, jclass class, jobject loader)
{
	jvmtiEnv *ti = w->weave.ti;
	jlong tag = 0;

	if ((*ti)->GetTag(ti, loader, &tag) != JVMTI_ERROR_NONE)
		return 0;
	if (tag != 0 && tag != AG_WEAVING_LEFT)
		return tag;
	tag = ag_trace_hidden(jvm, class) ? AG_WEAVING_BLIND : AG_WEAVING_SEES - (jlong)w->sweep;
	return (*ti)->SetTag(ti, loader, tag) == JVMTI_ERROR_NONE ? tag : 0;
}

jlong ag_weaving_ask(struct ag_jvm *jvm, struct ag_weaving *w, jclass class)
{
	jobject loader = NULL;
	jlong tag;

	if (AG_TI(jvm, GetClassLoader, class, &loader) != 0) {
		ag_forgive(jvm);
		return 0;
	}
	if (!loader)
		return AG_WEAVING_SEES;
	tag = ask(jvm, w, class, loader);
	ag_ref_drop(jvm, loader);
	return tag;
}
