/*
 * Internals of alloc_instrument: which classes get hooks, how their code changes, which loaders
 * find the hooks, and why something was refused.
 *
 * A class that was examined has a tag in the environment of the instrumentation: 1 + its index in
 * `base`, or AG_ALLOC_CODE_DONE.  A class without a tag was loaded later.  It got hooks during
 * loading if the tag of its loader says that the loader finds the hooks class.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_INSTRUMENT_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_INSTRUMENT_H

#include "jvm/alloc/alloc_exact.h"
#include "jvm/instrument/instrument.h"

/* Tags of classes are 1 + an index, or this one. */
#define AG_ALLOC_CODE_DONE (-1) /* the class has no hooks, or no longer has them */
/* Tags of loaders.  AG_ALLOC_CODE_VISIBLE - n: sweep n has seen the loader find the hooks class. */
#define AG_ALLOC_CODE_HIDDEN (-2)
#define AG_ALLOC_CODE_PENDING (-3) /* a sweep must ask the loader before its classes get hooks */
#define AG_ALLOC_CODE_VISIBLE (-16)

/* Flags in `note` of struct ag_instrument_class. */
#define AG_ALLOC_CODE_REPORTED 1u /* its refusals are counted */
#define AG_ALLOC_CODE_HOOKED 2u   /* the JVM accepted it with hooks */

#define AG_ALLOC_CODE_BATCH 128u /* maximum of classes that are retransformed together */

/* Indexes below this are scratch entries, for classes without an index of their own. */
#define AG_ALLOC_CODE_SPARE (AG_ALLOC_CODE_BATCH + 1)

#define AG_ALLOC_CODE_REASONS 24
#define AG_ALLOC_CODE_ASKING 64   /* maximum of threads that ask loaders at the same time */
#define AG_ALLOC_CODE_NAMES 1024u /* recorded names of classes loaded during the first sweep */

/* A reason for refusals.  Any thread takes a row; rows are never freed. */
struct ag_reason {
	const char *why; /* atomic; a constant; NULL: unused */
	uint64_t n;      /* atomic */
};

/* A method that was running when its class was instrumented. */
struct ag_old_code {
	char *name; /* such as "a.b.C.m" */
	uint32_t threads, last; /* threads: how many run it; last: number of the last one, from 1 */
	struct ag_old_code *next;
};

struct ag_alloc_code {
	struct ag_instrument base; /* first member, so that a pointer to it points to this struct */
	struct ag_alloc_profile *profile;
	const char *hooks;
	bool sun_unsafe; /* JDK 8: see classfile/inject/inject_sites.h */
	uint32_t on;     /* atomic; 1: new classes get hooks */
	uint32_t object; /* atomic: index of java.lang.Object; 0: none */
	/* What is known of class loaders; any thread may use it. */
	struct {
		jmethodID load[2]; /* the two loadClass() methods of ClassLoader */
		jfieldID parent;
		JNIEnv *asking[AG_ALLOC_CODE_ASKING]; /* atomic: threads that are asking a loader */
		uint32_t skipped; /* atomic: classes whose loaders must be asked first */
	} loaders;
	/* Classes that got hooks while they were loaded; any thread, atomic. */
	struct {
		uint32_t n;
		uint64_t names[AG_ALLOC_CODE_NAMES]; /* hashes of the names of the first classes */
		int64_t last_ns; /* when the last one was loaded */
	} loaded;
	/* The current sweep; used by the thread that retransforms. */
	struct {
		uint32_t number; /* of the sweep, from 1 on */
		uint32_t n; /* classes in the batch */
		uint32_t members[AG_ALLOC_CODE_BATCH];
		jclass refs[AG_ALLOC_CODE_BATCH];
	} sweep;
	/* Results; written by the thread that retransforms, but any thread adds reasons. */
	uint32_t hooked, refused;
	struct ag_reason reasons[AG_ALLOC_CODE_REASONS];
	struct ag_old_code *old;
};

/* alloc_instrument_sweep: one pass over all loaded classes. */
struct ag_sweep {
	struct ag_jvm *jvm;
	struct ag_alloc_code *ac;
	bool out;      /* remove hooks; otherwise add them */
	bool new_only; /* only classes whose loaders were asked in this sweep */
	uint32_t n_loaded; /* including array classes */
	uint32_t done;     /* classes retransformed */
	jvmtiError code; /* when removing: the last error */
};

/* Runs a sweep.  Returns -1 with the error recorded if the classes could not be listed. */
int ag_alloc_code_sweep(struct ag_sweep *sweep);
struct ag_instrument_group ag_alloc_code_batch(struct ag_jvm *jvm, struct ag_alloc_code *ac);
/* Assigns an index to a class that gets hooks and returns it.  0: error recorded. */
uint32_t ag_alloc_code_number(struct ag_jvm *jvm, struct ag_alloc_code *ac, jclass class,
			      const char *signature);

/* alloc_instrument_code: rewrites classes. */
extern const struct ag_instrumenter ag_alloc_instrumenter;

/* alloc_instrument_loader: looks up members of java.lang.ClassLoader.  -1: error recorded. */
int ag_alloc_code_learn_loaders(struct ag_jvm *jvm, struct ag_alloc_code *ac);
/*
 * Returns true if a loader is known to find the class with the hooks; false may also mean that the
 * next sweep will ask it.  Any thread, while it loads a class.
 */
bool ag_alloc_code_is_visible(struct ag_alloc_code *ac, jvmtiEnv *ti, JNIEnv *jni, jobject loader);
/*
 * Asks the loader of a class, once, whether it finds the hooks class.  Returns the loader's tag,
 * AG_ALLOC_CODE_VISIBLE for the boot loader, or 0 if the answer is unknown.
 */
jlong ag_alloc_code_ask(struct ag_jvm *jvm, struct ag_alloc_code *ac, jclass class);

/* alloc_instrument_notes: counts n more refusals for this reason; any thread. */
void ag_alloc_code_reason(struct ag_alloc_code *ac, const char *why, uint64_t n);
/* Returns why the JVM refuses a class, as a constant. */
const char *ag_alloc_code_error(jvmtiError code);
/* Finds methods that run uninstrumented code; ignores errors. */
void ag_alloc_code_find_old(struct ag_jvm *jvm, struct ag_alloc_code *ac);
void ag_alloc_code_free_old(struct ag_jvm *jvm, struct ag_alloc_code *ac);

#endif
