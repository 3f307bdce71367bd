/*
 * A trace: records calls of methods that are instrumented with hooks (classfile/inject/inject.h),
 * and passes them to the client.
 *
 * Hooks run on application threads, at any time, even long after a trace has ended
 * (instrument/hook_natives.h).  Therefore:
 * - A library never reuses the id of a method.  The low bits of an id are the trace's slot in a
 *   table that is never freed.  A hook does nothing if the id belongs to no trace there.
 * - Before a hook reads anything else of a trace, it enters the trace (instrument/quiesce.h).  A
 *   trace is freed when no hook is in flight.
 * - A hook never waits, runs no Java code, and leaves no exception pending.  Calls for which there
 *   is no room are counted.  On the session's thread a hook does nothing.
 *
 * A token is 0 (the call is not recorded), the time at which the call began, or, if values are
 * recorded, the id of the call's record.  The method has the token in a local variable, so that
 * virtual threads may change carriers.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_H

#include "jvm/jvmti.h"
#include "wire/log_histogram.h"

#define AG_TRACES 4 /* concurrent traces of a library */

struct ag_trace;

struct ag_trace_wanted {
	uint32_t flags;           /* WIRE_TRACE_* */
	uint64_t min_ns;          /* shorter calls are only counted, unless they throw */
	uint32_t per_second;      /* maximum of recorded calls; 0: no limit */
	uint32_t chars, elements; /* maximum per String and per array; fewer if there is no room */
};

/*
 * Creates a trace for n methods, which ag_trace_describe() describes.  It has a slot and accepts no
 * calls yet.  Returns NULL with the error recorded, also if AG_TRACES traces are running.  Uses the
 * session's memory.
 */
struct ag_trace *ag_trace_new(struct ag_jvm *jvm, const struct ag_trace_wanted *wanted, uint32_t n);

/* Returns the id to pass to the hooks of the i-th method. */
uint32_t ag_trace_id(const struct ag_trace *trace, uint32_t i);

/* Sets the types of a method's arguments and result; before begin().  -1: error recorded. */
int ag_trace_describe(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t i,
		      const char *descriptor);

/* Returns why a class must not have hooks of this trace, as a constant; NULL if it may. */
const char *ag_trace_refuses(const struct ag_trace *trace, const char *signature);

/*
 * begin() enables the hooks.  Call it before classes are instrumented, so that no call ends in a
 * hook without having begun in one.  end() disables them and waits briefly for hooks in flight, so
 * that a later drain is complete.
 */
void ag_trace_begin(struct ag_trace *trace);
void ag_trace_end(struct ag_trace *trace);

/*
 * Checks the clock, and adds the calls of ns nanoseconds to the credit of the rate limit, which is
 * at most the calls of one second.  Call this often.
 */
void ag_trace_tick(struct ag_trace *trace, uint64_t ns);

/* A call that has ended. */
struct ag_call {
	uint32_t method; /* index, as in ag_trace_id() */
	uint64_t when_ns; /* since 1970 */
	uint64_t ns;
	uint64_t thread_id; /* Thread.getId(), also for virtual threads */
	const char *thread; /* the thread's name */
	bool threw;
	const uint8_t *values, *result; /* wire/value.h; `result` may be an exception */
	size_t values_len, result_len;
	const jvmtiFrameInfo *frames; /* without the hook's frame */
	uint32_t n_frames;
};

/*
 * Reports the calls that have ended since the last drain, in the order of their ends, until
 * report() returns non-zero; returns that value.  A call is reported only once, even if report()
 * fails.
 */
typedef int ag_call_fn(struct ag_jvm *jvm, const struct ag_call *call, void *arg);
int ag_trace_drain(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *report, void *arg);

/* Sums the calls of method i since the last drain; false: there were none. */
struct ag_sum {
	uint64_t calls, threw, ns, min_ns, max_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};
bool ag_trace_drain_sum(struct ag_trace *trace, uint32_t i, struct ag_sum *sum);

struct ag_trace_state {
	uint64_t calls;    /* calls that ended, recorded or not */
	uint64_t too_many; /* not recorded: over the rate limit */
	uint64_t no_room;  /* not recorded: no free record */
	uint64_t hooks_ns; /* time in hooks: measured with values, otherwise estimated */
};
void ag_trace_state(const struct ag_trace *trace, struct ag_trace_state *state);

/*
 * Frees a trace after ag_trace_end(), when no hook uses it any more, which takes microseconds.
 * Returns -1 if a hook still uses it after 3 s, because a debugger suspended the hook's thread.
 * Its memory is then never freed, and the session reports it as left over.
 */
int ag_trace_free(struct ag_jvm *jvm, struct ag_trace *trace);

#endif
