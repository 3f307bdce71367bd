/*
 * A trace: records calls of methods that are instrumented with hooks (classfile/inject/inject.h),
 * and passes them to the client.
 *
 * Hooks run on application threads, at any time, even long after a trace has ended
 * (instrument/hook_natives.h).  Therefore:
 * - Each traced method has an id (ag_trace_id()), which the library never reuses.  The low bits of
 *   an id are the slot of the trace in a table that is never freed.  A hook does nothing if its id
 *   does not belong to the trace in this slot.
 * - Before a hook reads a trace, except for a few atomic members, it enters the trace
 *   (instrument/quiesce.h).  A trace is freed when no hook is in flight.
 * - A hook never waits, runs no Java code, and leaves no exception pending.  A call for which there
 *   is no room is counted but not recorded.  On the session's thread a hook does nothing.
 *
 * The hook at a method's entry returns a token, which the method passes to the hooks at its end.
 * The token is the time at which the call began or, if values are recorded, the id of the call's
 * record (trace_calls.h); 0 means that the call is not recorded.  The method stores the token in a
 * local variable instead of a variable of the native thread, because a virtual thread may move to
 * another native thread during the call.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_H

#include "jvm/jvmti.h"
#include "wire/log_histogram.h"

#define AG_TRACES 4 /* maximum number of concurrent traces of one agent library */

struct ag_trace;

struct ag_trace_wanted {
	uint32_t flags;           /* WIRE_TRACE_* */
	/* calls that take less than min_ns are only counted, unless they throw an exception */
	uint64_t min_ns;
	uint32_t per_second;      /* maximum number of recorded calls per second; 0: no limit */
	/* limits for a recorded value: chars of a String, elements of an array */
	uint32_t chars, elements;
};

/*
 * Creates a trace for n methods.  The caller must describe each of them with ag_trace_describe().
 * The trace records no calls before ag_trace_begin().  Returns NULL with the error recorded if the
 * trace cannot be created, for example because AG_TRACES traces are running.  The trace's memory
 * counts against the session's budget.
 */
struct ag_trace *ag_trace_new(struct ag_jvm *jvm, const struct ag_trace_wanted *wanted, uint32_t n);

/*
 * Returns the id of method i (from 0), which the code inserted into the method passes to the hooks.
 */
uint32_t ag_trace_id(const struct ag_trace *trace, uint32_t i);

/*
 * Sets the types of the arguments and the result of method i, before ag_trace_begin().  Returns 0,
 * or -1 with the error recorded.
 */
int ag_trace_describe(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t i,
		      const char *descriptor);

/*
 * Returns NULL if the class with this signature may have hooks of this trace; or a constant text,
 * the reason why the class must not have hooks.
 */
const char *ag_trace_refuses(const struct ag_trace *trace, const char *signature);

/*
 * ag_trace_begin() enables the hooks.  Call it before classes are instrumented; otherwise the hook
 * at a method's end could run although the hook at its entry did nothing.  ag_trace_end() disables
 * the hooks, and waits up to 50 ms for hooks in flight, so that a later drain is complete.
 */
void ag_trace_begin(struct ag_trace *trace);
void ag_trace_end(struct ag_trace *trace);

/*
 * Compares the clock of the hooks with CLOCK_MONOTONIC (ag_trace_clock_check()).  Permits the hooks
 * to record further calls: as many as the rate limit allows in `ns` nanoseconds.  Permissions that
 * the hooks do not use add up, at most to the number for one second.  Call this function often;
 * `ns` is the time since the previous call.
 */
void ag_trace_tick(struct ag_trace *trace, uint64_t ns);

/* A call that has ended. */
struct ag_call {
	uint32_t method; /* number of the method in the trace: `i` of ag_trace_id() */
	uint64_t when_ns; /* begin of the call, ns since 1970 */
	uint64_t ns;      /* duration of the call */
	uint64_t thread_id; /* Thread.getId() of the platform or virtual thread */
	const char *thread; /* the thread's name */
	bool threw;
	/* values: the arguments; result: the result or, if `threw`, the exception (wire/value.h) */
	const uint8_t *values, *result;
	size_t values_len, result_len;
	const jvmtiFrameInfo *frames; /* the stack, without the hook's frame */
	uint32_t n_frames;
};

/*
 * Calls report() for the calls that have ended since the last drain, in the order of their ends,
 * until report() returns a value other than 0; returns that value.  Reports a call only once, even
 * if report() fails.
 */
typedef int ag_call_fn(struct ag_jvm *jvm, const struct ag_call *call, void *arg);
int ag_trace_drain(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *report, void *arg);

/* The calls of a method: their number, how many threw an exception, and their durations in ns. */
struct ag_sum {
	uint64_t calls, threw, ns, min_ns, max_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};
/* Sums up the calls of method i since the last drain.  Returns false if there were none. */
bool ag_trace_drain_sum(struct ag_trace *trace, uint32_t i, struct ag_sum *sum);

struct ag_trace_state {
	uint64_t calls;    /* calls that ended, recorded or not */
	uint64_t too_many; /* calls not recorded, because the rate limit was reached */
	uint64_t no_room;  /* calls not recorded, because no record was free */
	uint64_t hooks_ns; /* time in hooks: the measured time for recording + CALL_NS per call */
};
void ag_trace_state(const struct ag_trace *trace, struct ag_trace_state *state);

/*
 * Frees a trace after ag_trace_end().  Waits until no hook uses the trace, which usually takes
 * microseconds.  Returns 0; or -1 if a hook still uses the trace after 3 s, for example because a
 * debugger has suspended the hook's thread.  After -1 the trace's memory is never freed, and the
 * session reports it as not released.
 */
int ag_trace_free(struct ag_jvm *jvm, struct ag_trace *trace);

#endif
