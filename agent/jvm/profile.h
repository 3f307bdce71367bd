/*
 * An allocation profile: which classes' objects are made, where, how many, and what stays.
 *
 * Two ways to see allocations, one way to keep them.  profile_sample hears of one in so many
 * bytes from the JVM (SampledObjectAlloc, JDK 11+); profile_exact counts each, by hooks in
 * java.lang.Object's constructor and behind everything that makes an array (any JDK).  Both put
 * what they see into sites (profile_sites: class and stack), which profile_live tags objects
 * with; who tells of them (cmd/alloc, report) reads these.
 *
 * All that application threads do in here takes no lock, waits for nobody, runs no Java code and
 * leaves no exception; what there is no room for is counted.  Memory for it is one arena.
 */
#ifndef JTOOL_AGENT_JVM_PROFILE_H
#define JTOOL_AGENT_JVM_PROFILE_H

#include "jvm/ti.h"

struct ag_profile;

struct ag_profile_wanted {
	uint32_t flags;    /* WIRE_ALLOC_EXACT, _LIVE */
	uint64_t interval; /* bytes between two samples on average; 0: chosen, and followed */
	uint32_t depth;    /* frames of a stack, 1 to WIRE_ALLOC_DEPTH */
	size_t memory;     /* bytes for sites, classes and threads' tables */
	uint32_t age;      /* collections that live objects must have survived */
	const char *const *globs; /* exact: Java names of classes ("a.b.*", "int[]"); not kept */
	uint32_t n_globs;         /* 0: all */
};

/*
 * Begin.  NULL with the error recorded and nothing changed: JVMTI_ERROR_NOT_AVAILABLE of
 * "AddCapabilities" for sampling means that another agent samples, or JDK 8; an exact profile
 * refuses while another one of this library goes on.  Memory is the session's, whose budget must
 * have room for wanted->memory.
 */
struct ag_profile *ag_profile_begin(struct ag_jvm *jvm, const struct ag_profile_wanted *wanted);

/* To be called every second or so: the interval is set anew where it is the agent's to choose. */
void ag_profile_tick(struct ag_jvm *jvm, struct ag_profile *profile);

struct ag_profile_state {
	uint64_t ns;       /* since it began; of one that has ended, until then */
	uint64_t begin_ns; /* that the JVM took to begin */
	uint64_t samples;  /* exact: objects counted, as far as that is known while threads count */
	uint64_t bytes, dropped, interval;
	uint32_t sites, kinds, collections;
	uint32_t hooked, refused; /* classes */
	uint32_t depth;           /* frames of a stack, at most */
	uint64_t live_ns;         /* that the JVM stood still for what is live */
};
void ag_profile_state(const struct ag_profile *profile, struct ag_profile_state *state);

/*
 * No more samples and hooks; *code: the JVM's error when it did not take a class back, whose
 * hooks do nothing any more.  Counting stops first, for all classes at once, since it takes its
 * time to put them back.  With WIRE_ALLOC_LIVE, if somebody is there to be told (live), it then
 * collects garbage and counts what is left.  Threads' tables are merged into the sites: from now
 * on these are whole.  -1 with the error recorded: what is live is not known; the rest is.
 */
int ag_profile_end(struct ag_jvm *jvm, struct ag_profile *profile, bool live, jvmtiError *code);

/*
 * For a profile that goes on, what there is to this moment: exact ones' tables are added up for
 * the sites without being emptied; live as with ag_profile_end(); -1 recorded.  By any thread
 * that is the JVM's, with its own jvm->jni; one at a time.
 */
int ag_profile_peek(struct ag_jvm *jvm, struct ag_profile *profile, bool live);

/* To be said in VMDeath before all else: what is live is then found without collecting garbage. */
void ag_profile_dying(struct ag_profile *profile);

/* The signature of a kind ("Ljava/lang/String;", "[I"), by its number; the profile's. */
const char *ag_profile_kind(const struct ag_profile *profile, uint32_t kind);

struct ag_profile_site {
	uint32_t kind;
	uint64_t objects, bytes, samples, live_objects, live_bytes;
	/* jmethodIDs, the innermost first; constructors that are part of the `new` are left out */
	const uint64_t *methods;
	const uint16_t *places; /* bytecode indexes; AG_NATIVE: none */
	uint32_t n_frames;
};
#define AG_NATIVE UINT16_MAX

/* The i-th site as it is now; false: there is none any more. */
bool ag_profile_site(const struct ag_profile *profile, uint32_t i, struct ag_profile_site *site);

/* What is to be known about the figures (enum wire_alloc_note), until tell() is not 0. */
typedef int ag_profile_note_fn(void *arg, uint32_t note, const char *text, uint64_t n);
int ag_profile_notes(const struct ag_profile *profile, ag_profile_note_fn *tell, void *arg);

/* Give it back, after ag_profile_end(). */
void ag_profile_free(struct ag_jvm *jvm, struct ag_profile *profile);

#endif
