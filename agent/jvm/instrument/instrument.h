/*
 * Instruments classes by retransforming them, for traces and exact profiles.
 *
 * Each trace or profile has a JVMTI environment with a ClassFileLoadHook.  The hook instruments the
 * incoming class file on the instrumenting thread, and on any other thread that retransforms the
 * class meanwhile.  To restore a class, the hook returns a copy of the incoming bytes; patches.h
 * says why they must be copied.  The hook finds a class's index in the tag of the class, which is
 * 1 + the index.  The hook holds no lock while it calls the JVM.  If such a call fails, the hook
 * leaves the class unchanged.
 *
 * The hook runs on every thread that loads, redefines or retransforms a class, until the
 * environment is disposed of.  The data that it reads, except a few atomic flags, is complete
 * before events are enabled or before the class is tagged.  The data is freed when no hook is in
 * flight (quiesce.h).
 */
#ifndef JTOOL_AGENT_JVM_INSTRUMENT_INSTRUMENT_H
#define JTOOL_AGENT_JVM_INSTRUMENT_INSTRUMENT_H

#include "jvm/jvmti.h"

/* The result of the hook for a class, on the instrumenting thread. */
enum ag_instrumented {
	AG_INSTRUMENTED_UNSEEN = 0, /* the hook was not called for the class */
	AG_INSTRUMENTED_DONE,
	AG_INSTRUMENTED_NOTHING, /* the class has nothing to hook; the instrumenter recorded why */
	AG_INSTRUMENTED_NO_MEMORY,
};

struct ag_instrument_class {
	uint64_t name; /* hash of the class's name as the hook receives it */
	/* Atomic: */
	bool hooked;   /* the hook instruments the class; else it returns a copy of the bytes */
	bool touched;  /* another thread retransformed the class */
	/* Used by the instrumenting thread only: */
	uint16_t note; /* free for use by the functions of struct ag_instrumenter */
	enum ag_instrumented outcome;
};

struct ag_instrument;

/* One call of the hook. */
struct ag_instrument_call {
	struct ag_instrument *instrument;
	jvmtiEnv *ti; /* valid during the call, unlike instrument->ti */
	JNIEnv *jni;
	jobject loader;
	const char *name;
	const unsigned char *bytes; /* the incoming class file */
	size_t len;
	jint *new_len;
	unsigned char **new_bytes;
};

/* The functions that a trace or profile provides. */
struct ag_instrumenter {
	/* Instruments a class, on any thread.  `own` is true on the instrumenting thread. */
	enum ag_instrumented (*instrument)(const struct ag_instrument_call *call, uint32_t index,
				      bool own);
	/* Called when the JVM has refused the class with `code`; the class is unchanged. */
	void (*give_up)(struct ag_instrument *instrument, uint32_t index, jvmtiError code);
	/* For ag_instrument_look(): returns what instrument() would return for the class. */
	enum ag_instrumented (*look)(const struct ag_instrument_call *call, uint32_t index);
	/* Called for a class without a tag, such as a new one, on any thread.  May be NULL. */
	void (*untagged)(const struct ag_instrument_call *call);
};

/* One call of RetransformClasses on the instrumenting thread. */
struct ag_instrument_pass {
	uint32_t n, hits; /* n: classes; hits: calls of the hook for these classes */
	bool unchanged;   /* at least one class got no hooks, so the pass must be abandoned */
	bool abandoned;   /* the hook has thrown, so the JVM changes none of the classes */
	bool look;        /* a dry run for ag_instrument_look(): the hook always throws */
};

#define AG_INSTRUMENT_CHUNK 1024u
#define AG_INSTRUMENT_CHUNKS 1024u

struct ag_instrument {
	const struct ag_instrumenter *ops;
	jvmtiEnv *ti;
	JNIEnv *jni;       /* of the instrumenting thread; NULL: there is none; atomic */
	jthrowable thrown; /* thrown by the hook; a local reference of the instrumenting thread */
	struct ag_instrument_class *chunks[AG_INSTRUMENT_CHUNKS]; /* classes never move */
	uint32_t room, n_classes; /* room: allocated entries; n_classes: entries in use, atomic */
	struct ag_instrument_pass pass;
	struct ag_instrument_slot *slot;
};

/* Creates the environment with its capabilities.  Returns 0, or -1 with the error recorded. */
int ag_instrument_open(struct ag_jvm *jvm, struct ag_instrument *instrument,
		       const struct ag_instrumenter *ops);
/* Enables the hook.  Returns 0, or -1 with an error recorded that names the operation `what`. */
int ag_instrument_listen(struct ag_jvm *jvm, struct ag_instrument *instrument, const char *what);
/*
 * Waits until no hook is in flight, and disposes of the environment, if there is one.  Returns
 * false if a hook still is in flight after 2 s, for example because a debugger suspended its
 * thread; the environment is then disposed of all the same, and the memory that hooks use must
 * never be freed.
 */
bool ag_instrument_disable_events(struct ag_jvm *jvm, struct ag_instrument *instrument);
/* Frees the classes, after ag_instrument_disable_events() has returned true. */
void ag_instrument_release(struct ag_jvm *jvm, struct ag_instrument *instrument);

/*
 * From ag_instrument_begin() to ag_instrument_end(), the current thread is the instrumenting
 * thread.  ag_instrument_begin() returns 0, or -1 with the error recorded.  After -1, the hook has
 * no exception to throw, and cannot abandon a retransformation; so the caller may call only
 * ag_instrument_remove() and ag_instrument_end().
 */
int ag_instrument_begin(struct ag_jvm *jvm, struct ag_instrument *instrument);
void ag_instrument_end(struct ag_jvm *jvm, struct ag_instrument *instrument);

/* Ensures room for n classes in total.  Returns 0, or -1 with the error recorded. */
int ag_instrument_reserve(struct ag_jvm *jvm, struct ag_instrument *instrument, uint32_t n);

static inline struct ag_instrument_class *ag_instrument_class(const struct ag_instrument *in,
							      uint32_t index)
{
	return &in->chunks[index / AG_INSTRUMENT_CHUNK][index % AG_INSTRUMENT_CHUNK];
}

void ag_instrument_set_hooked(struct ag_instrument_class *class, bool hooked);
bool ag_instrument_is_hooked(const struct ag_instrument_class *class);
bool ag_instrument_is_touched(const struct ag_instrument_class *class);
/* Returns the hash of a class's name, such as "p/C", computed from its signature "Lp/C;". */
uint64_t ag_instrument_name(const char *signature);

/* Gives the JVM a copy of `data` as the new class file.  Returns false if memory is short. */
bool ag_instrument_pass_through(const struct ag_instrument_call *call, const void *data,
				size_t len);

/* Classes to be retransformed together: their indexes, and references to the classes. */
struct ag_instrument_group {
	struct ag_jvm *jvm;
	struct ag_instrument *instrument;
	uint32_t *members;
	jclass *refs;
};

/*
 * Instruments the first n classes of the group.  If a class has nothing to hook, or if the JVM
 * refuses the class, leaves the class unchanged and clears its `hooked`.  Finds the refused classes
 * by bisection.  Reorders the group's arrays `members` and `refs`.
 */
void ag_instrument_add(const struct ag_instrument_group *group, uint32_t n);
/*
 * Restores the first n classes of the group, whose `hooked` must be false, by retransforming them.
 * If the JVM refuses a group, retransforms each half of it; if the JVM refuses a single class,
 * tries once more.  Returns JVMTI_ERROR_NONE, or the last error of a class that was not restored.
 */
jvmtiError ag_instrument_remove(const struct ag_instrument_group *group, uint32_t n);
/*
 * Finds out whether the group's first class would be instrumented, without changing the class.
 * Stores the answer in the `outcome` of the class; AG_INSTRUMENTED_UNSEEN means unknown.  Returns
 * JVMTI_ERROR_NONE, or the JVM's error if the JVM did not call the hook.
 */
jvmtiError ag_instrument_look(const struct ag_instrument_group *group);

#endif
