/*
 * The native methods of the hooks class (see hooks.h), one for each row of
 * classfile/inject/hooks.def.  trace/trace_hooks.c implements those of traces, alloc/alloc_hooks.c
 * those of exact profiles.
 *
 * Instrumented code calls these native methods on any thread.  Calls come even long after the trace
 * or profile has ended, for two reasons:
 * - A method that was running when its class was restored calls them until the method returns.
 * - Another agent may have saved the instrumented bytes and install them again.
 */
#ifndef JTOOL_AGENT_JVM_INSTRUMENT_HOOK_NATIVES_H
#define JTOOL_AGENT_JVM_INSTRUMENT_HOOK_NATIVES_H

#include <jni.h>

/* Native methods of traces. */
jlong JNICALL ag_hook_enter(JNIEnv *jni, jclass hooks, jint id);
void JNICALL ag_hook_exit(JNIEnv *jni, jclass hooks, jlong token, jint id);
void JNICALL ag_hook_fail(JNIEnv *jni, jclass hooks, jthrowable thrown, jlong token, jint id);

/*
 * The kinds of values.  For each kind there are two functions, such as ag_hook_argI() and
 * ag_hook_exitI().  The arguments of X are the last letter of these names, the JNI type, and the
 * member of jvalue.
 */
#define AG_HOOK_KINDS(X) \
	X(I, jint, i) X(J, jlong, j) X(F, jfloat, f) X(D, jdouble, d) X(L, jobject, l)
#define PROTOTYPES(kind, type, member)                                                  \
	void JNICALL ag_hook_arg##kind(JNIEnv *jni, jclass hooks, jlong token, type v); \
	void JNICALL ag_hook_exit##kind(JNIEnv *jni, jclass hooks, type v, jlong token, jint id);
AG_HOOK_KINDS(PROTOTYPES)
#undef PROTOTYPES

/* Native methods of exact profiles. */
void JNICALL ag_hook_made(JNIEnv *jni, jclass hooks, jobject object, jint hash);
void JNICALL ag_hook_array(JNIEnv *jni, jclass hooks, jobject array, jint length, jint site);
void JNICALL ag_hook_arrays(JNIEnv *jni, jclass hooks, jobject array, jint site);
void JNICALL ag_hook_result(JNIEnv *jni, jclass hooks, jobject result, jint site);

#endif
