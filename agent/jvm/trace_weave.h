/*
 * The hook that instruments classes for a trace, and what it looks at: the inside of
 * trace_install.
 *
 * It runs on whatever thread redefines or retransforms a class, until its environment is gone.
 * There is no lock: what it reads stands before the environment listens, but for a few flags of
 * a class.  It has told so in a counter before it looks, and that is never freed; whoever takes
 * all this away looks at the counter afterwards.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_WEAVE_H
#define JTOOL_AGENT_JVM_TRACE_WEAVE_H

#include "classfile/inject.h"
#include "jvm/trace_install.h"

/* What came of a class on the installing thread's own pass. */
enum ag_woven {
	AG_WOVEN_UNSEEN = 0, /* the hook was not called for it */
	AG_WOVEN_DONE,
	AG_WOVEN_NOTHING,    /* nothing could be hooked: its methods say why */
	AG_WOVEN_NO_MEMORY,
};

struct ag_weave_class {
	jclass class;      /* the roster's reference */
	uint64_t name;     /* hash of the class's name, as the hook is told it */
	uint32_t first, n; /* its methods; its tag is 1 + its index */
	/* atomic */
	bool hooked;  /* it is to be instrumented; else it is handed on as it comes in */
	bool touched; /* another thread asked */
	/* the installing thread's */
	enum ag_woven woven;
};

/* What is retransformed on the installing thread. */
struct ag_weave_pass {
	uint32_t n, hits;
	bool in_vain;   /* one of the classes would be retransformed for nothing */
	bool abandoned; /* so the JVM was made to leave all of them as they are */
};

struct ag_install {
	jvmtiEnv *ti;
	JNIEnv *jni;          /* the installing thread's: tells it */
	jthrowable thrown;    /* a local reference */
	const char *hooks;    /* the class with the hooks */
	struct ag_weave_class *classes;
	uint32_t n_classes;
	/* for retransforming: made before, for nothing may fail when classes are put back */
	uint32_t *members;
	jclass *refs;
	struct cf_probe *probes; /* as they are to be hooked, method by method */
	char *texts;             /* theirs */
	struct ag_install_method *methods; /* looked at while classes are hooked only */
	struct ag_weave_pass pass;
	struct ag_weave_slot *slot;
};

/* Begin to listen; -1 with the error recorded. */
int ag_weave_listen(struct ag_jvm *jvm, struct ag_install *install);
/*
 * Dispose of the environment, which may not be there, and wait until no hook looks at the
 * install any more.  False: one does for seconds, for a debugger suspended its thread.
 */
bool ag_weave_deafen(struct ag_install *install);

#endif
