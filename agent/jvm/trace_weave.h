/*
 * What instruments classes for a trace (weave.h), and what it looks at: the inside of
 * trace_install.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_WEAVE_H
#define JTOOL_AGENT_JVM_TRACE_WEAVE_H

#include "classfile/inject.h"
#include "jvm/trace_install.h"
#include "jvm/weave.h"

struct ag_install_class {
	jclass class;      /* the roster's reference */
	uint32_t first, n; /* its methods */
};

struct ag_install {
	struct ag_weave weave; /* first: who has this has the install */
	const char *hooks;     /* the class with the hooks */
	struct ag_install_class *classes; /* by their index in the weave */
	uint32_t n_classes;
	/* for retransforming: made before, for nothing may fail when classes are put back */
	uint32_t *members;
	jclass *refs;
	struct cf_probe *probes; /* as they are to be hooked, method by method */
	char *texts;             /* theirs */
	struct ag_install_method *methods; /* looked at while classes are hooked only */
};

extern const struct ag_weaver ag_trace_weaver;

/* A class is left as it is, all its methods for the same reason. */
void ag_install_give_up(struct ag_install *install, uint32_t index, jvmtiError code,
			const char *why);

#endif
