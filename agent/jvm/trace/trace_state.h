/*
 * Shared by the parts of a trace.  trace.c allocates, ends and frees it, trace_hooks has the
 * natives, trace_calls fills the records of calls, trace_drain reports them, trace_values and
 * java_lang describe values, and trace_sums adds up the sums.
 *
 * Hooks read `range`, `own`, `min_ns`, `flags` and `clock` of a slot at any time, and everything
 * else only between ag_trace_enter() and ag_quiesce_leave().
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

#define AG_TRACE_SLOT_BITS 2 /* low bits of an id: the slot */

/*
 * Counters of a shard of threads, so that threads do not share cache lines.  They belong to the
 * slot, not to the trace: they are never reset.
 */
struct ag_trace_counters {
	uint64_t count; /* hooks in flight; above AG_IN_FLIGHT_BITS: calls that ended */
	uint64_t too_many, no_room, ns;
} __attribute__((aligned(AG_CACHE_LINE)));

struct ag_method {
	char *kinds; /* of the arguments and the result, as in JVMS 4.3; 'L' also for arrays */
	uint32_t n;  /* arguments */
};

struct ag_trace {
	/* Read by hooks at any time */
	uint64_t range; /* first serial << 32 | number of methods; 0: accepts no calls */
	JNIEnv *own;    /* the session's thread */
	uint64_t min_ns;
	uint32_t flags;
	struct ag_trace_clock clock;

	/* Read by hooks between enter and leave */
	struct ag_trace_wanted wanted;
	jvmtiEnv *ti;
	struct ag_method *methods;
	struct ag_pool pool;
	struct ag_sums sums;
	struct ag_java_lang java;
	int64_t credit; /* calls that may still be recorded */

	/* Used by the session's thread */
	uint32_t taken;  /* see ag_quiesce_claim() */
	uint32_t abandoned; /* 1: freed while a hook was in flight; read by hooks */
	uint32_t first, n;
	uint32_t next;   /* next free serial */
	uint64_t credit_ns; /* fraction of a call, in 10^-9 */
	struct ag_trace_state before; /* the slot's counters when the trace was created */

	struct ag_trace_counters presence[AG_SHARDS];
};

extern struct ag_trace ag_traces[AG_TRACES];

static inline struct ag_trace_counters *ag_trace_counters_of(struct ag_trace *trace,
							     const JNIEnv *jni)
{
	return &trace->presence[ag_thread_shard(jni, AG_SHARD_BITS)];
}

/* Returns false, without entering, if the trace with this range has ended. */
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

/* Takes a call from the credit; false: the rate limit forbids it. */
static inline bool ag_trace_credit(struct ag_trace *trace)
{
	if (trace->wanted.per_second == 0)
		return true;
	if (__atomic_load_n(&trace->credit, __ATOMIC_RELAXED) <= 0)
		return false;
	/* Concurrent threads may take it below 0; ag_trace_tick() adds to that value. */
	return __atomic_fetch_sub(&trace->credit, 1, __ATOMIC_RELAXED) > 0;
}

#endif
