#include "jvm/trace.h"

#include <poll.h>

#include "classfile/descr.h"
#include "jvm/trace_state.h"

#define SERIALS (UINT32_C(1) << 30)
#define CALL_NS 100 /* two calls of natives and two looks at the clock: 72 to 95 on JDK 8 to 27 */
#define END_MS 50
#ifndef AG_TRACE_FREE_MS /* tests are less patient */
#define AG_TRACE_FREE_MS 3000
#endif

enum { FREE, TAKEN, LEFT /* a hook never came back */ };

struct ag_trace ag_traces[AG_TRACES];

/* Is a hook there? */
static bool is_busy(const struct ag_trace *trace)
{
	for (unsigned i = 0; i < AG_PRESENCE_SHARDS; i++) {
		if (__atomic_load_n(&trace->presence[i].count, __ATOMIC_SEQ_CST) &
		    (AG_ONE_CALL - 1))
			return true;
	}
	return false;
}

/* Until nobody is there, or ms milliseconds have gone by. */
static bool wait_idle(const struct ag_trace *trace, int ms)
{
	while (is_busy(trace) && ms-- > 0)
		(void)poll(NULL, 0, 1);
	return !is_busy(trace);
}

/* What the place has counted ever since. */
static struct ag_trace_state counted(const struct ag_trace *trace)
{
	struct ag_trace_state sum = { 0 };

	for (unsigned i = 0; i < AG_PRESENCE_SHARDS; i++) {
		const struct ag_presence *p = &trace->presence[i];

		sum.calls += __atomic_load_n(&p->count, __ATOMIC_RELAXED) >> AG_CALL_BITS;
		sum.too_many += __atomic_load_n(&p->too_many, __ATOMIC_RELAXED);
		sum.no_room += __atomic_load_n(&p->no_room, __ATOMIC_RELAXED);
		sum.hooks_ns += __atomic_load_n(&p->ns, __ATOMIC_RELAXED);
	}
	return sum;
}

/* Places */

static bool take_place(struct ag_trace *trace, uint32_t was)
{
	return __atomic_compare_exchange_n(&trace->taken, &was, TAKEN, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Of a place that was given up with a hook in it, the memory is another session's, and lost. */
static void forget(struct ag_trace *trace)
{
	trace->methods = NULL;
	trace->pool = (struct ag_pool){ 0 };
	trace->sums = (struct ag_sums){ 0 };
	__atomic_store_n(&trace->left, 0, __ATOMIC_RELAXED);
}

static struct ag_trace *find_place(struct ag_jvm *jvm, uint32_t n)
{
	for (unsigned i = 0; i < AG_TRACES; i++) {
		struct ag_trace *trace = &ag_traces[i];

		if (!take_place(trace, FREE) && (is_busy(trace) || !take_place(trace, LEFT)))
			continue;
		forget(trace);
		if (trace->next == 0)
			trace->next = 1; /* so that no range and no token is 0 */
		if (n <= SERIALS - trace->next)
			return trace;
		__atomic_store_n(&trace->taken, FREE, __ATOMIC_RELEASE);
	}
	(void)ag_fail(jvm, "trace", "as many traces as may be go on in this JVM: "
				   "end one first");
	return NULL;
}

static void release(struct ag_jvm *jvm, struct ag_trace *trace)
{
	for (uint32_t i = 0; trace->methods && i < trace->n; i++)
		ag_free(jvm->mem, trace->methods[i].kinds);
	ag_free(jvm->mem, trace->methods);
	trace->methods = NULL;
	ag_pool_release(jvm, &trace->pool);
	ag_sums_release(jvm, &trace->sums);
	__atomic_store_n(&trace->taken, FREE, __ATOMIC_RELEASE);
}

static int prepare(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t n)
{
	trace->n = n;
	trace->methods = ag_jvm_alloc(jvm, n, sizeof(*trace->methods));
	if (!trace->methods)
		return -1;
	if (trace->wanted.flags & WIRE_TRACE_SUMMED)
		return ag_sums_init(jvm, &trace->sums, n);
	if (ag_known_init(jvm, &trace->known) != 0)
		return -1;
	return ag_pool_init(jvm, &trace->pool, &trace->wanted);
}

struct ag_trace *ag_trace_new(struct ag_jvm *jvm, const struct ag_trace_wanted *wanted, uint32_t n)
{
	struct ag_trace *trace;

	if (ag_hooks_define(jvm) != 0)
		return NULL;
	trace = find_place(jvm, n);
	if (!trace)
		return NULL;
	trace->wanted = *wanted;
	if (prepare(jvm, trace, n) != 0) {
		release(jvm, trace);
		return NULL;
	}
	trace->ti = jvm->ti;
	trace->credit = wanted->per_second;
	trace->credit_ns = 0;
	trace->first = trace->next;
	trace->next += n;
	trace->before = counted(trace);
	/* A hook of a former trace may look at these, and then finds its range gone. */
	__atomic_store_n(&trace->own, jvm->jni, __ATOMIC_RELAXED);
	__atomic_store_n(&trace->min_ns, wanted->min_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&trace->flags, wanted->flags, __ATOMIC_RELAXED);
	return trace;
}

int ag_trace_free(struct ag_jvm *jvm, struct ag_trace *trace)
{
	ag_trace_end(trace);
	if (!wait_idle(trace, AG_TRACE_FREE_MS)) {
		__atomic_store_n(&trace->left, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&trace->taken, LEFT, __ATOMIC_RELEASE);
		return -1;
	}
	release(jvm, trace);
	return 0;
}

uint32_t ag_trace_id(const struct ag_trace *trace, uint32_t i)
{
	return (trace->first + i) << AG_PLACE_BITS | (uint32_t)(trace - ag_traces);
}

int ag_trace_describe(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t i,
		      const char *descriptor)
{
	struct ag_method *method = &trace->methods[i];
	struct cf_text text = { descriptor, strlen(descriptor) }, parameters;
	struct cf_type type, result;

	if (!(trace->wanted.flags & WIRE_TRACE_VALUES) ||
	    !cf_method_types(text, &parameters, &result))
		return 0; /* there is nothing to tell then */
	ag_free(jvm->mem, method->kinds);
	method->n = 0;
	method->kinds = ag_jvm_alloc(jvm, text.len, 1); /* each type is a character or more */
	if (!method->kinds)
		return -1;
	while (cf_type_next(&parameters, &type))
		method->kinds[method->n++] = type.kind;
	method->kinds[method->n] = result.kind;
	return 0;
}

const char *ag_trace_refuses(const struct ag_trace *trace, const char *signature)
{
	if (!trace->known.named || !(trace->wanted.flags & WIRE_TRACE_STACKS) ||
	    strcmp(signature, "Ljava/lang/VirtualThread;") != 0)
		return NULL;
	return "on JDK 19 to 24 it would wait for itself when stacks are told";
}

/* Beginning and ending */

void ag_trace_begin(struct ag_trace *trace)
{
	__atomic_store_n(&trace->range, (uint64_t)trace->first << 32 | trace->n,
			 __ATOMIC_SEQ_CST);
}

void ag_trace_end(struct ag_trace *trace)
{
	__atomic_store_n(&trace->range, 0, __ATOMIC_SEQ_CST);
	(void)wait_idle(trace, END_MS); /* ag_trace_free() insists */
}

/* What came of it */

void ag_trace_allow(struct ag_trace *trace, uint64_t ns)
{
	uint64_t most = trace->wanted.per_second, second = 1000000000;
	int64_t calls, had;

	if (most == 0)
		return;
	if (ns > second)
		ns = second;
	trace->credit_ns += ns * most; /* in calls' thousand millionths: less than 2^63 */
	calls = (int64_t)(trace->credit_ns / second);
	trace->credit_ns %= second;
	had = __atomic_load_n(&trace->credit, __ATOMIC_RELAXED);
	if (calls > (int64_t)most - had)
		calls = (int64_t)most - had;
	(void)__atomic_fetch_add(&trace->credit, calls, __ATOMIC_RELAXED);
}

int ag_trace_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *tell, void *arg)
{
	if (!trace->pool.records)
		return 0;
	return ag_pool_take(jvm, trace, tell, arg);
}

bool ag_trace_take_sum(struct ag_trace *trace, uint32_t i, struct ag_sum *sum)
{
	return trace->sums.rows && ag_sums_take(&trace->sums, i, sum);
}

void ag_trace_state(const struct ag_trace *trace, struct ag_trace_state *state)
{
	struct ag_trace_state now = counted(trace);

	state->calls = now.calls - trace->before.calls;
	state->too_many = now.too_many - trace->before.too_many;
	state->no_room = now.no_room - trace->before.no_room;
	state->hooks_ns = now.hooks_ns - trace->before.hooks_ns + state->calls * CALL_NS;
}
