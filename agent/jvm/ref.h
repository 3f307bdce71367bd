/*
 * References to objects, and the JNI calls that make them: local ones only, within frames.  A
 * pending exception is cleared and recorded at once; none is ever left behind.
 */
#ifndef JTOOL_AGENT_JVM_REF_H
#define JTOOL_AGENT_JVM_REF_H

#include "jvm/ti.h"

/* Everything referenced between the two is let go by the second. */
int ag_ref_push(struct ag_jvm *jvm);
void ag_ref_pop(struct ag_jvm *jvm);
/* Announce n more references: -Xcheck:jni wants to be asked before. */
int ag_ref_expect(struct ag_jvm *jvm, jint n);
/* Let one go before its frame does; NULL is allowed. */
void ag_ref_drop(struct ag_jvm *jvm, jobject ref);

/* True when an exception was pending: it is cleared, and an error is recorded for `what`. */
bool ag_ref_threw(struct ag_jvm *jvm, const char *what);

/* The class of an object, and the one of its superclasses that extends java.lang.Object. */
jclass ag_ref_class(struct ag_jvm *jvm, jobject object);
jclass ag_ref_base_class(struct ag_jvm *jvm, jobject object);
/* A class's superclass, or NULL: an interface's, Object's. */
jclass ag_ref_super(struct ag_jvm *jvm, jclass class);

/*
 * An instance field by name and signature, looked up without the exception that JNI's GetFieldID
 * would leave on the heap; NULL when there is none or it cannot be told.
 */
jfieldID ag_ref_field(struct ag_jvm *jvm, jclass class, const char *name, const char *signature);

#endif
