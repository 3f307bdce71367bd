#include "jvm/trace/trace_calls.h"

#include "jvm/trace/trace_record.h"
#include "jvm/trace/trace_state.h"

#define POOL_BYTES ((size_t)4 << 20)
#define RECORDS_MAX 4096u
#define ARGS_ROOM_MAX 8192u
#define RESULT_ROOM_MAX 4096u
#define CLASS_ROOM 512u /* bytes for the class name of an exception, if no values are recorded */
/* maximum number of records that one search examines; small, so that a hook takes little time */
#define SCAN_MAX 8

/*
 * The parts of a token, from the lowest bits on: the trace's slot, the index of the record, the
 * serial number of the trace's first method, the generation of the record.
 */
#define FIRST_BITS 30
#define INDEX_AT AG_TRACE_SLOT_BITS
#define FIRST_AT (INDEX_AT + AG_RECORD_BITS)
#define GENERATION_AT (FIRST_AT + FIRST_BITS)

static uint32_t round_up(uint32_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

static uint32_t at_most(uint64_t n, uint32_t most)
{
	return n < most ? round_up((uint32_t)n, 8) : most;
}

static void plan(struct ag_pool *pool, const struct ag_trace_wanted *wanted)
{
	uint64_t chars = wanted->chars, elements = wanted->elements;

	pool->result_room = CLASS_ROOM;
	if (wanted->flags & WIRE_TRACE_VALUES) {
		pool->args_room = at_most(512 + 8 * chars + 16 * elements, ARGS_ROOM_MAX);
		pool->result_room = at_most(512 + 3 * chars + 8 * elements, RESULT_ROOM_MAX);
	}
	if (wanted->flags & WIRE_TRACE_STACKS)
		pool->frames_room = WIRE_TRACE_DEPTH * sizeof(jvmtiFrameInfo);
	pool->stride = round_up((uint32_t)sizeof(struct ag_record) + pool->args_room +
				pool->result_room + pool->frames_room, AG_CACHE_LINE);
	pool->n = (uint32_t)(POOL_BYTES / pool->stride) & ~63u;
	if (pool->n > RECORDS_MAX)
		pool->n = RECORDS_MAX;
}

int ag_pool_init(struct ag_jvm *jvm, struct ag_pool *pool, const struct ag_trace_wanted *wanted)
{
	*pool = (struct ag_pool){ .begun_ns = ag_now_ns() };
	plan(pool, wanted);
	pool->records = ag_jvm_alloc(jvm, pool->n, pool->stride);
	pool->unused = ag_jvm_alloc(jvm, pool->n / 64, sizeof(*pool->unused));
	pool->order = ag_jvm_alloc(jvm, pool->n, sizeof(*pool->order));
	if (!pool->records || !pool->unused || !pool->order) {
		ag_pool_release(jvm, pool);
		return -1;
	}
	for (uint32_t i = 0; i < pool->n / 64; i++)
		pool->unused[i] = UINT64_MAX;
	return 0;
}

void ag_pool_release(struct ag_jvm *jvm, struct ag_pool *pool)
{
	ag_free(jvm->mem, pool->records);
	ag_free(jvm->mem, pool->unused);
	ag_free(jvm->mem, pool->order);
	*pool = (struct ag_pool){ 0 };
}

/* Claims a record for the current hook.  Returns false if the record's state is not `was`. */
static bool seize(struct ag_record *r, uint64_t was, uint64_t generation)
{
	return __atomic_compare_exchange_n(&r->state, &was, generation << 2 | AG_RECORD_BUSY,
					   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * Takes the unused record with the lowest index, so that the pages of records that are never needed
 * take no memory.
 */
static struct ag_record *take_unused(struct ag_pool *pool, uint32_t *index)
{
	for (uint32_t i = 0; i < pool->n / 64; i++) {
		uint64_t bits = __atomic_load_n(&pool->unused[i], __ATOMIC_RELAXED);

		while (bits != 0) {
			uint64_t lowest = bits & -bits;

			if (__atomic_fetch_and(&pool->unused[i], ~lowest, __ATOMIC_ACQUIRE) &
			    lowest) {
				struct ag_record *r;

				*index = i * 64 + (uint32_t)__builtin_ctzll(lowest);
				r = ag_record_at(pool, *index);
				ag_record_set(r, ag_record_generation(r) + 1, AG_RECORD_BUSY);
				return r;
			}
			bits = __atomic_load_n(&pool->unused[i], __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

/*
 * Takes the record of another call that has not ended, for a new call.
 *
 * Some calls never end: for example a constructor whose super() throws, or a call in a virtual
 * thread that is never resumed.  So if no record is unused, open calls lose their records in turn,
 * except records that a hook is using.  If the search meets a done record, the function returns
 * NULL: the done record will be unused soon, and a flood of short calls must not take the records
 * of long calls.
 */
static struct ag_record *take_from_another(struct ag_pool *pool, uint32_t *index)
{
	uint32_t from = __atomic_fetch_add(&pool->hand, SCAN_MAX, __ATOMIC_RELAXED);
	struct ag_record *open = NULL;
	uint64_t state = 0;

	for (uint32_t i = 0; i < SCAN_MAX; i++) {
		uint32_t at = (from + i) % pool->n;
		struct ag_record *r = ag_record_at(pool, at);
		uint64_t other = __atomic_load_n(&r->state, __ATOMIC_RELAXED);

		if ((other & 3) == AG_RECORD_DONE)
			return NULL;
		if ((other & 3) != AG_RECORD_OPEN || open)
			continue;
		open = r;
		state = other;
		*index = at;
	}
	return open && seize(open, state, ((state >> 2) + 1) & AG_LOW(AG_GENERATION_BITS)) ?
		open : NULL;
}

static struct ag_record *take(struct ag_pool *pool, uint32_t *index)
{
	struct ag_record *r = take_unused(pool, index);

	return r ? r : take_from_another(pool, index);
}

static jlong make_token(const struct ag_hook *hook, struct ag_record *r, uint32_t index)
{
	return (jlong)((uint64_t)(hook->trace - ag_traces) | (uint64_t)index << INDEX_AT |
		       hook->range >> 32 << FIRST_AT | ag_record_generation(r) << GENERATION_AT);
}

uint32_t ag_token_first(jlong token)
{
	return (uint32_t)((uint64_t)token >> FIRST_AT & AG_LOW(FIRST_BITS));
}

/*
 * Claims the record of a token.  Returns NULL if the call has lost its record, or if another hook
 * uses the record.
 */
static struct ag_record *find(const struct ag_hook *hook, jlong token)
{
	struct ag_pool *pool = &hook->trace->pool;
	uint32_t index = (uint32_t)((uint64_t)token >> INDEX_AT & AG_LOW(AG_RECORD_BITS));
	uint64_t generation = (uint64_t)token >> GENERATION_AT;
	struct ag_record *r;

	if (((uint64_t)token & AG_LOW(AG_TRACE_SLOT_BITS)) != (uint64_t)(hook->trace - ag_traces) ||
	    ag_token_first(token) != (uint32_t)(hook->range >> 32) || index >= pool->n)
		return NULL;
	r = ag_record_at(pool, index);
	return seize(r, generation << 2 | AG_RECORD_OPEN, generation) ? r : NULL;
}

static struct ag_value_context value_context(const struct ag_hook *hook)
{
	const struct ag_trace *trace = hook->trace;

	return (struct ag_value_context){
		.java = &trace->java, .ti = trace->ti, .jni = hook->jni,
		.chars = trace->wanted.chars, .elements = trace->wanted.elements,
		.abandoned = &trace->abandoned,
	};
}

/*
 * Takes a record for a call.  If by_rate is true, takes it only if the rate limit permits the call.
 * If no record was taken, counts the call as not recorded and returns NULL.
 */
static struct ag_record *take_counting(const struct ag_hook *hook, bool by_rate, uint32_t *index)
{
	struct ag_trace *trace = hook->trace;
	struct ag_record *r;

	if (by_rate && !ag_trace_credit(trace)) {
		ag_count(&hook->at->too_many, 1);
		return NULL;
	}
	r = take(&trace->pool, index);
	if (r)
		return r;
	ag_count(&hook->at->no_room, 1);
	if (by_rate && trace->wanted.per_second > 0)
		(void)__atomic_fetch_add(&trace->credit, 1, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * Takes a record.  If trace->min_ns is not 0, this function does not apply the rate limit, because
 * the limit concerns only calls that take at least min_ns; ag_call_close() applies it at the end of
 * the call.
 */
jlong ag_call_open(const struct ag_hook *hook)
{
	struct ag_trace *trace = hook->trace;
	uint32_t index;
	struct ag_record *r = take_counting(hook, trace->min_ns == 0, &index);
	jlong token;

	if (!r)
		return 0;
	r->method = hook->method;
	r->n_args = r->args_len = 0;
	r->cut = false;
	token = make_token(hook, r, index);
	r->began_ns = ag_trace_clock_now(&trace->clock);
	r->hooks_ns = r->began_ns - hook->now_ns;
	ag_record_set(r, ag_record_generation(r), AG_RECORD_OPEN);
	return token;
}

static void put_argument(const struct ag_hook *hook, struct ag_record *r, const jvalue *value)
{
	const struct ag_trace *trace = hook->trace;
	const struct ag_method *method = &trace->methods[r->method];
	struct ag_value_context d = value_context(hook);
	uint8_t *args = ag_record_args(r);
	struct ag_values to = { args + r->args_len, args + trace->pool.args_room, r->cut };

	if (r->n_args >= method->n)
		return;
	ag_value_put(&d, &to, method->kinds[r->n_args++], value);
	r->args_len = (uint32_t)(to.at - args);
	r->cut = to.cut;
}

/*
 * Sets the record's began_ns again at each argument, so that the measured time of the call begins
 * after the hook for its last argument.
 */
void ag_call_argument(const struct ag_hook *hook, jlong token, const jvalue *value)
{
	struct ag_record *r = find(hook, token);
	int64_t now;

	if (!r)
		return;
	put_argument(hook, r, value);
	now = ag_trace_clock_now(&hook->trace->clock);
	r->hooks_ns += now - r->began_ns;
	r->began_ns = now;
	ag_record_set(r, ag_record_generation(r), AG_RECORD_OPEN);
}

static void put_result(const struct ag_hook *hook, struct ag_record *r, bool threw,
		       const jvalue *value)
{
	const struct ag_trace *trace = hook->trace;
	/*
	 * Use the result type of hook->method, not of r->method: if the token is invalid, only
	 * hook->method is the method that returned `value`.
	 */
	const struct ag_method *method = &trace->methods[hook->method];
	bool values = (trace->wanted.flags & WIRE_TRACE_VALUES) != 0;
	struct ag_value_context d = value_context(hook);
	uint8_t *result = ag_record_result(&trace->pool, r);
	struct ag_values to = { result, result + trace->pool.result_room, false };

	if (value && threw)
		ag_value_put_thrown(&d, &to, value->l, values);
	else if (value && values && method->kinds && method->kinds[method->n] != 'V')
		ag_value_put(&d, &to, method->kinds[method->n], value);
	r->result_len = (uint32_t)(to.at - result);
}

static void finish(const struct ag_hook *hook, struct ag_record *r, bool threw, const jvalue *value)
{
	struct ag_value_context d = value_context(hook);

	r->ended_ns = hook->now_ns;
	r->threw = threw;
	put_result(hook, r, threw, value);
	ag_value_thread(&d, r->thread, sizeof(r->thread), &r->thread_id);
	r->n_frames = 0;
	if (hook->trace->wanted.flags & WIRE_TRACE_STACKS)
		r->n_frames = ag_value_stack(&d, ag_record_frames(&hook->trace->pool, r),
					     WIRE_TRACE_DEPTH);
	ag_record_set(r, ag_record_generation(r), AG_RECORD_DONE);
}

/* Returns the nanoseconds since the hook began. */
static uint64_t since(const struct ag_hook *hook)
{
	int64_t ns = ag_trace_clock_now(&hook->trace->clock) - hook->now_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

void ag_call_close(const struct ag_hook *hook, jlong token, bool threw, const jvalue *value)
{
	struct ag_trace *trace = hook->trace;
	struct ag_record *r = find(hook, token);
	int64_t before;

	if (!r) { /* another call has taken this record */
		ag_count(&hook->at->no_room, 1);
		return;
	}
	before = r->hooks_ns;
	if (!threw && hook->now_ns - r->began_ns < (int64_t)trace->min_ns) {
		ag_record_give_back(&trace->pool, r);
	} else if (trace->min_ns > 0 && !ag_trace_credit(trace)) {
		ag_count(&hook->at->too_many, 1);
		ag_record_give_back(&trace->pool, r);
	} else {
		finish(hook, r, threw, value);
	}
	ag_count(&hook->at->ns, (uint64_t)before + since(hook));
}

void ag_call_add(const struct ag_hook *hook, int64_t began_ns, bool threw, const jvalue *value)
{
	uint32_t index;
	struct ag_record *r = take_counting(hook, true, &index);

	if (!r)
		return;
	r->method = hook->method;
	r->args_len = 0;
	r->began_ns = began_ns;
	finish(hook, r, threw, threw ? value : NULL);
	ag_count(&hook->at->ns, since(hook));
}
