#include "jvm/trace_calls.h"

#include <time.h>

#include "jvm/trace_state.h"
#include "wire/value.h"

#define POOL_BYTES ((size_t)4 << 20)
#define RECORDS_MAX 4096u
#define ARGS_ROOM_MAX 8192u
#define RESULT_ROOM_MAX 4096u
#define CLASS_ROOM 512u /* an exception's class, where no values are told */
#define THREAD_ROOM 128u
#define LOOKS 8 /* at records of others, for one: no thread is held up for long */

/* A token: from below the place, the record, the trace's first serial, the generation. */
#define INDEX_BITS 12
#define FIRST_BITS 30
#define GENERATION_BITS 19
#define INDEX_AT AG_PLACE_BITS
#define FIRST_AT (INDEX_AT + INDEX_BITS)
#define GENERATION_AT (FIRST_AT + FIRST_BITS)
#define LOW(bits) ((UINT64_C(1) << (bits)) - 1)

enum kind {
	UNUSED,
	OPEN, /* its call has not ended */
	BUSY, /* a hook is about it */
	DONE, /* to be told of */
};

/* Arguments, result and frames are behind it. */
struct record {
	uint64_t state; /* generation << 2 | enum kind */
	int64_t began_ns, ended_ns;
	int64_t hooks_ns; /* what hooks took before the call began */
	uint64_t thread_id;
	uint32_t method, told; /* arguments */
	uint32_t args_len, result_len, n_frames;
	bool threw, cut;
	char thread[THREAD_ROOM];
};

/* Making room */

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
	pool->stride = round_up((uint32_t)sizeof(struct record) + pool->args_room +
				pool->result_room + pool->frames_room, AG_LINE);
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

/* Records */

static struct record *record_at(const struct ag_pool *pool, uint32_t i)
{
	return (struct record *)(void *)(pool->records + (size_t)i * pool->stride);
}

static uint8_t *args_of(struct record *r)
{
	return (uint8_t *)(r + 1);
}

static uint8_t *result_of(const struct ag_pool *pool, struct record *r)
{
	return args_of(r) + pool->args_room;
}

static jvmtiFrameInfo *frames_of(const struct ag_pool *pool, struct record *r)
{
	return (jvmtiFrameInfo *)(void *)(result_of(pool, r) + pool->result_room);
}

static void set_state(struct record *r, uint64_t generation, enum kind kind)
{
	__atomic_store_n(&r->state, (generation & LOW(GENERATION_BITS)) << 2 | kind,
			 __ATOMIC_RELEASE);
}

static uint64_t generation_of(struct record *r)
{
	return __atomic_load_n(&r->state, __ATOMIC_RELAXED) >> 2;
}

/* The lowest that is unused, so that memory that was never needed is never touched. */
static struct record *take_unused(struct ag_pool *pool, uint32_t *index)
{
	for (uint32_t i = 0; i < pool->n / 64; i++) {
		uint64_t bits = __atomic_load_n(&pool->unused[i], __ATOMIC_RELAXED);

		while (bits != 0) {
			uint64_t lowest = bits & -bits;

			if (__atomic_fetch_and(&pool->unused[i], ~lowest, __ATOMIC_ACQUIRE) &
			    lowest) {
				struct record *r;

				*index = i * 64 + (uint32_t)__builtin_ctzll(lowest);
				r = record_at(pool, *index);
				set_state(r, generation_of(r) + 1, BUSY);
				return r;
			}
			bits = __atomic_load_n(&pool->unused[i], __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

/*
 * Of some calls the end is never seen: of a constructor whose super() throws, of a virtual thread
 * that nobody will run again.  So when there is no other, a call that goes on loses its record:
 * one after the other, and of those that are not looked at just now.  But not where some are
 * done: those come back, and a long call is not to be lost to a flood of short ones.
 */
static struct record *take_from_another(struct ag_pool *pool, uint32_t *index)
{
	uint32_t from = __atomic_fetch_add(&pool->hand, LOOKS, __ATOMIC_RELAXED);
	struct record *open = NULL;
	uint64_t state = 0, next;

	for (uint32_t i = 0; i < LOOKS; i++) {
		uint32_t at = (from + i) % pool->n;
		struct record *r = record_at(pool, at);
		uint64_t its = __atomic_load_n(&r->state, __ATOMIC_RELAXED);

		if ((its & 3) == DONE)
			return NULL;
		if ((its & 3) != OPEN || open)
			continue;
		open = r;
		state = its;
		*index = at;
	}
	next = ((state >> 2) + 1) & LOW(GENERATION_BITS);
	return open && __atomic_compare_exchange_n(&open->state, &state, next << 2 | BUSY, false,
						   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ?
		open : NULL;
}

static struct record *take(struct ag_pool *pool, uint32_t *index)
{
	struct record *r = take_unused(pool, index);

	return r ? r : take_from_another(pool, index);
}

static void give_back(struct ag_pool *pool, struct record *r)
{
	uint32_t i = (uint32_t)((size_t)((uint8_t *)r - pool->records) / pool->stride);

	set_state(r, generation_of(r), UNUSED);
	(void)__atomic_fetch_or(&pool->unused[i / 64], UINT64_C(1) << i % 64, __ATOMIC_RELEASE);
}

/* Tokens */

static jlong make_token(const struct ag_hook *hook, struct record *r, uint32_t index)
{
	return (jlong)((uint64_t)(hook->trace - ag_traces) | (uint64_t)index << INDEX_AT |
		       hook->range >> 32 << FIRST_AT | generation_of(r) << GENERATION_AT);
}

uint32_t ag_token_first(jlong token)
{
	return (uint32_t)((uint64_t)token >> FIRST_AT & LOW(FIRST_BITS));
}

/* The token's record, for the hook alone; NULL: it is no token of a call that goes on. */
static struct record *find(const struct ag_hook *hook, jlong token)
{
	struct ag_pool *pool = &hook->trace->pool;
	uint32_t index = (uint32_t)((uint64_t)token >> INDEX_AT & LOW(INDEX_BITS));
	uint64_t state = (uint64_t)token >> GENERATION_AT << 2 | OPEN;
	struct record *r;

	if (((uint64_t)token & LOW(AG_PLACE_BITS)) != (uint64_t)(hook->trace - ag_traces) ||
	    ag_token_first(token) != (uint32_t)(hook->range >> 32) || index >= pool->n)
		return NULL;
	r = record_at(pool, index);
	return __atomic_compare_exchange_n(&r->state, &state, (state & ~UINT64_C(3)) | BUSY, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ?
		r : NULL;
}

/* What hooks do with them */

static struct ag_describing describing(const struct ag_hook *hook)
{
	const struct ag_trace *trace = hook->trace;

	return (struct ag_describing){
		.known = &trace->known, .ti = trace->ti, .jni = hook->jni,
		.chars = trace->wanted.chars, .elements = trace->wanted.elements,
		.left = &trace->left,
	};
}

/* A record for a call that is to be told of; NULL: counted. */
static struct record *take_counting(const struct ag_hook *hook, bool by_rate, uint32_t *index)
{
	struct ag_trace *trace = hook->trace;
	struct record *r;

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

/* With a least time the rate is for calls that took it: see ag_call_close. */
jlong ag_call_open(const struct ag_hook *hook)
{
	struct ag_trace *trace = hook->trace;
	uint32_t index;
	struct record *r = take_counting(hook, trace->min_ns == 0, &index);
	jlong token;

	if (!r)
		return 0;
	r->method = hook->method;
	r->told = r->args_len = 0;
	r->cut = false;
	token = make_token(hook, r, index);
	r->began_ns = ag_now_ns();
	r->hooks_ns = r->began_ns - hook->now_ns;
	set_state(r, generation_of(r), OPEN);
	return token;
}

static void put_argument(const struct ag_hook *hook, struct record *r, const jvalue *value)
{
	const struct ag_trace *trace = hook->trace;
	const struct ag_method *method = &trace->methods[r->method];
	struct ag_describing d = describing(hook);
	uint8_t *args = args_of(r);
	struct ag_values to = { args + r->args_len, args + trace->pool.args_room, r->cut };

	if (r->told >= method->n)
		return;
	ag_value_put(&d, &to, method->kinds[r->told++], value);
	r->args_len = (uint32_t)(to.at - args);
	r->cut = to.cut;
}

/* The call begins when its last argument was told. */
void ag_call_argument(const struct ag_hook *hook, jlong token, const jvalue *value)
{
	struct record *r = find(hook, token);
	int64_t now;

	if (!r)
		return;
	put_argument(hook, r, value);
	now = ag_now_ns();
	r->hooks_ns += now - r->began_ns;
	r->began_ns = now;
	set_state(r, generation_of(r), OPEN);
}

static void put_result(const struct ag_hook *hook, struct record *r, bool threw,
		       const jvalue *value)
{
	const struct ag_trace *trace = hook->trace;
	/* The hook's own: the value is of that type, whatever became of the record. */
	const struct ag_method *method = &trace->methods[hook->method];
	bool values = (trace->wanted.flags & WIRE_TRACE_VALUES) != 0;
	struct ag_describing d = describing(hook);
	uint8_t *result = result_of(&trace->pool, r);
	struct ag_values to = { result, result + trace->pool.result_room, false };

	if (value && threw)
		ag_value_put_thrown(&d, &to, value->l, values);
	else if (value && values && method->kinds && method->kinds[method->n] != 'V')
		ag_value_put(&d, &to, method->kinds[method->n], value);
	r->result_len = (uint32_t)(to.at - result);
}

static void finish(const struct ag_hook *hook, struct record *r, bool threw, const jvalue *value)
{
	struct ag_describing d = describing(hook);

	r->ended_ns = hook->now_ns;
	r->threw = threw;
	put_result(hook, r, threw, value);
	ag_value_thread(&d, r->thread, sizeof(r->thread), &r->thread_id);
	r->n_frames = 0;
	if (hook->trace->wanted.flags & WIRE_TRACE_STACKS)
		r->n_frames = ag_value_stack(&d, frames_of(&hook->trace->pool, r),
					     WIRE_TRACE_DEPTH);
	set_state(r, generation_of(r), DONE);
}

void ag_call_close(const struct ag_hook *hook, jlong token, bool threw, const jvalue *value)
{
	struct ag_trace *trace = hook->trace;
	struct record *r = find(hook, token);
	int64_t before;

	if (!r) { /* its record is another's by now */
		ag_count(&hook->at->no_room, 1);
		return;
	}
	before = r->hooks_ns;
	if (!threw && hook->now_ns - r->began_ns < (int64_t)trace->min_ns) {
		give_back(&trace->pool, r);
	} else if (trace->min_ns > 0 && !ag_trace_credit(trace)) {
		ag_count(&hook->at->too_many, 1);
		give_back(&trace->pool, r);
	} else {
		finish(hook, r, threw, value);
	}
	ag_count(&hook->at->ns, (uint64_t)(before + ag_now_ns() - hook->now_ns));
}

void ag_call_tell(const struct ag_hook *hook, int64_t began_ns, bool threw, const jvalue *value)
{
	uint32_t index;
	struct record *r = take_counting(hook, true, &index);

	if (!r)
		return;
	r->method = hook->method;
	r->args_len = 0;
	r->began_ns = began_ns;
	finish(hook, r, threw, threw ? value : NULL);
	ag_count(&hook->at->ns, (uint64_t)(ag_now_ns() - hook->now_ns));
}

/* Handing them over */

/* Their ends, with their indexes below: of a trace of 52 days the order is right. */
static uint32_t list_done(struct ag_pool *pool)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pool->n; i++) {
		uint64_t used = ~__atomic_load_n(&pool->unused[i / 64], __ATOMIC_RELAXED) >> i % 64;
		const struct record *r;

		if (used == 0) {
			i |= 63;
			continue;
		}
		if (!(used & 1))
			continue;
		r = record_at(pool, i);
		if ((__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) & 3) == DONE)
			pool->order[n++] =
				(uint64_t)(r->ended_ns - pool->begun_ns) << INDEX_BITS | i;
	}
	return n;
}

/* Shell's, with Ciura's gaps: they are nearly in order. */
static void sort(uint64_t *list, uint32_t n)
{
	static const uint32_t gaps[] = { 701, 301, 132, 57, 23, 10, 4, 1 };

	for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
		for (uint32_t i = gaps[g]; i < n; i++) {
			uint64_t one = list[i];
			uint32_t to = i;

			for (; to >= gaps[g] && list[to - gaps[g]] > one; to -= gaps[g])
				list[to] = list[to - gaps[g]];
			list[to] = one;
		}
	}
}

/* What is to be added to the agent's clock for the time since 1970. */
static int64_t epoch_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for this clock */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - ag_now_ns();
}

static int tell_one(struct ag_jvm *jvm, struct ag_trace *trace, struct record *r, int64_t epoch,
		    ag_call_fn *tell, void *arg)
{
	int64_t ns = r->ended_ns - r->began_ns;
	const struct ag_call call = {
		.method = r->method,
		.when_ns = (uint64_t)(r->began_ns + epoch),
		.ns = ns > 0 ? (uint64_t)ns : 0,
		.thread_id = r->thread_id,
		.thread = r->thread,
		.threw = r->threw,
		.values = args_of(r), .values_len = r->args_len,
		.result = result_of(&trace->pool, r), .result_len = r->result_len,
		.frames = frames_of(&trace->pool, r), .n_frames = r->n_frames,
	};
	int rc = tell(jvm, &call, arg);

	give_back(&trace->pool, r);
	return rc;
}

int ag_pool_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *tell, void *arg)
{
	struct ag_pool *pool = &trace->pool;
	uint32_t n = list_done(pool);
	int64_t epoch = epoch_ns();
	int rc = 0;

	sort(pool->order, n);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		uint32_t index = (uint32_t)(pool->order[i] & LOW(INDEX_BITS));

		rc = tell_one(jvm, trace, record_at(pool, index), epoch, tell, arg);
	}
	return rc;
}
