/*
 * Allocation profiles: which classes are allocated, at which stacks, how often, and what is live.
 *
 * There are two sources of events.  alloc_sample receives sampled allocations from the JVM
 * (SampledObjectAlloc, JDK 11+).  alloc_exact counts every allocation, on any JDK, by hooks in the
 * constructor of java.lang.Object and after all code that allocates arrays.  Both add to the same
 * sites (alloc_sites: class and stack), and alloc_live tags objects with their sites.  cmd/alloc
 * and startup/report read the sites.
 *
 * Code that runs on application threads takes no lock, waits for no other thread, runs no Java code
 * and leaves no exception pending; objects for which memory is lacking are counted as dropped.  All
 * memory is one arena.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_PROFILE_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_PROFILE_H

#include "jvm/jvmti.h"

struct ag_alloc_profile;

struct ag_alloc_profile_wanted {
	uint32_t flags;    /* WIRE_ALLOC_EXACT, _LIVE */
	uint64_t interval; /* mean bytes between two samples; 0: chosen and adapted by the agent */
	uint32_t depth;    /* stack frames, 1 to WIRE_ALLOC_DEPTH */
	size_t memory;     /* bytes for sites, classes and the threads' tables */
	uint32_t age;      /* only objects that survived this many collections count as live */
	const char *const *globs; /* exact: Java names of classes ("a.b.*", "int[]"); copied */
	uint32_t n_globs;         /* 0: all classes */
};

/*
 * Begins a profile.  On failure returns NULL with the error recorded and nothing changed.  When
 * sampling, JVMTI_ERROR_NOT_AVAILABLE from "AddCapabilities" means that another agent samples, or
 * that this is JDK 8.  The library has one exact profile at a time.  The session's memory budget
 * must have room for wanted->memory.
 */
struct ag_alloc_profile *ag_alloc_profile_begin(struct ag_jvm *jvm,
						const struct ag_alloc_profile_wanted *wanted);

/* Adapts the interval if the agent chooses it.  Call this about once a second. */
void ag_alloc_profile_tick(struct ag_jvm *jvm, struct ag_alloc_profile *profile);

struct ag_alloc_profile_state {
	uint64_t ns;       /* duration of the profile, until its end or now */
	uint64_t begin_ns; /* time that it took to begin the profile */
	uint64_t samples;  /* samples or counted objects (exact); approximate while threads count */
	uint64_t bytes, dropped, interval; /* dropped: objects or samples that lacked memory */
	uint32_t sites, kinds, collections;
	uint32_t hooked, refused; /* classes */
	uint32_t depth;           /* maximum number of stack frames */
	uint64_t live_ns;         /* pauses in which live objects were collected and counted */
};
void ag_alloc_profile_state(const struct ag_alloc_profile *profile,
			    struct ag_alloc_profile_state *state);

/*
 * Ends sampling or counting; afterwards the sites are complete.  Counting stops for all classes at
 * once, before the classes are restored.  *code is the JVM's error if it has not restored a class;
 * the hooks of such a class do nothing.  With WIRE_ALLOC_LIVE and `live`, the function then
 * collects garbage and counts the live objects.  Returns 0, or -1 with the error recorded if the
 * live objects could not be counted; everything else is valid then.
 */
int ag_alloc_profile_end(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live,
			 jvmtiError *code);

/*
 * Brings the sites of a running profile up to date.  Adds up the threads' tables of an exact
 * profile without emptying them.  `live` and the result are as for ag_alloc_profile_end().  Any
 * thread that is attached to the JVM may call it with its own jvm->jni, but only one thread at a
 * time.
 */
int ag_alloc_profile_peek(struct ag_jvm *jvm, struct ag_alloc_profile *profile, bool live);

/* Call this first in VMDeath: from then on live objects are counted without collecting garbage. */
void ag_alloc_profile_dying(struct ag_alloc_profile *profile);

/* Returns the signature of a class ("Ljava/lang/String;", "[I"), owned by the profile. */
const char *ag_alloc_class(const struct ag_alloc_profile *profile, uint32_t kind);

struct ag_alloc_site {
	uint32_t kind;
	uint64_t objects, bytes, samples, live_objects, live_bytes;
	/* jmethodIDs, innermost first, without the constructors that belong to `new` */
	const uint64_t *methods;
	const uint16_t *bcis; /* bytecode indexes; AG_NATIVE: native method */
	uint32_t n_frames;
};
#define AG_NATIVE UINT16_MAX

/* Fills in site i (from 0) as it is now.  Returns false if there are fewer sites. */
bool ag_alloc_site(const struct ag_alloc_profile *profile, uint32_t i, struct ag_alloc_site *site);

/* Reports limitations of the profile (enum wire_alloc_note) until report() returns non-zero. */
typedef int ag_alloc_profile_note_fn(void *arg, uint32_t note, const char *text, uint64_t n);
int ag_alloc_profile_notes(const struct ag_alloc_profile *profile, ag_alloc_profile_note_fn *report,
			   void *arg);

/* Frees a profile after ag_alloc_profile_end(). */
void ag_alloc_profile_free(struct ag_jvm *jvm, struct ag_alloc_profile *profile);

#endif
