/*
 * Putting hooks into classes and taking them out again.
 *
 * Classes are retransformed, all at once, in an environment of the trace's own, whose
 * ClassFileLoadHook instruments what comes in: also when somebody else retransforms a class
 * meanwhile, on their thread.  Hooks are taken out by handing on a copy of what comes in (a copy:
 * see patches.h).  Which class it is, the hook knows by a tag; it holds no lock while it calls
 * the JVM, and when in doubt it leaves the class alone.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_INSTALL_H
#define JTOOL_AGENT_JVM_TRACE_INSTALL_H

#include "jvm/trace.h"

struct ag_install;

/* A method that is to be hooked. */
struct ag_install_method {
	uint32_t number; /* of the class, in the roster: methods of one class stand together */
	const char *name, *descriptor;
	/* out: 0, 0, NULL if it is hooked */
	uint32_t refused; /* enum cf_refusal */
	jvmtiError code;
	const char *why;  /* a constant; of a class that cannot be instrumented at all */
};

/*
 * Hook what can be hooked of the n methods; the rest says why not.  When the JVM refuses the
 * classes together, each is tried alone, so that one does not keep the others from it.  NULL with
 * the error recorded when nothing was tried; else to be taken out.  values: arguments and results
 * are told.
 */
struct ag_install *ag_install(struct ag_jvm *jvm, struct ag_trace *trace, bool values,
			      struct ag_install_method *methods, uint32_t n);

/*
 * Put all classes back and give everything back.  *code: the JVM's error when it did not take
 * one back, in which case its hooks are left in it, and do nothing.
 */
void ag_uninstall(struct ag_jvm *jvm, struct ag_install *install, jvmtiError *code);

#endif
