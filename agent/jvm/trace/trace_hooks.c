/* The hooks of traces: native methods.  Optimised for speed: application methods call them. */
#ifndef __clang__ /* clang has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/instrument/hook_natives.h"
#include "jvm/trace/trace_state.h"

/*
 * Fills in *hook for the method with this id.  Returns false if the method's trace has ended, or if
 * the current thread is the session's thread.
 */
static inline bool look_up(JNIEnv *jni, jint id, struct ag_hook *hook)
{
	struct ag_trace *trace = &ag_traces[(uint32_t)id & (AG_TRACES - 1)];
	uint64_t range = __atomic_load_n(&trace->range, __ATOMIC_ACQUIRE);
	uint32_t method = ((uint32_t)id >> AG_TRACE_SLOT_BITS) - (uint32_t)(range >> 32);

	if (method >= (uint32_t)range || jni == __atomic_load_n(&trace->own, __ATOMIC_RELAXED))
		return false;
	hook->trace = trace;
	hook->at = ag_trace_counters_of(trace, jni);
	hook->jni = jni;
	hook->range = range;
	hook->method = method;
	return true;
}

static inline uint32_t flags_of(const struct ag_trace *trace)
{
	return __atomic_load_n(&trace->flags, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) jlong open_call(struct ag_hook *hook)
{
	jlong token;

	hook->now_ns = ag_trace_clock_now(&hook->trace->clock);
	if (!ag_trace_enter(hook->trace, hook->at, hook->range))
		return 0;
	token = ag_call_open(hook);
	ag_quiesce_leave(&hook->at->count);
	return token;
}

jlong JNICALL ag_hook_enter(JNIEnv *jni, jclass hooks, jint id)
{
	struct ag_hook hook;

	(void)hooks;
	if (!look_up(jni, id, &hook))
		return 0;
	if (flags_of(hook.trace) & WIRE_TRACE_VALUES)
		return open_call(&hook);
	return ag_trace_clock_now(&hook.trace->clock);
}

/*
 * Implements all ag_hook_arg…().  They find the trace by the token; all other hooks find it by a
 * method id.
 */
static void argument(JNIEnv *jni, jlong token, const jvalue *value)
{
	struct ag_trace *trace = &ag_traces[(uint64_t)token & (AG_TRACES - 1)];
	struct ag_hook hook = {
		.trace = trace, .at = ag_trace_counters_of(trace, jni), .jni = jni,
		.range = __atomic_load_n(&trace->range, __ATOMIC_ACQUIRE),
	};

	if (hook.range >> 32 != ag_token_first(token) || hook.range == 0 ||
	    !(flags_of(trace) & WIRE_TRACE_VALUES) || !ag_trace_enter(trace, hook.at, hook.range))
		return;
	ag_call_argument(&hook, token, value);
	ag_quiesce_leave(&hook.at->count);
}

static __attribute__((noinline)) void record_call(const struct ag_hook *hook, jlong token,
						  bool threw, const jvalue *value)
{
	if (flags_of(hook->trace) & WIRE_TRACE_VALUES)
		ag_call_close(hook, token, threw, value);
	else
		ag_call_add(hook, token, threw, value);
}

/* Returns true if a call is only counted, and not recorded in the trace. */
static inline bool is_only_counted(const struct ag_hook *hook, jlong token, bool threw)
{
	if (flags_of(hook->trace) & WIRE_TRACE_VALUES)
		return token == 0;
	return !threw && hook->now_ns - token <
		(int64_t)__atomic_load_n(&hook->trace->min_ns, __ATOMIC_RELAXED);
}

/* Implements ag_hook_exit(), all ag_hook_exit…() and ag_hook_fail(), the hooks at a call's end. */
static void leave(JNIEnv *jni, jlong token, jint id, bool threw, const jvalue *value)
{
	struct ag_hook hook;
	uint32_t flags;
	int64_t ns;

	if (!look_up(jni, id, &hook))
		return;
	flags = flags_of(hook.trace);
	if (token == 0 && !(flags & WIRE_TRACE_VALUES))
		return;
	hook.now_ns = ag_trace_clock_now(&hook.trace->clock);
	if (is_only_counted(&hook, token, threw)) {
		ag_count(&hook.at->count, UINT64_C(1) << AG_IN_FLIGHT_BITS);
		return;
	}
	if (!ag_trace_enter(hook.trace, hook.at, hook.range))
		return;
	if (flags & WIRE_TRACE_SUMMED) {
		ns = hook.now_ns - token;
		if (!ag_sums_add(&hook.trace->sums, jni, hook.method, ns > 0 ? (uint64_t)ns : 0,
				 threw))
			ag_count(&hook.at->no_room, 1);
	} else {
		record_call(&hook, token, threw, value);
	}
	ag_quiesce_leave_adding(&hook.at->count, 1);
}

void JNICALL ag_hook_exit(JNIEnv *jni, jclass hooks, jlong token, jint id)
{
	(void)hooks;
	leave(jni, token, id, false, NULL);
}

/* Defines ag_hook_argI() and ag_hook_exitI(), and the same two functions for each other kind. */
#define NATIVES(kind, type, member)                                                              \
	void JNICALL ag_hook_arg##kind(JNIEnv *jni, jclass hooks, jlong token, type v)           \
	{                                                                                        \
		(void)hooks;                                                                     \
		argument(jni, token, &(jvalue){ .member = v });                                  \
	}                                                                                        \
	void JNICALL ag_hook_exit##kind(JNIEnv *jni, jclass hooks, type v, jlong token, jint id) \
	{                                                                                        \
		(void)hooks;                                                                     \
		leave(jni, token, id, false, &(jvalue){ .member = v });                          \
	}
AG_HOOK_KINDS(NATIVES)

void JNICALL ag_hook_fail(JNIEnv *jni, jclass hooks, jthrowable thrown, jlong token, jint id)
{
	(void)hooks;
	leave(jni, token, id, true, &(jvalue){ .l = thrown });
}
