/*
 * State that the source files of a trace share:
 *     trace.c                       allocates, ends and frees the trace
 *     trace_hooks.c                 the native methods that are the hooks
 *     trace_calls.c                 fills the records of calls
 *     trace_drain.c                 reports the records
 *     trace_values.c, java_lang.c   describe values
 *     trace_sums.c                  adds up the durations of calls
 *
 * Hooks read `range`, `own`, `min_ns`, `flags` and `clock` of a struct ag_trace at any time, but
 * all other members only between ag_trace_enter() and ag_quiesce_leave().
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_STATE_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_STATE_H

#include <string.h>

#include "jvm/instrument/quiesce.h"
#include "jvm/trace/trace.h"
#include "jvm/trace/trace_calls.h"
#include "jvm/trace/trace_clock.h"
#include "jvm/trace/trace_sums.h"
#include "jvm/trace/trace_values.h"
#include "wire/frame.h"

/* The id of a method is its serial number << AG_TRACE_SLOT_BITS | the slot of its trace. */
#define AG_TRACE_SLOT_BITS 2

/*
 * Counters of one shard of threads.  There are several shards, so that threads seldom share a cache
 * line.  The counters belong to the slot in ag_traces, not to the trace in it, and are never reset.
 */
struct ag_trace_counters {
	/* low AG_IN_FLIGHT_BITS bits: hooks in flight; high bits: number of ended calls */
	uint64_t count;
	uint64_t too_many, no_room, ns;
} __attribute__((aligned(AG_CACHE_LINE)));

struct ag_method {
	/*
	 * one letter for each argument, and then one for the result: the first letter of the
	 * descriptor of its type (JVMS 4.3), but 'L' if the type is an array
	 */
	char *kinds;
	uint32_t n;  /* number of arguments */
};

struct ag_trace {
	/* Read by hooks at any time: */
	uint64_t range; /* `first` << 32 | `n`; 0: no trace */
	JNIEnv *own;    /* JNIEnv of the session's thread */
	uint64_t min_ns;
	uint32_t flags;
	struct ag_trace_clock clock;

	/* Read by hooks only between ag_trace_enter() and ag_quiesce_leave(): */
	struct ag_trace_wanted wanted;
	jvmtiEnv *ti;
	struct ag_method *methods;
	struct ag_pool pool;
	struct ag_sums sums;
	struct ag_java_lang java;
	int64_t credit; /* number of calls that may still be recorded */

	/* Used by the session's thread: */
	uint32_t taken;  /* 1: the slot is in use (ag_quiesce_claim()) */
	/* 1: ag_trace_free() no longer waits for hooks; a hook in flight reads this member */
	uint32_t abandoned;
	uint32_t first, n; /* serial number of the first method, number of methods */
	uint32_t next;   /* the lowest serial number that no trace has used in this slot */
	uint64_t credit_ns; /* fraction of a call, not yet in `credit`; unit: 10^-9 call */
	struct ag_trace_state before; /* the slot's counters when the trace was created */

	struct ag_trace_counters presence[AG_SHARDS];
};

extern struct ag_trace ag_traces[AG_TRACES];

static inline struct ag_trace_counters *ag_trace_counters_of(struct ag_trace *trace,
							     const JNIEnv *jni)
{
	return &trace->presence[ag_thread_shard(jni, AG_SHARD_BITS)];
}

/*
 * Counts a hook as in flight in the trace, until ag_quiesce_leave().  Returns false, without
 * counting the hook, if the trace has ended since the hook read `range` from it.
 */
static inline bool ag_trace_enter(struct ag_trace *trace, struct ag_trace_counters *at,
				  uint64_t range)
{
	ag_quiesce_enter(&at->count);
	if (AG_QUIESCE_LOOK(&trace->range) == range)
		return true;
	ag_quiesce_leave(&at->count);
	return false;
}

static inline void ag_count(uint64_t *counter, uint64_t n)
{
	(void)__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Takes one call from the credit.  Returns false if the rate limit forbids recording the call. */
static inline bool ag_trace_credit(struct ag_trace *trace)
{
	if (trace->wanted.per_second == 0)
		return true;
	if (__atomic_load_n(&trace->credit, __ATOMIC_RELAXED) <= 0)
		return false;
	/*
	 * Concurrent threads may take the credit below 0; ag_trace_tick() then adds to that value.
	 */
	return __atomic_fetch_sub(&trace->credit, 1, __ATOMIC_RELAXED) > 0;
}

#endif
