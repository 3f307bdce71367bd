/*
 * The hooks class: its definition in the JVM, and which class loaders find it.
 *
 * Each build of the library defines a hooks class in the boot loader, under the first free name
 * of java/jtool/Hooks1, 2, ….  The class and its natives (hook_natives.h) remain for the life of
 * the JVM: after UnregisterNatives a method that still runs instrumented code would throw an
 * UnsatisfiedLinkError.
 */
#ifndef JTOOL_AGENT_JVM_INSTRUMENT_HOOKS_H
#define JTOOL_AGENT_JVM_INSTRUMENT_HOOKS_H

#include "jvm/jvmti.h"

#define AG_HOOKS_NAME_MAX 32

/* Defines the hooks class, unless that was done already.  Returns 0, or -1 with error recorded. */
int ag_hooks_define(struct ag_jvm *jvm);

/* Returns the name of the hooks class, such as "java/jtool/Hooks1", once it is defined. */
const char *ag_hooks_name(void);

/*
 * Returns true if `loader`, which must not be NULL, finds the hooks class.  Calls the loader, as
 * the JVM does when it links instrumented code; this may run application code.  The thread must be
 * able to run Java code and have no exception pending.  No exception is pending afterwards.
 */
bool ag_hooks_found_by(JNIEnv *jni, jobject loader);

/*
 * Returns NULL if the loader of `class` finds the hooks class; otherwise a constant text with the
 * reason.
 */
const char *ag_hooks_hidden(struct ag_jvm *jvm, jclass class);

#endif
