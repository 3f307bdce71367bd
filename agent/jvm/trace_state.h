/*
 * What the parts of a trace share (trace.h tells what a trace is): trace.c makes, ends and frees
 * it, trace_hooks has the natives, trace_calls the records of calls, trace_take hands them over,
 * trace_values and trace_known what stands in them, trace_sums the sums.
 *
 * Hooks read `range`, `own`, `min_ns` and `flags` of a place in the table at any time; all else of
 * a trace they read between ag_trace_come() and ag_trace_go() only.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_STATE_H
#define JTOOL_AGENT_JVM_TRACE_STATE_H

#include <string.h>

#include "jvm/trace.h"
#include "jvm/trace_calls.h"
#include "jvm/trace_sums.h"
#include "jvm/trace_values.h"
#include "wire/frame.h"

#define AG_LINE 64          /* bytes of a cache line */
#define AG_PLACE_BITS 2     /* of an id */
#define AG_PRESENCE_SHARDS 16

/*
 * Who is there, and what they counted: one of several, so that threads do not wait for each
 * other's cache lines.  It belongs to the place, not to the trace: it is never set back.
 */
struct ag_presence {
	uint64_t count; /* hooks that are there now, and above AG_CALL_BITS calls that ended */
	uint64_t too_many, no_room, ns;
} __attribute__((aligned(AG_LINE)));
#define AG_CALL_BITS 20 /* a JVM has no million threads that run at the same moment */
#define AG_ONE_CALL (UINT64_C(1) << AG_CALL_BITS)

struct ag_method {
	char *kinds; /* of the arguments, then the result's: as in JVMS 4.3, 'L' also for arrays */
	uint32_t n;  /* arguments */
};

struct ag_trace {
	/* Read by hooks */
	uint64_t range; /* its first serial << 32 | how many; 0: it takes no calls */
	JNIEnv *own;    /* the session's thread */
	uint64_t min_ns;
	uint32_t flags;

	/* Read between come and go */
	struct ag_trace_wanted wanted;
	jvmtiEnv *ti;
	struct ag_method *methods;
	struct ag_pool pool;
	struct ag_sums sums;
	struct ag_known known;
	int64_t credit; /* calls that may be told of */

	/* The session's thread's */
	uint32_t taken;  /* the place; other sessions ask */
	uint32_t left;   /* 1 when it was given up with a hook in it; hooks ask */
	uint32_t first, n;
	uint32_t next;   /* serial */
	uint64_t credit_ns; /* that did not make a whole call yet */
	struct ag_trace_state before; /* what the place had counted when the trace was made */

	struct ag_presence presence[AG_PRESENCE_SHARDS];
};

extern struct ag_trace ag_traces[AG_TRACES];

/* Define the class with the hooks, unless it is there; -1: recorded. */
int ag_hooks_define(struct ag_jvm *jvm);

/* Which of 2^bits shards: JNIEnv is part of a thread, and threads are a kilobyte or more. */
static inline uint32_t ag_shard(const JNIEnv *jni, unsigned bits)
{
	/* 2^64 / golden ratio, as in ag_map; bits may be 0 */
	return (uint32_t)(((uintptr_t)jni >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 32 >>
			  (32 - bits));
}

static inline struct ag_presence *ag_presence_of(struct ag_trace *trace, const JNIEnv *jni)
{
	return &trace->presence[ag_shard(jni, 4)];
}

/*
 * Take part: false when the trace that had this range has ended, and there is no go.  What is
 * added here and what is set in ag_trace_end() are ordered with what either then looks at, so
 * that one of the two sees the other.
 */
static inline bool ag_trace_come(struct ag_trace *trace, struct ag_presence *at, uint64_t range)
{
	__atomic_fetch_add(&at->count, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&trace->range, __ATOMIC_SEQ_CST) == range)
		return true;
	__atomic_fetch_sub(&at->count, 1, __ATOMIC_RELEASE);
	return false;
}

static inline void ag_trace_go(struct ag_presence *at)
{
	__atomic_fetch_sub(&at->count, 1, __ATOMIC_RELEASE);
}

/* The same of a call that has ended. */
static inline void ag_trace_go_counted(struct ag_presence *at)
{
	__atomic_fetch_add(&at->count, AG_ONE_CALL - 1, __ATOMIC_RELEASE);
}

static inline void ag_count(uint64_t *counter, uint64_t n)
{
	(void)__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* One call to tell of, if the rate allows it. */
static inline bool ag_trace_credit(struct ag_trace *trace)
{
	if (trace->wanted.per_second == 0)
		return true;
	if (__atomic_load_n(&trace->credit, __ATOMIC_RELAXED) <= 0)
		return false;
	/* It may go below 0, by as many as there are threads: that is paid back first. */
	return __atomic_fetch_sub(&trace->credit, 1, __ATOMIC_RELAXED) > 0;
}

#endif
