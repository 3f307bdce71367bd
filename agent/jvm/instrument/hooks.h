/*
 * The hooks class: its definition in the JVM, and which class loaders find it.
 *
 * Each build of the library defines a hooks class in the boot loader, under the first free name of
 * java/jtool/Hooks1, java/jtool/Hooks2, ….  The class and its natives (hook_natives.h) remain until
 * the JVM ends: if the agent called UnregisterNatives, a method that still runs instrumented code
 * would throw an UnsatisfiedLinkError.
 */
#ifndef JTOOL_AGENT_JVM_INSTRUMENT_HOOKS_H
#define JTOOL_AGENT_JVM_INSTRUMENT_HOOKS_H

#include "jvm/jvmti.h"

#define AG_HOOKS_NAME_MAX 32

/* Defines the hooks class, unless it is already defined.  Returns 0, or -1 with error recorded. */
int ag_hooks_define(struct ag_jvm *jvm);

/* Returns the hooks class's name, such as "java/jtool/Hooks1".  Call it after ag_hooks_define(). */
const char *ag_hooks_name(void);

/*
 * Returns true if `loader`, which must not be NULL, finds the hooks class.  Calls the loader, as
 * the JVM does when it links instrumented code; so application code may run.  The current thread
 * must be able to run Java code, and must have no pending exception.  Leaves no exception pending.
 */
bool ag_hooks_found_by(JNIEnv *jni, jobject loader);

/*
 * Returns NULL if the loader of `class` finds the hooks class; else a constant text that says why
 * the loader does not find it.
 */
const char *ag_hooks_hidden(struct ag_jvm *jvm, jclass class);

#endif
