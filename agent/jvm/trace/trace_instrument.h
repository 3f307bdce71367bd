/* Internals of trace_install.c: instruments classes for a trace (instrument/instrument.h). */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_INSTRUMENT_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_INSTRUMENT_H

#include "classfile/inject/inject.h"
#include "jvm/trace/trace_install.h"
#include "jvm/instrument/instrument.h"

struct ag_install_class {
	jweak class;       /* weak, so that the class can be unloaded; NULL: it gets no hooks */
	/* the class's part of the arrays ag_install.probes and ag_install.methods */
	uint32_t first, n;
};

struct ag_install {
	struct ag_instrument base; /* first, so that a pointer to it is a pointer to this struct */
	const char *hooks;     /* name of the hooks class (instrument/hooks.h) */
	struct ag_install_class *classes; /* indexed by the index of the class in `base` */
	uint32_t n_classes;
	/* Memory for retransforming, allocated early, because restoring classes must not fail: */
	uint32_t *members;
	jclass *refs;
	struct cf_probe *probes; /* what to insert into each method */
	char *texts;             /* the texts that the probes point to */
	struct ag_install_method *methods; /* used only while hooks are added */
};

extern const struct ag_instrumenter ag_trace_instrumenter;

/* Decides that a class stays unchanged, and stores `code` and `why` in each of its methods. */
void ag_install_give_up(struct ag_install *install, uint32_t index, jvmtiError code,
			const char *why);

#endif
