/*
 * Adds hooks to classes and removes them.
 *
 * All classes are retransformed at once, in an environment of the trace.  The ClassFileLoadHook of
 * this environment instruments the incoming bytes, even if another thread retransforms a class
 * meanwhile.  To remove the hooks, the ClassFileLoadHook returns a copy of the incoming bytes
 * (patch/patches.h has the reason for the copy).  The ClassFileLoadHook recognises a class by its
 * tag, and holds no lock while it calls the JVM (instrument/instrument.h).
 *
 * References to the classes are weak: a class that is unloaded during the trace needs no restoring.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_INSTALL_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_INSTALL_H

#include "jvm/trace/trace.h"

struct ag_install;

/* A method that is to get hooks.  The methods of a class must be adjacent. */
struct ag_install_method {
	uint32_t number; /* number of the method's class in the class index */
	const char *name, *descriptor;
	/* Output: why the method has no hooks; all are 0 or NULL if it has hooks. */
	uint32_t refused; /* enum cf_refusal */
	jvmtiError code;  /* the JVM's error for the class */
	const char *why;  /* another reason why the class cannot be instrumented, a constant */
};

/*
 * Adds hooks to as many of the n methods as possible; in each method without hooks, stores the
 * reason.  If the JVM refuses all classes together, tries smaller groups, so that one class does
 * not affect the others.  With `values` the hooks record arguments and results.  Returns NULL with
 * the error recorded if nothing was tried; otherwise the caller must call ag_uninstall().
 */
struct ag_install *ag_install(struct ag_jvm *jvm, struct ag_trace *trace, bool values,
			      struct ag_install_method *methods, uint32_t n);

/*
 * Restores all classes and frees `install`.  If the JVM has not restored a class, *code is the
 * JVM's error, else JVMTI_ERROR_NONE.  Hooks that remain in such a class do nothing.
 */
void ag_uninstall(struct ag_jvm *jvm, struct ag_install *install, jvmtiError *code);

#endif
