/*
 * Adds hooks to classes and removes them.
 *
 * All classes are retransformed at once, in an environment of the trace.  The ClassFileLoadHook of
 * this environment instruments the incoming bytes, also when another thread retransforms a class
 * meanwhile.  To remove the hooks, it returns a copy of the incoming bytes (patches.h has the
 * reason for the copy).  It recognises a class by its tag, and holds no lock while it calls the
 * JVM.
 *
 * References to the classes are weak: a class that is unloaded during the trace needs no restoring.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_INSTALL_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_INSTALL_H

#include "jvm/trace/trace.h"

struct ag_install;

/* A method to be hooked. */
struct ag_install_method {
	uint32_t number; /* of its class in the class index; methods of a class are adjacent */
	const char *name, *descriptor;
	/* Output; all 0 and NULL if the method has hooks: */
	uint32_t refused; /* enum cf_refusal */
	jvmtiError code;
	const char *why;  /* reason why its class cannot be instrumented, a constant */
};

/*
 * Adds hooks to as many of the n methods as possible; the others get a reason.  If the JVM refuses
 * the classes together, tries smaller groups, so that one class does not affect the others.
 * `values`: the hooks record arguments and results.  Returns NULL with the error recorded if
 * nothing was tried; otherwise the caller must call ag_uninstall().
 */
struct ag_install *ag_install(struct ag_jvm *jvm, struct ag_trace *trace, bool values,
			      struct ag_install_method *methods, uint32_t n);

/*
 * Restores all classes and frees `install`.  *code is the JVM's error if it has not restored a
 * class; the hooks in such a class do nothing.
 */
void ag_uninstall(struct ag_jvm *jvm, struct ag_install *install, jvmtiError *code);

#endif
