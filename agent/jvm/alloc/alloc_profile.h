/*
 * Allocation profiles count the allocated objects by class and stack, and how many of these objects
 * are live.
 *
 * A profile is sampled or exact.  A sampled profile (alloc_sample.c) receives sampled allocations
 * from the JVM (SampledObjectAlloc, JDK 11 and later).  An exact profile (alloc_exact.h) counts
 * every allocation, on any JDK, by hooks in the constructor of java.lang.Object and after all code
 * that allocates arrays.  Both kinds of profile add the objects to the counters of allocation sites
 * (alloc_sites.h).  To count live objects, alloc_live.c tags these objects with their sites.
 * agent/cmd/alloc.c and agent/startup/report.c read the sites.
 *
 * Code that runs on application threads takes no lock, waits for no other thread, runs no Java code
 * and leaves no exception pending.  Objects for which memory is lacking are counted as dropped.
 * All memory of a profile is one arena.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_PROFILE_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_PROFILE_H

#include "jvm/jvmti.h"

struct ag_alloc_profile;

struct ag_alloc_profile_wanted {
	uint32_t flags;    /* WIRE_ALLOC_EXACT, WIRE_ALLOC_LIVE */
	uint64_t interval; /* mean bytes between two samples; 0: the agent chooses and adapts it */
	uint32_t depth;    /* maximum number of stack frames: 1 to WIRE_ALLOC_DEPTH */
	size_t memory;     /* limit in bytes for sites, classes and the threads' tables */
	uint32_t age;      /* an object is live only if it has survived this many collections */
	/* only if exact: globs for the names of the counted classes: "a.b.*", "int[]" */
	const char *const *globs;
	uint32_t n_globs;         /* 0: all classes */
};

/*
 * Begins a profile.  If that fails, returns NULL with the error recorded, and nothing has changed.
 * For a sampled profile, the error JVMTI_ERROR_NOT_AVAILABLE from "AddCapabilities" means that
 * another agent samples, or that this is JDK 8.  The library has at most one exact profile at a
 * time.  The session's memory budget must have room for wanted->memory.  Copies the globs.
 */
struct ag_alloc_profile *ag_alloc_profile_begin(struct ag_jvm *jvm,
						const struct ag_alloc_profile_wanted *wanted);

/*
 * Adapts the sampling interval if the agent chooses it; in an exact profile, adds hooks to classes
 * that could not get them when they were loaded.  Call this about once a second.
 */
void ag_alloc_profile_tick(struct ag_jvm *jvm, struct ag_alloc_profile *profile);

struct ag_alloc_profile_state {
	uint64_t ns;       /* duration of the profile until its end, or until now if it runs */
	uint64_t begin_ns; /* time that it took to begin the profile */
	/*
	 * number of samples; in an exact profile, number of counted objects, which is approximate
	 * until the profile ends
	 */
	uint64_t samples;
	/*
	 * dropped: number of objects or samples that were not counted, because memory was lacking;
	 * interval: sampling interval in bytes
	 */
	uint64_t bytes, dropped, interval;
	uint32_t sites, kinds, collections;
	/* number of classes that have hooks, and of classes that could not get hooks */
	uint32_t hooked, refused;
	uint32_t depth;           /* maximum number of stack frames */
	uint64_t live_ns;         /* duration of collecting garbage and counting live objects */
};
void ag_alloc_profile_state(const struct ag_alloc_profile *profile,
			    struct ag_alloc_profile_state *state);

/*
 * Ends sampling or counting; afterwards the sites are complete.  An exact profile stops counting
 * for all classes at once, before it restores the classes.  If the JVM has not restored a class,
 * *code is the JVM's error, and the hooks of the class do nothing.  If the profile has the flag
 * WIRE_ALLOC_LIVE and `live` is true, the function then collects garbage and counts the live
 * objects.  Returns 0; or -1 with the error recorded if it could not count the live objects; even
 * then, all other results are valid.
 */
int ag_alloc_profile_end(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live,
			 jvmtiError *code);

/*
 * Brings the sites of a running profile up to date.  In an exact profile, adds the counts in the
 * threads' tables to the sites, while the threads continue to count.  `live` and the result are as
 * for ag_alloc_profile_end().  Any thread that is attached to the JVM may call this function with
 * its own jvm->jni, but only one thread at a time.
 */
int ag_alloc_profile_peek(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live);

/*
 * From this call on, the profile does not collect garbage before it counts live objects.  The
 * VMDeath callback must call this function before any other function of the profile.
 */
void ag_alloc_profile_dying(struct ag_alloc_profile *profile);

/* Returns the signature of the classes of a kind (alloc_classes.h).  The profile owns the text. */
const char *ag_alloc_class(const struct ag_alloc_profile *profile, uint32_t kind);

struct ag_alloc_site {
	uint32_t kind; /* number of the class, see alloc_classes.h */
	uint64_t objects, bytes, samples, live_objects, live_bytes;
	/* jmethodIDs of the frames, innermost first, without constructors of the new object */
	const uint64_t *methods;
	const uint16_t *bcis; /* bytecode indexes; AG_NATIVE: native method */
	uint32_t n_frames;
};
#define AG_NATIVE UINT16_MAX

/* Fills in site i (from 0) as it is now.  Returns false if there are fewer sites. */
bool ag_alloc_site(const struct ag_alloc_profile *profile, uint32_t i, struct ag_alloc_site *site);

/*
 * Calls report() for each limitation of the profile (enum wire_alloc_note), until report() returns
 * a value other than 0; returns that value.
 */
typedef int ag_alloc_profile_note_fn(void *arg, uint32_t note, const char *text, uint64_t n);
int ag_alloc_profile_notes(const struct ag_alloc_profile *profile, ag_alloc_profile_note_fn *report,
			   void *arg);

/*
 * Gives back what an ended profile holds in the JVM: the tags of objects, and the capabilities,
 * which the next profile needs.  The sites remain readable.
 */
void ag_alloc_profile_let_go(struct ag_alloc_profile *profile);

/* Frees a profile.  Call ag_alloc_profile_end() before. */
void ag_alloc_profile_free(struct ag_jvm *jvm, struct ag_alloc_profile *profile);

#endif
