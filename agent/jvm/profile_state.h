/*
 * What the parts of a profile share.  profile.c makes, ends and frees it; profile_sample,
 * profile_exact (with profile_hooks and profile_weave) and profile_live fill it.
 */
#ifndef JTOOL_AGENT_JVM_PROFILE_STATE_H
#define JTOOL_AGENT_JVM_PROFILE_STATE_H

#include "base/arena.h"
#include "jvm/profile.h"
#include "jvm/profile_kinds.h"
#include "jvm/profile_sites.h"
#include "wire/frame.h"

struct ag_exact; /* profile_exact.h */

struct ag_profile {
	struct ag_profile_wanted wanted; /* its globs are in the arena */
	jvmtiEnv *ti; /* its own: disposed of at its end, which gives tags and capabilities back */
	jvmtiEventCallbacks callbacks;   /* of ti, by ag_profile_listen() */
	JNIEnv *own;  /* the session's thread: what it allocates is not the application's */
	struct ag_arena arena;
	struct ag_kinds *kinds;
	struct ag_sites sites;
	struct ag_exact *exact; /* NULL: it samples */
	/* atomic, added to by any thread */
	uint64_t samples, bytes, dropped;
	uint32_t collections; /* since it began */
	uint32_t forcing;     /* 1: the collection that goes on is the profile's own */
	uint32_t dying;       /* 1: the JVM is in VMDeath */
	uint32_t left; /* 1: a suspended thread is in a callback or a hook, and all memory its */
	uint64_t interval;
	int64_t began_ns, ended_ns;
	uint64_t begin_ns, live_ns;
};

/*
 * Have an event of profile->ti, whose callback was put into profile->callbacks before; -1
 * recorded.  Its local storage is the profile.
 */
int ag_profile_listen(struct ag_jvm *jvm, struct ag_profile *profile, jvmtiEvent event);

/*
 * profile_sample: -1 recorded.  Nothing comes in after off(), unless `left` is set.
 */
int ag_sample_on(struct ag_jvm *jvm, struct ag_profile *profile);
void ag_sample_off(struct ag_profile *profile);
void ag_sample_tick(struct ag_profile *profile);

/*
 * How many objects, in 1/256, and how many bytes a sample of this size stands for: 1/p each, with
 * p = 1 - exp(-size/interval), the probability that one of its bytes is a sampling point of a
 * Poisson process with that mean distance (as JEP 331 draws them).  Two things are otherwise in
 * HotSpot: a thread's first gap, and, in JDK 11 to 21, the gap behind an object about as large as
 * the interval or larger, which is too short on average (threadHeapSampler.cpp,
 * pick_next_sample()).  Neither can be told from what the event says.
 */
struct ag_weight {
	uint64_t objects_256, bytes;
};
struct ag_weight ag_sample_weight(uint64_t size, uint64_t interval);

/*
 * profile_live: an object that was just made, at this site.  Its tag has the site, the
 * collections so far, and the interval that it was sampled with (0: it was not sampled).  Any
 * thread that has JNI.
 */
void ag_live_mark(struct ag_profile *profile, jobject object, uint32_t site, uint64_t interval);
/* Count collections, from on() to off(). */
int ag_live_on(struct ag_jvm *jvm, struct ag_profile *profile);
void ag_live_off(struct ag_profile *profile);
/*
 * A full collection, then the live figures of all sites.  While the JVM is dying nothing can be
 * collected: what is reachable is found along references, which takes longer.  -1 recorded.
 */
int ag_live_count(struct ag_jvm *jvm, struct ag_profile *profile);

/*
 * profile_exact: see profile_exact.h.  When on() fails it has undone everything, but for
 * profile->exact, which is freed if it is there.  state() fills what it knows of: samples, bytes,
 * hooked, refused.
 */
int ag_exact_on(struct ag_jvm *jvm, struct ag_profile *profile);
void ag_exact_tick(struct ag_jvm *jvm, struct ag_profile *profile);
void ag_exact_off(struct ag_jvm *jvm, struct ag_profile *profile, jvmtiError *code);
/* Add up threads' tables into the sites; once more adds only what came since. */
void ag_exact_merge(struct ag_profile *profile);
void ag_exact_state(const struct ag_profile *profile, struct ag_profile_state *state);
int ag_exact_notes(const struct ag_profile *profile, ag_profile_note_fn *tell, void *arg);
void ag_exact_free(struct ag_jvm *jvm, struct ag_profile *profile);

#endif
