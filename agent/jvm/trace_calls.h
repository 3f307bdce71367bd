/*
 * Records of calls: a fixed number, set aside when a trace is made.  A hook takes one, fills it
 * and leaves it done; the session's thread hands it over and gives it back.  Where values are
 * told the record is taken at the entry, and the call's token says which one it is: for as long as
 * no other call takes it away for want of one.
 *
 * A record's state is changed by compare-and-swap only, and is a generation and one of four
 * kinds: whoever has a token that is none, or of a call that is told of already, finds nothing.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_CALLS_H
#define JTOOL_AGENT_JVM_TRACE_CALLS_H

#include "jvm/trace.h"

struct ag_presence;

struct ag_pool {
	uint8_t *records; /* each of `stride` bytes */
	uint64_t *unused; /* a bit for each record */
	uint64_t *order;  /* for taking them */
	int64_t begun_ns;
	uint32_t hand;    /* of a clock: the next to lose its record */
	uint32_t n, stride;
	uint32_t args_room, result_room, frames_room;
};

/* -1: no memory; recorded. */
int ag_pool_init(struct ag_jvm *jvm, struct ag_pool *pool, const struct ag_trace_wanted *wanted);
void ag_pool_release(struct ag_jvm *jvm, struct ag_pool *pool);

/* What a hook is called with, of a trace that it takes part in. */
struct ag_hook {
	struct ag_trace *trace;
	struct ag_presence *at;
	JNIEnv *jni;
	uint64_t range;
	uint32_t method;
	int64_t now_ns; /* when it was called */
};

/* Of a method whose values are told: take a record; 0: there is none, or the rate forbids it. */
jlong ag_call_open(const struct ag_hook *hook);
/* The next argument; the hook's method is not known. */
void ag_call_argument(const struct ag_hook *hook, jlong token, const jvalue *value);
/*
 * A call has ended; it counts all but the call itself.  The first of a method whose values are
 * told, the second where the token is the time at which it began.  The value is what is returned
 * (NULL: nothing) or thrown.
 */
void ag_call_close(const struct ag_hook *hook, jlong token, bool threw, const jvalue *value);
void ag_call_tell(const struct ag_hook *hook, int64_t began_ns, bool threw, const jvalue *value);

int ag_pool_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *tell, void *arg);

/* The first serial of the trace that a token was made by; its place are the lowest bits. */
uint32_t ag_token_first(jlong token);

#endif
