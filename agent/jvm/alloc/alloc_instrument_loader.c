/*
 * Determines which loaders find the hooks class (instrument/hooks.h).
 *
 * To ask a loader means to call it (ag_hooks_found_by()).  The answer applies to all classes of the
 * loader.  The session's thread asks the loaders of the classes that are already loaded, as it does
 * for a trace.  The agent notices any other loader when that loader loads its first class.  Such a
 * new loader finds the hooks class if it inherits loadClass() from java.lang.ClassLoader, which
 * asks the parent first, and if the parent finds the hooks class.  Otherwise the thread that loads
 * the class asks the new loader at once.  That is harmless, because the JVM itself calls the loader
 * right afterwards, on the same thread with the same locks, to find the superclass of the class,
 * such as java.lang.Object.  While a thread asks a loader, it asks no other loader.
 *
 * The next sweep (alloc_instrument_sweep.c) asks the loaders that were not asked, and asks again
 * the loaders that did not find the hooks class.  The sweep adds hooks to the classes of each
 * loader that finds the hooks class.
 */
#include "jvm/alloc/alloc_instrument.h"
#include "jvm/instrument/hooks.h"
#include "jvm/jni_refs.h"

#define ANCESTORS_MAX 16
#define LOAD "loadClass"
static const char *const signatures[] = {
	"(Ljava/lang/String;)Ljava/lang/Class;", "(Ljava/lang/String;Z)Ljava/lang/Class;",
};

int ag_alloc_code_learn_loaders(struct ag_jvm *jvm, struct ag_alloc_code *ac)
{
	JNIEnv *jni = jvm->jni;
	jclass class = (*jni)->FindClass(jni, "java/lang/ClassLoader");

	if (ag_ref_threw(jvm, "FindClass"))
		return -1;
	for (int i = 0; i < 2; i++) {
		ac->loaders.load[i] = (*jni)->GetMethodID(jni, class, LOAD, signatures[i]);
		if (ag_ref_threw(jvm, "GetMethodID"))
			break;
	}
	if (!jvm->err.what) {
		ac->loaders.parent =
			(*jni)->GetFieldID(jni, class, "parent", "Ljava/lang/ClassLoader;");
		(void)ag_ref_threw(jvm, "GetFieldID");
	}
	ag_ref_drop(jvm, class);
	return jvm->err.what ? -1 : 0;
}

static bool inherits(const struct ag_alloc_code *ac, JNIEnv *jni, jobject loader)
{
	jclass class = (*jni)->GetObjectClass(jni, loader);
	bool same = true;

	for (int i = 0; i < 2 && same; i++) {
		jmethodID method = (*jni)->GetMethodID(jni, class, LOAD, signatures[i]);

		if ((*jni)->ExceptionCheck(jni))
			(*jni)->ExceptionClear(jni);
		same = method == ac->loaders.load[i];
	}
	(*jni)->DeleteLocalRef(jni, class);
	return same;
}

/*
 * Returns true if the loader is known to find the hooks class: the loader's tag says so, or the
 * loader inherits loadClass() from java.lang.ClassLoader and its parent is known to find the class.
 * Does not call the loader.  Checks the parents recursively; `depth` is the depth of the recursion.
 */
static bool is_visible(struct ag_alloc_code *ac, jvmtiEnv *ti, JNIEnv *jni, jobject loader,
		       int depth)
{
	jlong tag = 0;
	jobject parent;
	bool visible;

	if (!loader)
		return true;
	if ((*ti)->GetTag(ti, loader, &tag) != JVMTI_ERROR_NONE || depth == ANCESTORS_MAX)
		return false;
	if (tag != 0)
		return tag <= AG_ALLOC_CODE_VISIBLE;
	if (!inherits(ac, jni, loader))
		return false;
	parent = (*jni)->GetObjectField(jni, loader, ac->loaders.parent);
	visible = is_visible(ac, ti, jni, parent, depth + 1);
	if (parent)
		(*jni)->DeleteLocalRef(jni, parent);
	if (visible) /* if SetTag fails, the next call examines the loader again */
		(void)(*ti)->SetTag(ti, loader, AG_ALLOC_CODE_VISIBLE);
	return visible;
}

/*
 * Notes that this thread asks a loader.  Returns the entry that the caller must clear after asking;
 * or NULL if this thread already asks a loader, or if 64 other threads ask loaders.  Does not use
 * JVMTI's SetThreadLocalStorage(NULL), which in JDK 19 to 24 waits until no virtual thread is being
 * mounted or unmounted.
 */
static JNIEnv **begin_asking(struct ag_alloc_code *ac, JNIEnv *jni)
{
	for (int i = 0; i < AG_ALLOC_CODE_ASKING; i++) {
		if (__atomic_load_n(&ac->loaders.asking[i], __ATOMIC_RELAXED) == jni)
			return NULL;
	}
	for (int i = 0; i < AG_ALLOC_CODE_ASKING; i++) {
		JNIEnv *none = NULL;

		if (__atomic_compare_exchange_n(&ac->loaders.asking[i], &none, jni, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &ac->loaders.asking[i];
	}
	return NULL;
}

/* Asks the loader, unless this thread is already asking a loader. */
static bool ask_here(struct ag_alloc_code *ac, jvmtiEnv *ti, JNIEnv *jni, jobject loader)
{
	JNIEnv **asking = begin_asking(ac, jni);
	bool found;

	if (!asking)
		return false;
	found = ag_hooks_found_by(jni, loader);
	__atomic_store_n(asking, NULL, __ATOMIC_RELEASE);
	if (found) /* if SetTag fails, the next call asks the loader again */
		(void)(*ti)->SetTag(ti, loader, AG_ALLOC_CODE_VISIBLE);
	return found;
}

bool ag_alloc_code_is_visible(struct ag_alloc_code *ac, jvmtiEnv *ti, JNIEnv *jni, jobject loader)
{
	jlong tag = 0;
	bool has_tag; /* also true if GetTag failed */

	if (!loader)
		return true;
	has_tag = (*ti)->GetTag(ti, loader, &tag) != JVMTI_ERROR_NONE || tag != 0;
	if (tag <= AG_ALLOC_CODE_VISIBLE)
		return true;
	if (tag == AG_ALLOC_CODE_HIDDEN)
		return false;
	/* JNI must not be called if a hook of another session has thrown an exception. */
	if (!has_tag && !(*jni)->ExceptionCheck(jni) &&
	    (is_visible(ac, ti, jni, loader, 0) || ask_here(ac, ti, jni, loader)))
		return true;
	/*
	 * Skip all classes of this loader until a sweep asks the loader; the sweep then adds hooks
	 * to all of them.
	 */
	if (!has_tag)
		(void)(*ti)->SetTag(ti, loader, AG_ALLOC_CODE_PENDING);
	(void)__atomic_add_fetch(&ac->loaders.skipped, 1, __ATOMIC_SEQ_CST);
	return false;
}

static jlong ask(struct ag_jvm *jvm, struct ag_alloc_code *ac, jobject loader)
{
	jvmtiEnv *ti = ac->base.ti;
	jlong tag = 0;

	if ((*ti)->GetTag(ti, loader, &tag) != JVMTI_ERROR_NONE)
		return 0;
	if (tag != 0 && tag != AG_ALLOC_CODE_PENDING)
		return tag;
	tag = ag_hooks_found_by(jvm->jni, loader) ? AG_ALLOC_CODE_VISIBLE - (jlong)ac->sweep.number
						  : AG_ALLOC_CODE_HIDDEN;
	return (*ti)->SetTag(ti, loader, tag) == JVMTI_ERROR_NONE ? tag : 0;
}

jlong ag_alloc_code_ask(struct ag_jvm *jvm, struct ag_alloc_code *ac, jclass class)
{
	jobject loader = NULL;
	jlong tag;

	if (AG_JVMTI(jvm, GetClassLoader, class, &loader) != 0) {
		ag_clear_error(jvm);
		return 0;
	}
	if (!loader)
		return AG_ALLOC_CODE_VISIBLE;
	tag = ask(jvm, ac, loader);
	ag_ref_drop(jvm, loader);
	return tag;
}
