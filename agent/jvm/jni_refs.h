/* JNI references.  The functions clear a pending exception and record it as an error. */
#ifndef JTOOL_AGENT_JVM_JNI_REFS_H
#define JTOOL_AGENT_JVM_JNI_REFS_H

#include "jvm/jvmti.h"

/* Open and close a JNI local frame; closing it deletes the references that were created in it. */
int ag_ref_push(struct ag_jvm *jvm);
void ag_ref_pop(struct ag_jvm *jvm);
/* Ensures capacity for n more local references.  Otherwise -Xcheck:jni would warn. */
int ag_ref_expect(struct ag_jvm *jvm, jint n);
/*
 * Ensures capacity for the local references of a callback.  The default capacity may be too low,
 * because -Xcheck:jni counts the references of the callback and of all outer local frames together.
 */
void ag_ref_expect_callback(JNIEnv *jni);
/* Deletes a local reference; NULL is allowed. */
void ag_ref_drop(struct ag_jvm *jvm, jobject ref);

/*
 * Create global and weak global references, on any thread, and increment *count atomically.  A
 * session counts its references in jvm->globals, and reports at its end how many remain.  A
 * callback of a profile may outlive the session, so callbacks count their references in the struct
 * of the profile; when the profile is freed, the remaining count is added to jvm->globals.  Return
 * NULL, without a pending exception, if the JVM is out of memory.
 */
jobject ag_ref_global(JNIEnv *jni, jobject object, uint64_t *count);
jweak ag_ref_weak(JNIEnv *jni, jobject object, uint64_t *count);
/* Delete a reference; NULL is allowed. */
void ag_ref_global_drop(JNIEnv *jni, jobject ref, uint64_t *count);
void ag_ref_weak_drop(JNIEnv *jni, jweak ref, uint64_t *count);

/* Returns true if an exception was pending; then clears it, and records an error for `what`. */
bool ag_ref_threw(struct ag_jvm *jvm, const char *what);

/*
 * Return local references to the class of an object, and to its base class: the superclass that
 * extends Object directly.
 */
jclass ag_ref_class(struct ag_jvm *jvm, jobject object);
jclass ag_ref_base_class(struct ag_jvm *jvm, jobject object);
/* Returns the superclass; NULL for interfaces and Object. */
jclass ag_ref_super(struct ag_jvm *jvm, jclass class);

/*
 * Finds an instance field that the class itself declares.  Returns NULL if there is no such field,
 * or on an error, which is recorded.  Unlike JNI's GetFieldID, leaves no exception object on the
 * heap.
 */
jfieldID ag_ref_field(struct ag_jvm *jvm, jclass class, const char *name, const char *signature);

#endif
