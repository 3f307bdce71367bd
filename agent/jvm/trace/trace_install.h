/*
 * Adds a trace's hooks to classes, and removes them.
 *
 * The trace has its own JVMTI environment.  One call of RetransformClasses retransforms all
 * classes, and the ClassFileLoadHook of the environment adds the hooks to the bytes that it gets.
 * It does so also if another thread retransforms a class meanwhile.  To remove the hooks, the
 * classes are retransformed again, and the ClassFileLoadHook returns a copy of the bytes that it
 * gets (patch/patches.h has the reason for the copy).  The ClassFileLoadHook recognises a class by
 * its tag, and holds no lock while it calls the JVM (instrument/instrument.h).
 *
 * The trace holds only weak references to the classes, so that they can be unloaded.  An unloaded
 * class needs no restoring.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_INSTALL_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_INSTALL_H

#include "jvm/trace/trace.h"

struct ag_install;

/* A method that is to get hooks.  In an array of these, the methods of a class must be adjacent. */
struct ag_install_method {
	uint32_t number; /* number of the method's class in the class index */
	const char *name, *descriptor;
	/*
	 * Output: why the method has no hooks.  One of the members below has the reason, the others
	 * are 0 or NULL; if the method has hooks, all are 0 or NULL.
	 */
	uint32_t refused; /* enum cf_refusal: for the method */
	jvmtiError code;  /* the JVM's error for the class */
	const char *why;  /* another reason why the class cannot get hooks; a constant text */
};

/*
 * Adds hooks to as many of the n methods as possible.  Stores in the struct ag_install_method of
 * each method without hooks why it has none.  The JVM accepts or refuses a group of classes as a
 * unit.  If it refuses the group of all classes, ag_install() tries smaller groups, so that one
 * class does not affect the others.  With `values` the hooks record arguments and results.  Returns
 * NULL with the error recorded if nothing was tried; otherwise the caller must call ag_uninstall(),
 * even if no class got hooks.
 */
struct ag_install *ag_install(struct ag_jvm *jvm, struct ag_trace *trace, bool values,
			      struct ag_install_method *methods, uint32_t n);

/*
 * Restores all classes and frees `install`.  Stores in *code the JVM's error if the JVM has not
 * restored a class, else JVMTI_ERROR_NONE.  Hooks that remain in a class do nothing.
 */
void ag_uninstall(struct ag_jvm *jvm, struct ag_install *install, jvmtiError *code);

#endif
