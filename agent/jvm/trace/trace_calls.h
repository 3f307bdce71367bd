/*
 * Records of calls.  A trace has a pool with a fixed number of records.  A hook takes an unused
 * record, fills it and marks it as done; the session's thread reports the call and makes the record
 * unused again.  If values are recorded, the hook at the method's entry takes the record, and the
 * call's token identifies the record.  If no record is unused, a new call may take the record of a
 * call that has not ended.
 *
 * The state of a record is a generation and an enum ag_record_kind (trace_record.h).  A hook claims
 * the record of a token with a compare-and-swap of the state.  The claim fails if the record has
 * another generation than the token, because the token's call was reported or has lost its record.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_CALLS_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_CALLS_H

#include "jvm/trace/trace.h"

struct ag_trace_counters;

struct ag_pool {
	uint8_t *records; /* `n` records of `stride` bytes each */
	uint64_t *unused; /* a bit for each record, set if it is unused */
	uint64_t *order;  /* memory in which the session's thread sorts the done records */
	int64_t begun_ns; /* time at which the pool was created */
	uint32_t hand;    /* record at which the next search for an open record begins */
	uint32_t n, stride;
	/* bytes in each record for the arguments, for the result, and for the stack frames */
	uint32_t args_room, result_room, frames_room;
};

/* Allocates the records.  Returns 0, or -1 with the error recorded. */
int ag_pool_init(struct ag_jvm *jvm, struct ag_pool *pool, const struct ag_trace_wanted *wanted);
void ag_pool_release(struct ag_jvm *jvm, struct ag_pool *pool);

/* One call of a hook function. */
struct ag_hook {
	struct ag_trace *trace;
	struct ag_trace_counters *at; /* the counters that this thread uses */
	JNIEnv *jni;
	uint64_t range;  /* the trace's `range` (trace_state.h) as the hook has read it */
	uint32_t method; /* number of the method in the trace */
	int64_t now_ns; /* time at which the hook began */
};

/*
 * Takes a record for a call; the hook at the method's entry must call this function.  Returns the
 * token of the record, or 0 if no record is available or the rate limit does not permit the call.
 */
jlong ag_call_open(const struct ag_hook *hook);
/* Adds the next argument of the call that has this token.  Does not use hook->method. */
void ag_call_argument(const struct ag_hook *hook, jlong token, const jvalue *value);
/*
 * Record the end of a call.  Use ag_call_close() if the call's token identifies a record, and
 * ag_call_add() if the token is the time at which the call began.  `value` is the result or, if
 * `threw` is true, the exception; NULL: none.  These functions do not count the call in hook->at;
 * the caller must count it.
 */
void ag_call_close(const struct ag_hook *hook, jlong token, bool threw, const jvalue *value);
void ag_call_add(const struct ag_hook *hook, int64_t began_ns, bool threw, const jvalue *value);

/* Does what ag_trace_drain() in trace.h does: reports the done records, and makes them unused. */
int ag_pool_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *report, void *arg);

/*
 * Returns a part of a record's token: the serial number of the first method of the trace that
 * created the token (see `range` in trace_state.h).  The lowest AG_TRACE_SLOT_BITS bits of the
 * token are that trace's slot.
 */
uint32_t ag_token_first(jlong token);

#endif
