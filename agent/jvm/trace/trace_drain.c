/* Reports the records of the calls that have ended, in the order in which the calls ended. */
#include <time.h>

#include "jvm/trace/trace_record.h"
#include "jvm/trace/trace_state.h"

/*
 * Adds to pool->order for each done record: end << AG_RECORD_BITS | index of the record.  `end` is
 * the time at which the call ended, in ns since the pool was created; the shifted `end` fits into
 * 64 bits for 52 days.  Returns the number of done records.
 */
static uint32_t list_done(struct ag_pool *pool)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pool->n; i++) {
		uint64_t used = ~__atomic_load_n(&pool->unused[i / 64], __ATOMIC_RELAXED) >> i % 64;
		const struct ag_record *r;

		if (used == 0) {
			i |= 63;
			continue;
		}
		if (!(used & 1))
			continue;
		r = ag_record_at(pool, i);
		if ((__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) & 3) == AG_RECORD_DONE)
			pool->order[n++] =
				(uint64_t)(r->ended_ns - pool->begun_ns) << AG_RECORD_BITS | i;
	}
	return n;
}

/* Sorts with Shell's method and Ciura's gaps, which is fast because the list is nearly sorted. */
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

/* Returns the time since 1970 minus the time of the trace's clock, in ns. */
static int64_t epoch_ns(const struct ag_trace *trace)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for this clock */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec -
	       ag_trace_clock_now(&trace->clock);
}

static int report_call(struct ag_jvm *jvm, struct ag_trace *trace, struct ag_record *r,
		       int64_t epoch, ag_call_fn *report, void *arg)
{
	int64_t ns = r->ended_ns - r->began_ns;
	const struct ag_call call = {
		.method = r->method,
		.when_ns = (uint64_t)(r->began_ns + epoch),
		.ns = ns > 0 ? (uint64_t)ns : 0,
		.thread_id = r->thread_id,
		.thread = r->thread,
		.threw = r->threw,
		.values = ag_record_args(r), .values_len = r->args_len,
		.result = ag_record_result(&trace->pool, r), .result_len = r->result_len,
		.frames = ag_record_frames(&trace->pool, r), .n_frames = r->n_frames,
	};
	int rc = report(jvm, &call, arg);

	ag_record_give_back(&trace->pool, r);
	return rc;
}

int ag_pool_take(struct ag_jvm *jvm, struct ag_trace *trace, ag_call_fn *report, void *arg)
{
	struct ag_pool *pool = &trace->pool;
	uint32_t n = list_done(pool);
	int64_t epoch = epoch_ns(trace);
	int rc = 0;

	sort(pool->order, n);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		uint32_t index = (uint32_t)(pool->order[i] & AG_LOW(AG_RECORD_BITS));

		rc = report_call(jvm, trace, ag_record_at(pool, index), epoch, report, arg);
	}
	return rc;
}
