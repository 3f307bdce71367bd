/*
 * Instrumenting classes by retransforming them: what traces and profiles share.
 *
 * An environment of its own has a ClassFileLoadHook that instruments what comes in: on the thread
 * that weaves, and when somebody else retransforms a class meanwhile, on theirs.  Hooks are taken
 * out by handing on a copy of what comes in (a copy: see patches.h).  Which class it is, the hook
 * knows by a tag, 1 + the class's index; it holds no lock while it calls the JVM, and when in
 * doubt it leaves the class alone.
 *
 * It runs on whatever thread loads, redefines or retransforms a class, until its environment is
 * gone.  What it reads stands before the environment listens, or before the class has its tag,
 * but for a few flags of a class.  It has told so in a counter before it looks, and that is never
 * freed; whoever takes all this away looks at the counter afterwards.
 */
#ifndef JTOOL_AGENT_JVM_WEAVE_H
#define JTOOL_AGENT_JVM_WEAVE_H

#include "jvm/ti.h"

/* What came of a class on the weaving thread's own pass. */
enum ag_woven {
	AG_WOVEN_UNSEEN = 0, /* the hook was not called for it */
	AG_WOVEN_DONE,
	AG_WOVEN_NOTHING,    /* nothing could be hooked; the weaver knows why */
	AG_WOVEN_NO_MEMORY,
};

struct ag_weave_class {
	uint64_t name; /* hash of the class's name, as the hook is told it */
	/* atomic */
	bool hooked;   /* it is to be instrumented; else it is handed on as it comes in */
	bool touched;  /* another thread asked */
	/* the weaving thread's */
	uint16_t note; /* the weaver's own */
	enum ag_woven woven;
};

struct ag_weave;

/* One call of the hook. */
struct ag_weave_call {
	struct ag_weave *weave;
	jvmtiEnv *ti; /* not to be taken from the weave, which goes first */
	JNIEnv *jni;
	jobject loader;
	const char *name;
	const unsigned char *bytes; /* what comes in */
	size_t len;
	jint *new_len;
	unsigned char **new_bytes;
};

/* Who instruments. */
struct ag_weaver {
	/*
	 * Hand on the class with hooks, if it can have any; on any thread.  own: it is the one
	 * that weaves, which asks for the reasons.
	 */
	enum ag_woven (*weave)(const struct ag_weave_call *call, uint32_t index, bool own);
	/* The JVM does not take the class, which is as it was. */
	void (*give_up)(struct ag_weave *weave, uint32_t index, jvmtiError code);
	/* Would it be hooked?  Only for ag_weave_look(). */
	enum ag_woven (*look)(const struct ag_weave_call *call, uint32_t index);
	/* A class without a tag comes in, mostly a new one; any thread.  NULL: nobody cares. */
	void (*untagged)(const struct ag_weave_call *call);
};

/* What is retransformed on the weaving thread. */
struct ag_weave_pass {
	uint32_t n, hits;
	bool in_vain;   /* one of the classes would be retransformed for nothing */
	bool abandoned; /* so the JVM was made to leave all of them as they are */
	bool look;      /* they are to be left as they are anyhow */
};

#define AG_WEAVE_CHUNK 1024u
#define AG_WEAVE_CHUNKS 1024u

struct ag_weave {
	const struct ag_weaver *weaver;
	jvmtiEnv *ti;
	JNIEnv *jni;       /* atomic: the weaving thread's; NULL: none does now */
	jthrowable thrown; /* a local reference of that thread's */
	struct ag_weave_class *chunks[AG_WEAVE_CHUNKS]; /* none ever moves */
	uint32_t room, n_classes; /* the latter atomic */
	struct ag_weave_pass pass;
	struct ag_weave_slot *slot;
};

/* The environment, with the capabilities that this takes; -1 recorded. */
int ag_weave_open(struct ag_jvm *jvm, struct ag_weave *weave, const struct ag_weaver *weaver);
/* Begin to listen; -1 with the error recorded. */
int ag_weave_listen(struct ag_jvm *jvm, struct ag_weave *weave, const char *what);
/*
 * Dispose of the environment, which may not be there, and wait until no hook looks at the
 * weave any more.  False: one does for seconds, for a debugger suspended its thread; then all that
 * hooks look at is left to it.
 */
bool ag_weave_deafen(struct ag_weave *weave);
/* The classes' memory, after ag_weave_deafen(). */
void ag_weave_release(struct ag_jvm *jvm, struct ag_weave *weave);

/*
 * From now on, and no more, the current thread is the one that weaves.  -1 recorded: it is, but
 * there is no exception, so that nothing can be abandoned: only ag_weave_out() may be called.
 */
int ag_weave_begin(struct ag_jvm *jvm, struct ag_weave *weave);
void ag_weave_end(struct ag_jvm *jvm, struct ag_weave *weave);

/* Room for n classes in all; -1: no memory. */
int ag_weave_reserve(struct ag_jvm *jvm, struct ag_weave *weave, uint32_t n);

static inline struct ag_weave_class *ag_weave_class(const struct ag_weave *weave, uint32_t index)
{
	return &weave->chunks[index / AG_WEAVE_CHUNK][index % AG_WEAVE_CHUNK];
}

/* Is the class to have hooks? */
void ag_weave_set_hooked(struct ag_weave_class *class, bool hooked);
bool ag_weave_is_hooked(const struct ag_weave_class *class);
bool ag_weave_is_touched(const struct ag_weave_class *class);
/* The hash of a class's name, of its signature. */
uint64_t ag_weave_name(const char *signature);

/* Bytes for the JVM instead of those that came in.  False: no memory. */
bool ag_weave_hand_on(const struct ag_weave_call *call, const void *data, size_t len);

/* Classes that are retransformed together: their indexes, and references to them. */
struct ag_weave_group {
	struct ag_jvm *jvm;
	struct ag_weave *weave;
	uint32_t *members;
	jclass *refs;
};

/*
 * Retransform those that are to be hooked.  Those of them for which that would be in vain, and
 * those that the JVM does not take, which is found by halves, are left alone: they are not hooked
 * then.  The arrays are left in any order.
 */
void ag_weave_in(const struct ag_weave_group *group, uint32_t n);
/*
 * Hand on copies; what fails together is tried by halves, and at last twice.  The last error, or
 * none.
 */
jvmtiError ag_weave_out(const struct ag_weave_group *group, uint32_t n);
/*
 * Would the first one be hooked?  `woven` of the class says so, AG_WOVEN_UNSEEN that it cannot be
 * told.  The class is left as it is.
 */
jvmtiError ag_weave_look(const struct ag_weave_group *group);

#endif
