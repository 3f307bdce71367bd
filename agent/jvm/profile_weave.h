/*
 * The inside of profile_weave: which classes get hooks, what their code becomes, which loaders
 * find the hooks, and what is told of what could not be done.
 *
 * A class that was looked at has a tag in the environment of the weaving: that it has nothing to
 * be hooked, or its number.  One without a tag was loaded since, and got its hooks as it was: if
 * its loader was known to find the class with the hooks, which its own tag says.
 */
#ifndef JTOOL_AGENT_JVM_PROFILE_WEAVE_H
#define JTOOL_AGENT_JVM_PROFILE_WEAVE_H

#include "jvm/profile_exact.h"
#include "jvm/weave.h"

/* Tags of classes that are not numbers */
#define AG_WEAVING_DONE (-1) /* it has no hooks, or not any more */
/* Tags of loaders; behind AG_WEAVING_SEES, by the sweep in which it was asked */
#define AG_WEAVING_BLIND (-2)
#define AG_WEAVING_LEFT (-3) /* classes of it were let through: it is to be asked */
#define AG_WEAVING_SEES (-16)

/* Of the notes of a class (struct ag_weave_class) */
#define AG_WEAVING_TOLD 1u  /* what was refused of it was counted */
#define AG_WEAVING_WOVEN 2u /* the JVM took it with hooks */

#define AG_WEAVING_BATCH 128u /* classes at a time, at most */

/*
 * Classes 0 to AG_WEAVING_SPARE - 1 of the weave are nobody's: for those that are looked at, and
 * that are put back, without having a number.
 */
#define AG_WEAVING_SPARE (AG_WEAVING_BATCH + 1)

#define AG_WEAVING_REASONS 24
#define AG_WEAVING_ASKING 64 /* threads at a time */
#define AG_WEAVING_NAMES 1024u /* of classes that are loaded while all are looked at */

/* Why something was left as it was; rows are taken by any thread, and never given back. */
struct ag_reason {
	const char *why; /* atomic; a constant; NULL: the row is free */
	uint64_t n;      /* atomic */
};

/* A method that began before its class was hooked. */
struct ag_old_code {
	char *name; /* "a.b.C.m" */
	uint32_t threads, last; /* the number of the last of these */
	struct ag_old_code *next;
};

struct ag_weaving {
	struct ag_weave weave; /* first: who has this has the weaving */
	struct ag_profile *profile;
	const char *hooks;
	uint32_t on;        /* atomic: new classes get hooks */
	uint32_t left;      /* atomic: classes that were let through, of loaders to be asked */
	uint32_t loaded;    /* atomic: classes that got hooks as they were loaded */
	uint64_t names[AG_WEAVING_NAMES]; /* atomic: of the first of these, their hashes */
	int64_t loaded_ns;  /* atomic: when the last one did */
	JNIEnv *asking[AG_WEAVING_ASKING]; /* atomic: of threads that ask a loader as they load */
	/* java.lang.ClassLoader's */
	jmethodID load[2];
	jfieldID parent;
	jmethodID for_name;  /* java.lang.Class's */
	char hooks_name[32]; /* "java.jtool.Hooks1" */
	uint32_t object;    /* atomic: java.lang.Object's number; 0: it has none */
	bool sun_unsafe;    /* JDK 8, see classfile/inject_sites.h */
	/* the weaving thread's */
	uint32_t sweep;  /* loaders are asked in the how many-th */
	uint32_t hooked, refused;
	uint32_t n;      /* in the batch */
	uint32_t members[AG_WEAVING_BATCH];
	jclass refs[AG_WEAVING_BATCH];
	struct ag_reason reasons[AG_WEAVING_REASONS];
	struct ag_old_code *old;
};

/* profile_weave_sweep: one pass through all loaded classes */
struct ag_sweep {
	struct ag_jvm *jvm;
	struct ag_weaving *w;
	bool out;      /* hooks are taken out; else put in */
	bool new_only; /* only classes of loaders that were asked in this sweep */
	uint32_t n_loaded; /* classes, with arrays' */
	uint32_t done;     /* classes */
	jvmtiError code; /* out: the last error */
};

/* -1 recorded: there was no list of them, and nothing was done. */
int ag_weaving_sweep(struct ag_sweep *sweep);
struct ag_weave_group ag_weaving_batch(struct ag_jvm *jvm, struct ag_weaving *w);
/* A number for a class that is to be hooked; 0: recorded. */
uint32_t ag_weaving_number(struct ag_jvm *jvm, struct ag_weaving *w, jclass class,
			   const char *signature);

/* profile_weave_code */
extern const struct ag_weaver ag_profile_weaver;

/* profile_weave_loader: what is to be known of java.lang.ClassLoader; -1 recorded. */
int ag_weaving_learn_loaders(struct ag_jvm *jvm, struct ag_weaving *w);
/*
 * Does a loader find the class with the hooks?  Any thread, in the middle of loading.  False: it
 * does not, or that is to be found out in a sweep.
 */
bool ag_weaving_sees(struct ag_weaving *w, jvmtiEnv *ti, JNIEnv *jni, jobject loader);
/*
 * Ask the class's loader, unless that was done; its tag, or 0: that cannot be told.  The boot
 * loader's is AG_WEAVING_SEES.
 */
jlong ag_weaving_ask(struct ag_jvm *jvm, struct ag_weaving *w, jclass class);

/* profile_weave_notes: n more were left as they are for this reason; any thread. */
void ag_weaving_reason(struct ag_weaving *w, const char *why, uint64_t n);
/* What the JVM says of a class that it does not take: a constant. */
const char *ag_weaving_error(jvmtiError code);
/* Find what runs code from before; what cannot be told is not. */
void ag_weaving_find_old(struct ag_jvm *jvm, struct ag_weaving *w);
void ag_weaving_free_old(struct ag_jvm *jvm, struct ag_weaving *w);

#endif
