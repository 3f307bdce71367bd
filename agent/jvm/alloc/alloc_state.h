/*
 * The state of an allocation profile, which several source files share.  alloc_profile.c allocates,
 * ends and frees it; alloc_sample.c, alloc_exact.c (with alloc_hooks.c and alloc_instrument.c) and
 * alloc_live.c fill it.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_STATE_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_STATE_H

#include "util/arena.h"
#include "jvm/alloc/alloc_profile.h"
#include "jvm/alloc/alloc_classes.h"
#include "jvm/alloc/alloc_sites.h"
#include "wire/frame.h"

struct ag_exact; /* alloc_exact_state.h */

struct ag_alloc_profile {
	struct ag_alloc_profile_wanted wanted; /* the memory of its globs belongs to `arena` */
	/* the profile's environment, which has its tags, capabilities and callbacks */
	jvmtiEnv *ti;
	jvmtiEventCallbacks callbacks; /* of the environment `ti`, see ag_alloc_profile_listen() */
	JNIEnv *own;  /* JNIEnv of the session's thread, whose allocations are not counted */
	struct ag_arena arena;
	struct ag_alloc_classes *kinds;
	struct ag_sites sites;
	struct ag_exact *exact; /* NULL: a sampled profile */
	/* Atomic; any thread adds to these: */
	uint64_t samples, bytes, dropped;
	uint64_t globals;     /* number of the profile's global references, see jni_refs.h */
	uint32_t collections; /* number of garbage collections */
	uint32_t forcing;     /* 1: the profile itself has requested the current collection */
	uint32_t dying;       /* 1: the JVM is in VMDeath */
	/* 1: a thread is suspended in a hook or callback, so the profile's memory is never freed */
	uint32_t left;
	uint64_t interval; /* sampling interval in bytes */
	int64_t began_ns, ended_ns; /* times of ag_now_ns() */
	uint64_t begin_ns, live_ns; /* durations, see struct ag_alloc_profile_state */
};

/*
 * Enables an event in the environment profile->ti.  The event's callback must be set in
 * profile->callbacks; it finds the profile in the environment's local storage.  Returns 0, or -1
 * with the error recorded.
 */
int ag_alloc_profile_listen(struct ag_jvm *jvm, struct ag_alloc_profile *profile, jvmtiEvent event);

/*
 * In alloc_sample.c: begin and end sampling.  ag_sample_on() returns 0, or -1 with the error
 * recorded.  After ag_sample_off() no callback is in flight, unless profile->left is set.
 */
int ag_sample_on(struct ag_jvm *jvm, struct ag_alloc_profile *profile);
void ag_sample_off(struct ag_alloc_profile *profile);
void ag_sample_tick(struct ag_alloc_profile *profile);

/*
 * Returns the weight of a sampled object of `size` bytes: 1/p objects (`objects_256` is in units of
 * 1/256 object) and size/p bytes.  p = 1-exp(-size/interval) is the probability that the object
 * contains a sampling point of a Poisson process with the mean distance `interval`, as in JEP 331.
 *
 * In two cases HotSpot draws the distance to the next sampling point differently, so the weight is
 * wrong; the event does not show these cases (threadHeapSampler.cpp, pick_next_sample()):
 * - the first distance of a thread;
 * - in JDK 11 to 21 the distance after an object of about the size `interval` or larger, which is
 *   too short on average.
 */
struct ag_weight {
	uint64_t objects_256, bytes;
};
struct ag_weight ag_sample_weight(uint64_t size, uint64_t interval);

/*
 * In alloc_live.c: tags a new object with its site, the number of collections so far, and the
 * sampling interval (0: the profile is exact).  Any thread with a JNIEnv may call ag_live_mark().
 */
void ag_live_mark(struct ag_alloc_profile *profile, jobject object, uint32_t site,
		  uint64_t interval);
/* ag_live_on() begins to count collections; it returns 0, or -1 with the error recorded. */
int ag_live_on(struct ag_jvm *jvm, struct ag_alloc_profile *profile);
void ag_live_off(struct ag_alloc_profile *profile);
/*
 * Forces a full garbage collection, then counts the live objects of all sites.  If profile->dying
 * is set, the JVM cannot collect garbage any more; the function then follows references instead,
 * which takes longer.  Returns 0, or -1 with the error recorded.
 */
int ag_live_count(struct ag_jvm *jvm, struct ag_alloc_profile *profile);

/*
 * In alloc_exact.c: begin and end exact counting.  ag_exact_on() returns 0, or -1 with the error
 * recorded; if it fails, only profile->exact remains, which ag_exact_free() frees.  ag_exact_off()
 * sets *code as ag_alloc_profile_end() does.
 */
int ag_exact_on(struct ag_jvm *jvm, struct ag_alloc_profile *profile);
void ag_exact_tick(struct ag_jvm *jvm, struct ag_alloc_profile *profile);
void ag_exact_off(struct ag_jvm *jvm, struct ag_alloc_profile *profile, jvmtiError *code);
/* Updates the sites: adds the objects that the threads' tables counted since the previous call. */
void ag_exact_merge(struct ag_alloc_profile *profile);
/* Fills in only the members `samples`, `bytes`, `hooked` and `refused` of *state. */
void ag_exact_state(const struct ag_alloc_profile *profile, struct ag_alloc_profile_state *state);
int ag_exact_notes(const struct ag_alloc_profile *profile, ag_alloc_profile_note_fn *report,
		   void *arg);
/* Lets another exact profile begin; call it after ag_exact_off(). */
void ag_exact_let_go(struct ag_exact *exact);
void ag_exact_free(struct ag_jvm *jvm, struct ag_alloc_profile *profile);

#endif
