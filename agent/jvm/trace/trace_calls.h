/*
 * Records of calls: a fixed number, allocated with the trace.  A hook takes a record, fills it and
 * marks it as done; the session's thread reports and frees it.  If values are recorded, the hook at
 * the method's entry takes the record, and the call's token identifies the record.  If no record is
 * unused, another call can take the record away.
 *
 * The state of a record is a generation and an enum ag_record_kind.  A hook claims the record of a
 * token with a compare-and-swap of the state, which fails if the record has another generation: its
 * call was reported or has lost the record.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_CALLS_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_CALLS_H

#include "jvm/trace/trace.h"

struct ag_trace_counters;

struct ag_pool {
	uint8_t *records; /* `n` records of `stride` bytes each */
	uint64_t *unused; /* a bit for each record, set if it is unused */
	uint64_t *order;  /* the done records, to be sorted by the session's thread */
	int64_t begun_ns;
	uint32_t hand;    /* index of the record that is examined next for taking away */
	uint32_t n, stride;
	uint32_t args_room, result_room, frames_room;
};

/* Allocates the records.  Returns 0, or -1 with the error recorded. */
int ag_pool_init(struct ag_jvm *jvm, struct ag_pool *pool, const struct ag_trace_wanted *wanted);
void ag_pool_release(struct ag_jvm *jvm, struct ag_pool *pool);

/* One call of a hook function. */
struct ag_hook {
	struct ag_trace *trace;
	struct ag_trace_counters *at;
	JNIEnv *jni;
	uint64_t range;
	uint32_t method;
	int64_t now_ns; /* time at which the hook began */
};

/*
 * At a method's entry: takes a record.  Returns a token, or 0 if no record is free or the rate
 * limit forbids it.
 */
jlong ag_call_open(const struct ag_hook *hook);
/* Adds the next argument of the call that has this token.  Does not use hook->method. */
void ag_call_argument(const struct ag_hook *hook, jlong token, const jvalue *value);
/*
 * Record the end of a call.  ag_call_close() is for a call that has a record, ag_call_add() for one
 * whose token is the time at which it began.  The caller counts the call.  `value` is the result
 * or, if `threw`, the exception; NULL: none.
 */
void ag_call_close(const struct ag_hook *hook, jlong token, bool threw, const jvalue *value);
void ag_call_add(const struct ag_hook *hook, int64_t began_ns, bool threw, const jvalue *value);

int ag_pool_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *report, void *arg);

/*
 * Returns the serial of the first method of the trace that created a token.  The token's lowest
 * bits are the trace's slot.
 */
uint32_t ag_token_first(jlong token);

#endif
