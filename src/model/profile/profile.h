/* A profile from samples or events of a recording: a tree of stacks, and gaps in the data. */
#ifndef JTOOL_MODEL_PROFILE_PROFILE_H
#define JTOOL_MODEL_PROFILE_PROFILE_H

#include "model/profile/call_tree.h"

enum profile_kind {
	PROFILE_CPU,
	PROFILE_WALL,
	PROFILE_LOCK,
	PROFILE_ALLOC,
	PROFILE_IO,
	PROFILE_EXCEPTIONS,
	N_PROFILE_KINDS,
};

/* The names of the kinds, as on the command line; NULL ends the list. */
extern const char *const profile_kinds[];

/*
 * Gaps in a profile, as indexes of profile.gaps.  If profile.gaps[i] is 0, the profile does not
 * have gap i.  Otherwise profile.gaps[i] is a number of samples, bytes or events; or 1 if there is
 * nothing to count.
 */
enum profile_gap {
	PROFILE_FEW_THREADS, /* the sampler saw only some threads at a time */
	/*
	 * 1: a sample in compiled code has the code offset of the nearest place with debug
	 * information; 2: in addition, samples in compiled code may be missing (JDK 8)
	 */
	PROFILE_INEXACT,
	PROFILE_NO_NATIVE,   /* stacks have no native frames */
	PROFILE_LOST_SAMPLES, /* samples for which the recorder had no space */
	PROFILE_LOST_BYTES,   /* bytes of events for which the recorder had no space */
	PROFILE_FAILED,    /* samples without a stack */
	PROFILE_BIASED,    /* samples whose stack was taken later, at a safepoint */
	/*
	 * samples in native methods that wait, and parks of threads that wait for work; the profile
	 * does not count them
	 */
	PROFILE_IDLE,
	PROFILE_TRUNCATED, /* samples whose outer frames the recorder dropped */
	PROFILE_UNFINISHED, /* events that had not ended are missing */
	N_PROFILE_GAPS,
};

struct profile {
	enum profile_kind kind;
	/* a node's first value is in the unit of `kind`; its second value, if any, counts events */
	struct call_tree tree;
	bool by_thread;        /* the first frame of each stack is the thread, "[main]" */
	/* type of the first event, such as "jdk.ExecutionSample"; NULL: no event */
	const char *source;
	uint64_t samples;      /* number of samples or events */
	uint64_t interval_ns;  /* time between two samples; 0: unknown */
	int64_t start_ns, duration_ns;
	uint64_t gaps[N_PROFILE_GAPS];
};

void profile_release(struct profile *p);

#endif
