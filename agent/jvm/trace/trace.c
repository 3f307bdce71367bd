#include "jvm/trace/trace.h"

#include "classfile/descr.h"
#include "jvm/trace/trace_state.h"

#define WORDS(trace) AG_QUIESCE_WORDS((trace)->presence, count)
#define SERIALS (UINT32_C(1) << 30)
#define CALL_NS 100 /* estimate for the two hooks of a call; measured: 72 to 95 ns, JDK 8 to 27 */
#define END_MS 50
#define FREE_MS 3000

struct ag_trace ag_traces[AG_TRACES];

/*
 * Returns the sums of the counters in a slot.  The counters are never reset, so they count the
 * calls of all traces that have used the slot.
 */
static struct ag_trace_state counted(const struct ag_trace *trace)
{
	struct ag_trace_state sum = { 0 };

	for (unsigned i = 0; i < AG_SHARDS; i++) {
		const struct ag_trace_counters *p = &trace->presence[i];

		sum.calls += __atomic_load_n(&p->count, __ATOMIC_RELAXED) >> AG_IN_FLIGHT_BITS;
		sum.too_many += __atomic_load_n(&p->too_many, __ATOMIC_RELAXED);
		sum.no_room += __atomic_load_n(&p->no_room, __ATOMIC_RELAXED);
		sum.hooks_ns += __atomic_load_n(&p->ns, __ATOMIC_RELAXED);
	}
	return sum;
}

/*
 * Prepares a slot for a new trace.  If ag_trace_free() returned -1 for the slot's last trace, the
 * pointers to its memory remain; clears them, because this memory is never freed.
 */
static void clear_slot(struct ag_trace *trace)
{
	trace->methods = NULL;
	trace->pool = (struct ag_pool){ 0 };
	trace->sums = (struct ag_sums){ 0 };
	__atomic_store_n(&trace->abandoned, 0, __ATOMIC_RELAXED);
}

static struct ag_trace *find_slot(struct ag_jvm *jvm, uint32_t n)
{
	for (unsigned i = 0; i < AG_TRACES; i++) {
		struct ag_trace *trace = &ag_traces[i];

		if (!ag_quiesce_claim(&trace->taken, WORDS(trace)))
			continue;
		clear_slot(trace);
		if (trace->next == 0)
			trace->next = 1; /* so that no range and no token is 0 */
		if (n <= SERIALS - trace->next)
			return trace;
		ag_quiesce_release(&trace->taken);
	}
	(void)ag_fail(jvm, "begin a trace",
		      "too many traces are running in this JVM: end one first");
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
	ag_quiesce_release(&trace->taken);
}

static int prepare(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t n)
{
	trace->n = n;
	trace->methods = ag_jvm_alloc(jvm, n, sizeof(*trace->methods));
	if (!trace->methods)
		return -1;
	if (trace->wanted.flags & WIRE_TRACE_SUMMED)
		return ag_sums_init(jvm, &trace->sums, n);
	if (ag_java_lang_init(jvm, &trace->java) != 0)
		return -1;
	return ag_pool_init(jvm, &trace->pool, &trace->wanted);
}

struct ag_trace *ag_trace_new(struct ag_jvm *jvm, const struct ag_trace_wanted *wanted, uint32_t n)
{
	struct ag_trace *trace = find_slot(jvm, n);

	if (!trace)
		return NULL;
	trace->wanted = *wanted;
	if (prepare(jvm, trace, n) != 0) {
		release(jvm, trace);
		return NULL;
	}
	ag_trace_clock_start(&trace->clock, wanted->flags & WIRE_TRACE_COUNTER);
	trace->ti = jvm->ti;
	trace->credit = wanted->per_second;
	trace->credit_ns = 0;
	trace->first = trace->next;
	trace->next += n;
	trace->before = counted(trace);
	/*
	 * Hooks of an earlier trace in this slot may read these new values.  That is harmless,
	 * because such a hook then finds that the range of its trace is gone, and does nothing.
	 */
	__atomic_store_n(&trace->own, jvm->jni, __ATOMIC_RELAXED);
	__atomic_store_n(&trace->min_ns, wanted->min_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&trace->flags, wanted->flags, __ATOMIC_RELAXED);
	return trace;
}

int ag_trace_free(struct ag_jvm *jvm, struct ag_trace *trace)
{
	ag_trace_end(trace);
	if (!ag_quiesce_wait(WORDS(trace), jvm->jni, FREE_MS)) {
		__atomic_store_n(&trace->abandoned, 1, __ATOMIC_RELEASE);
		ag_quiesce_release(&trace->taken);
		return -1;
	}
	release(jvm, trace);
	return 0;
}

uint32_t ag_trace_id(const struct ag_trace *trace, uint32_t i)
{
	return (trace->first + i) << AG_TRACE_SLOT_BITS | (uint32_t)(trace - ag_traces);
}

int ag_trace_describe(struct ag_jvm *jvm, struct ag_trace *trace, uint32_t i,
		      const char *descriptor)
{
	struct ag_method *method = &trace->methods[i];
	struct cf_text text = { descriptor, strlen(descriptor) }, parameters;
	struct cf_type type, result;

	if (!(trace->wanted.flags & WIRE_TRACE_VALUES) ||
	    !cf_method_types(text, &parameters, &result))
		return 0; /* the hooks record no values */
	ag_free(jvm->mem, method->kinds);
	method->n = 0;
	method->kinds = ag_jvm_alloc(jvm, text.len, 1); /* enough: a type has at least one char */
	if (!method->kinds)
		return -1;
	while (cf_type_next(&parameters, &type))
		method->kinds[method->n++] = type.kind;
	method->kinds[method->n] = result.kind;
	return 0;
}

const char *ag_trace_refuses(const struct ag_trace *trace, const char *signature)
{
	if (!trace->java.explicit_thread || !(trace->wanted.flags & WIRE_TRACE_STACKS) ||
	    strcmp(signature, "Ljava/lang/VirtualThread;") != 0)
		return NULL;
	return "recording stacks in it would deadlock on JDK 19 to 24";
}

void ag_trace_begin(struct ag_trace *trace)
{
	AG_QUIESCE_SET(&trace->range, (uint64_t)trace->first << 32 | trace->n);
}

void ag_trace_end(struct ag_trace *trace)
{
	AG_QUIESCE_SET(&trace->range, 0);
	(void)ag_quiesce_wait(WORDS(trace), trace->own, END_MS); /* ag_trace_free() waits longer */
}

static void add_credit(struct ag_trace *trace, uint64_t ns)
{
	uint64_t most = trace->wanted.per_second, second = 1000000000;
	int64_t calls, had;

	if (ns > second)
		ns = second;
	trace->credit_ns += ns * most; /* in units of 10^-9 calls; the sum is less than 2^63 */
	calls = (int64_t)(trace->credit_ns / second);
	trace->credit_ns %= second;
	had = __atomic_load_n(&trace->credit, __ATOMIC_RELAXED);
	if (calls > (int64_t)most - had)
		calls = (int64_t)most - had;
	(void)__atomic_fetch_add(&trace->credit, calls, __ATOMIC_RELAXED);
}

void ag_trace_tick(struct ag_trace *trace, uint64_t ns)
{
	ag_trace_clock_check(&trace->clock);
	if (trace->wanted.per_second > 0)
		add_credit(trace, ns);
}

int ag_trace_drain(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *report, void *arg)
{
	if (!trace->pool.records)
		return 0;
	return ag_pool_take(jvm, trace, report, arg);
}

bool ag_trace_drain_sum(struct ag_trace *trace, uint32_t i, struct ag_sum *sum)
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
