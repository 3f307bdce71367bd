/*
 * Records of calls: a fixed number, allocated with the trace.  A hook takes a record, fills it and
 * marks it as done; the session's thread reports and frees it.  If values are recorded, the hook at
 * the method's entry takes the record, and the call's token identifies the record.  Another call
 * takes the record away if none is unused.
 *
 * The state of a record is a generation and an enum ag_record_kind.  A hook claims a record by
 * compare-and-swap, which fails if the token is invalid or its call was already reported.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_CALLS_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_CALLS_H

#include "jvm/trace/trace.h"

struct ag_trace_counters;

struct ag_pool {
	uint8_t *records; /* of `stride` bytes each */
	uint64_t *unused; /* a bit for each record */
	uint64_t *order;  /* done records, to be sorted */
	int64_t begun_ns;
	uint32_t hand;    /* clock hand: the next record to take away */
	uint32_t n, stride;
	uint32_t args_room, result_room, frames_room;
};

/* Returns 0, or -1 with the error recorded. */
int ag_pool_init(struct ag_jvm *jvm, struct ag_pool *pool, const struct ag_trace_wanted *wanted);
void ag_pool_release(struct ag_jvm *jvm, struct ag_pool *pool);

/* One call of a hook. */
struct ag_hook {
	struct ag_trace *trace;
	struct ag_trace_counters *at;
	JNIEnv *jni;
	uint64_t range;
	uint32_t method;
	int64_t now_ns; /* start of the hook */
};

/* Takes a record at the entry.  Returns a token; 0: none is free, or the rate limit forbids it. */
jlong ag_call_open(const struct ag_hook *hook);
/* Adds the call's next argument; hook->method is not used. */
void ag_call_argument(const struct ag_hook *hook, jlong token, const jvalue *value);
/*
 * Record the end of a call: close() if values are recorded, add() if the token is the time at which
 * the call began.  The caller counts the call.  `value` is returned (NULL: nothing) or thrown.
 */
void ag_call_close(const struct ag_hook *hook, jlong token, bool threw, const jvalue *value);
void ag_call_add(const struct ag_hook *hook, int64_t began_ns, bool threw, const jvalue *value);

int ag_pool_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *report, void *arg);

/* Returns the first serial of the trace that created a token; the lowest bits are its slot. */
uint32_t ag_token_first(jlong token);

#endif
