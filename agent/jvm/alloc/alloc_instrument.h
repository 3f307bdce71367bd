/*
 * Internals of alloc_instrument*.c: which classes get hooks, how their code changes, which loaders
 * find the hooks class (instrument/hooks.h), and why classes and methods were refused.
 *
 * A class that was examined has a tag in the environment ag_alloc_code.base.ti: 1 + its index in
 * ag_alloc_code.base, or AG_ALLOC_CODE_DONE.  A class without a tag was loaded later.  It may have
 * got hooks while it was loaded, but only if its loader's tag says that the loader finds the hooks
 * class.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_INSTRUMENT_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_INSTRUMENT_H

#include "jvm/alloc/alloc_exact.h"
#include "jvm/instrument/instrument.h"

/* The tag of a class is 1 + its index in ag_alloc_code.base, or AG_ALLOC_CODE_DONE. */
#define AG_ALLOC_CODE_DONE (-1) /* the class has no hooks: it never had any, or was restored */
/*
 * The tag of a loader.  If the loader finds the hooks class, and sweep n was the first that asked
 * the loader, the tag is AG_ALLOC_CODE_VISIBLE - n.
 */
#define AG_ALLOC_CODE_HIDDEN (-2)   /* the loader does not find the hooks class */
#define AG_ALLOC_CODE_PENDING (-3)  /* its classes get no hooks until a sweep asks the loader */
#define AG_ALLOC_CODE_VISIBLE (-16) /* the loader finds the hooks class; no sweep asked it */

/* Flags in `note` of struct ag_instrument_class. */
#define AG_ALLOC_CODE_REPORTED 1u /* refusals of the class and its methods are in `reasons` */
#define AG_ALLOC_CODE_HOOKED 2u   /* the JVM accepted the class with hooks */

#define AG_ALLOC_CODE_BATCH 128u /* maximum number of classes in one retransformation */
#define AG_ALLOC_CODE_PAUSE_NS 50000000 /* a longer batch of JDK 8 makes the next ones smaller */

/*
 * Entries of ag_alloc_code.base below this index are scratch memory.  Entry 0 is for the class that
 * a sweep examines.  The others are for the classes of a batch that the sweep restores because they
 * may have got hooks while they were loaded.
 */
#define AG_ALLOC_CODE_SPARE (AG_ALLOC_CODE_BATCH + 1)

#define AG_ALLOC_CODE_REASONS 24  /* maximum number of different reasons */
#define AG_ALLOC_CODE_ASKING 64   /* maximum number of threads that ask loaders at once */
#define AG_ALLOC_CODE_KEYS 1024u /* maximum number of keys in ag_alloc_code.loaded */

/* A row of ag_alloc_code.reasons.  Any thread may claim a row; rows are never freed. */
struct ag_reason {
	const char *why; /* the reason, a string constant; NULL: the row is unused; atomic */
	uint64_t n;      /* number of refusals; atomic */
};

/* A method whose uninstrumented version was running when its class was instrumented. */
struct ag_old_code {
	char *name; /* such as "a.b.C.m" */
	/* threads: how many threads run the old code; last: number of the thread counted last */
	uint32_t threads, last;
	struct ag_old_code *next;
};

struct ag_alloc_code {
	struct ag_instrument base; /* first, so that a pointer to it is a pointer to this struct */
	struct ag_alloc_profile *profile;
	const char *hooks; /* name of the hooks class */
	bool sun_unsafe; /* true on JDK 8; becomes cf_sites.sun_unsafe */
	uint32_t on;     /* 1: new classes get hooks; atomic */
	uint32_t object; /* index of java.lang.Object; 0: none; atomic */
	/* Data about class loaders.  Any thread may read and write it. */
	struct {
		jmethodID load[2]; /* the two loadClass() methods of ClassLoader */
		jfieldID parent;   /* the field ClassLoader.parent */
		JNIEnv *asking[AG_ALLOC_CODE_ASKING]; /* threads that are asking a loader; atomic */
		uint32_t skipped; /* number of classes that wait for a sweep; atomic */
	} loaders;
	/* The classes that got hooks while they were loaded.  Any thread may add one; atomic. */
	struct {
		uint32_t n; /* number of these classes */
		/* ag_alloc_code_key() of the first AG_ALLOC_CODE_KEYS of these classes */
		uint64_t keys[AG_ALLOC_CODE_KEYS];
		int64_t last_ns; /* time at which the last of these classes was loaded */
	} loaded;
	/* The current sweep; used by the thread that retransforms. */
	struct {
		uint32_t number; /* number of the sweep, from 1 on */
		/* the batch: number of its classes, their indexes, and references to them */
		uint32_t n;
		uint32_t most; /* limit for `n`: ag_alloc_code_adapt() */
		uint32_t members[AG_ALLOC_CODE_BATCH];
		jclass refs[AG_ALLOC_CODE_BATCH];
	} sweep;
	/* Results.  Any thread may add to `reasons`; the thread that retransforms sets the rest. */
	uint32_t hooked, refused;
	struct ag_reason reasons[AG_ALLOC_CODE_REASONS];
	struct ag_old_code *old;
};

/* In alloc_instrument_sweep.c: one pass over all loaded classes. */
struct ag_sweep {
	struct ag_jvm *jvm;
	struct ag_alloc_code *ac;
	bool out;      /* true: remove hooks; false: add hooks */
	bool new_only; /* add hooks only to classes whose loaders this sweep asks */
	uint32_t n_loaded; /* number of loaded classes, including array classes */
	uint32_t done;     /* number of retransformed classes */
	jvmtiError code; /* the last error while hooks were removed */
};

/* Runs a sweep.  Returns -1 with the error recorded if the classes could not be listed. */
int ag_alloc_code_sweep(struct ag_sweep *sweep);
/*
 * On JDK 8, adapts the limit for batches after a batch of n classes took `ns`: halves it if the
 * batch took longer than AG_ALLOC_CODE_PAUSE_NS; doubles it if a batch of that size took less than
 * half of that.
 */
void ag_alloc_code_adapt(struct ag_jvm *jvm, struct ag_alloc_code *ac, uint32_t n, int64_t ns);
/*
 * Returns a hash of a class, by its loader and the hash of its name; 0: the loader's identity hash
 * is not available.
 */
uint64_t ag_alloc_code_key(jvmtiEnv *ti, uint64_t name, jobject loader);
/* Returns the batch of the current sweep as a group for ag_instrument_add(). */
struct ag_instrument_group ag_alloc_code_batch(struct ag_jvm *jvm, struct ag_alloc_code *ac);
/* Assigns an index to a class that gets hooks.  Returns the index, or 0 with the error recorded. */
uint32_t ag_alloc_code_number(struct ag_jvm *jvm, struct ag_alloc_code *ac, jclass class,
			      const char *signature);

/* In alloc_instrument_code.c: the functions that rewrite classes. */
extern const struct ag_instrumenter ag_alloc_instrumenter;

/*
 * In alloc_instrument_loader.c: looks up the members of java.lang.ClassLoader.  Returns 0, or -1
 * with the error recorded.
 */
int ag_alloc_code_learn_loaders(struct ag_jvm *jvm, struct ag_alloc_code *ac);
/*
 * Returns true if the loader finds the hooks class, false if it does not.  Asks the loader if the
 * loader has no tag yet.  If the loader then does not find the class, or if this thread cannot ask
 * the loader now, returns false, and the next sweep asks the loader.  Any thread may call this
 * function while it loads a class.
 */
bool ag_alloc_code_is_visible(struct ag_alloc_code *ac, jvmtiEnv *ti, JNIEnv *jni, jobject loader);
/*
 * Asks the loader of a class whether it finds the hooks class, unless the loader's tag already has
 * the answer.  Returns the tag; AG_ALLOC_CODE_VISIBLE for the boot loader; or 0 if a JVMTI function
 * failed.
 */
jlong ag_alloc_code_ask(struct ag_jvm *jvm, struct ag_alloc_code *ac, jclass class);

/* In alloc_instrument_notes.c: adds n refusals for the reason `why`.  Any thread may call it. */
void ag_alloc_code_reason(struct ag_alloc_code *ac, const char *why, uint64_t n);
/* Returns a constant string: why the JVM refuses a class if RetransformClasses returns `code`. */
const char *ag_alloc_code_error(jvmtiError code);
/* Fills ac->old with the methods whose uninstrumented version still runs in a thread. */
void ag_alloc_code_find_old(struct ag_jvm *jvm, struct ag_alloc_code *ac);
void ag_alloc_code_free_old(struct ag_jvm *jvm, struct ag_alloc_code *ac);

#endif
