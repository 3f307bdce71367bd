/*
 * A trace: what the hooks of instrumented methods (classfile/inject.h) tell, on its way to the
 * client.
 *
 * Hooks run on the application's threads, at any time, also long after a trace has ended: a
 * method that was running when its class was put back calls them until it returns, and so does
 * whoever kept our bytes.  So:
 *
 * - The class with the hooks and its natives stay for the life of the JVM (UnregisterNatives
 *   would make the application see an UnsatisfiedLinkError).  Each build of the library has a
 *   class of its own, java/jtool/Hooks1, 2, …: whichever is free.
 * - A method's id is never given twice by one library.  Its low bits tell the trace's place in a
 *   table that is never freed; a hook whose id is of no trace there does nothing.
 * - A hook that looks at anything else of a trace has told so before, in one of several counters,
 *   and looks again whether the trace goes on.  A trace is freed when these are 0.
 * - A hook never waits, never runs Java code, and never leaves an exception.  What there is no
 *   room for is counted.  On the agent's own threads it does nothing.
 *
 * A token is 0 (nothing is wanted of this call), or the time at which it began, or, where values
 * are told, the record in which they are: it stands in a local variable of the method, so that
 * virtual threads can move.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_H
#define JTOOL_AGENT_JVM_TRACE_H

#include "jvm/ti.h"
#include "wire/sums.h"

#define AG_TRACES 4 /* at a time, of one library */

struct ag_trace;

struct ag_trace_wanted {
	uint32_t flags;           /* WIRE_TRACE_* */
	uint64_t min_ns;          /* shorter calls that return are not told of, and not in sums */
	uint32_t per_second;      /* calls to tell of; 0: as many as there is room for */
	uint32_t chars, elements; /* of a String, of an array; what is beyond room is cut */
};

/*
 * Make one, for n methods, all of which are still without a descriptor; it has a place in the
 * table and takes no calls yet.  The class with the hooks is defined where it is not yet.  NULL
 * with the error recorded: also when AG_TRACES go on.  Memory is the session's.
 */
struct ag_trace *ag_trace_new(struct ag_jvm *jvm, const struct ag_trace_wanted *wanted, uint32_t n);

/* The name of the class with the hooks, "java/jtool/Hooks1"; there once a trace was made. */
const char *ag_trace_hooks(void);

/* The id that the i-th method's hooks are to be called with. */
uint32_t ag_trace_id(const struct ag_trace *trace, uint32_t i);

/* What its arguments and its result are; before the trace begins.  -1: no memory. */
int ag_trace_describe(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t i,
		      const char *descriptor);

/* Why a class is not to have hooks of the trace at all: a constant; NULL: it may have them. */
const char *ag_trace_refuses(const struct ag_trace *trace, const char *signature);

/*
 * Why code of a class would not find the class with the hooks: a constant; NULL: it does.  Asks
 * its loader, which may be the application's.
 */
const char *ag_trace_hidden(struct ag_jvm *jvm, jclass class);

/*
 * From now on hooks take part: to be called before classes are instrumented, so that no call is
 * seen to end only.  And from now on no more: hooks that were at work are waited for a while, so
 * that what is taken afterwards is all that they left.
 */
void ag_trace_begin(struct ag_trace *trace);
void ag_trace_end(struct ag_trace *trace);

/*
 * The rate: allow the calls of ns nanoseconds more, of the agent's own clock; never more than
 * those of a second together.  To be called often.
 */
void ag_trace_allow(struct ag_trace *trace, uint64_t ns);

/* A call that has ended. */
struct ag_call {
	uint32_t method; /* as in ag_trace_id */
	uint64_t when_ns; /* since 1970 */
	uint64_t ns;
	uint64_t thread_id; /* Thread.getId(), also of a virtual thread */
	const char *thread; /* its name */
	bool threw;
	const uint8_t *values, *result; /* wire/value.h; what was thrown stands in the latter */
	size_t values_len, result_len;
	const jvmtiFrameInfo *frames; /* without the hook's own */
	uint32_t n_frames;
};

/*
 * Hand over those calls that have ended since, in the order of their ends, until tell() is not 0;
 * that is returned.  The one of a call whose tell() failed is not told of again.
 */
typedef int ag_call_fn(struct ag_jvm *jvm, const struct ag_call *call, void *arg);
int ag_trace_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *tell, void *arg);

/* What came together for a method since it was last taken; false: nothing. */
struct ag_sum {
	uint64_t calls, threw, ns, min_ns, max_ns;
	uint64_t buckets[SUMS_BUCKETS];
};
bool ag_trace_take_sum(struct ag_trace *trace, uint32_t i, struct ag_sum *sum);

struct ag_trace_state {
	uint64_t calls;    /* that hooks saw end, whether they were told of or not */
	uint64_t too_many; /* passed over by the rate */
	uint64_t no_room;  /* passed over because records were all in use */
	uint64_t hooks_ns; /* what hooks took: measured where values are told, reckoned elsewhere */
};
void ag_trace_state(const struct ag_trace *trace, struct ag_trace_state *state);

/*
 * Give it back, after ag_trace_end(): waits until no hook looks at it any more, which takes
 * microseconds.  -1: a thread that was suspended by a debugger does so for seconds; then the
 * memory is left to it, and the session's account will say so.
 */
int ag_trace_free(struct ag_jvm *jvm, struct ag_trace *trace);

#endif
