/* A profile from the samples or events of a recording: a tree of stacks, and gaps in the data. */
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

/* The name of each enum profile_kind on the command line; NULL ends the list. */
extern const char *const profile_kinds[];

/*
 * Gaps in the data of a profile; each is an index in profile.gaps.  If profile.gaps[i] is 0, the
 * profile does not have gap i.  Otherwise profile.gaps[i] is the number of samples, bytes or events
 * that the gap concerns; or, for a gap without such a number, 1 (or 2, see PROFILE_INEXACT).
 */
enum profile_gap {
	PROFILE_FEW_THREADS, /* at each interval, the sampler took samples of some threads only */
	/*
	 * 1: the code offset of a sample in compiled code may be that of a nearby instruction, the
	 * nearest one with debug information; 2: in addition, samples in compiled code may be
	 * missing (JDK 8)
	 */
	PROFILE_INEXACT,
	PROFILE_NO_NATIVE,   /* stacks have no native frames */
	/*
	 * number of samples that the recorder dropped because the thread ran code of the JVM, or
	 * for lack of space; the tree has them in nodes of their own
	 */
	PROFILE_LOST_SAMPLES,
	PROFILE_LOST_BYTES,   /* bytes of the events that the recorder dropped for lack of space */
	PROFILE_FAILED,    /* number of samples without a stack */
	PROFILE_BIASED,    /* number of samples whose stack was taken later, at a safepoint */
	/*
	 * number of samples of threads that wait in a native method, and of parks of threads that
	 * wait for work; profile.samples and profile.tree do not contain them
	 */
	PROFILE_IDLE,
	PROFILE_TRUNCATED, /* number of samples whose outer frames the recorder dropped */
	PROFILE_UNFINISHED, /* events that had not ended when the recording ended are missing */
	N_PROFILE_GAPS,
};

struct profile {
	enum profile_kind kind;
	/* a node has one or two values: the first in tree.units[0], the second counts events */
	struct call_tree tree;
	bool by_thread;        /* each stack has its thread as the first frame, such as "[main]" */
	/* event type of the first event, such as "jdk.ExecutionSample"; NULL: there is no event */
	const char *source;
	uint64_t samples;      /* number of samples or events */
	uint64_t interval_ns;  /* time between two samples; 0: unknown */
	int64_t start_ns, duration_ns;
	uint64_t gaps[N_PROFILE_GAPS];
};

void profile_release(struct profile *p);

#endif
