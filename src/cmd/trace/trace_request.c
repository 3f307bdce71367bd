/* trace: builds the request to the agent. */
#include <string.h>

#include "cmd/trace/trace.h"
#include "discover/cpu_limit.h"
#include "discover/memory_check.h"
#include "proc/clock_source.h"

#define DEFAULT_CALLS 10000
#define REQUEST_MAX 64

uint64_t trace_calls_limit(const struct trace_opts *opts)
{
	if (opts->count != TRACE_COUNT_UNSET)
		return opts->count;
	return opts->duration_ms > 0 || opts->summary ? 0 : DEFAULT_CALLS;
}

static uint32_t flags(const struct trace_opts *opts)
{
	return (trace_has_values(opts) ? WIRE_TRACE_VALUES : 0) |
	       (trace_has_stacks(opts) ? WIRE_TRACE_STACKS : 0) |
	       (opts->summary ? WIRE_TRACE_SUMMED : 0) |
	       (clock_source_is_counter() ? WIRE_TRACE_COUNTER : 0);
}

/*
 * Converts --budget, a percentage of the CPUs that the JVM may use.  Returns how many ns of CPU
 * time all hooks together may use in each second; 0: no limit.
 */
static uint64_t hooks_budget_ns(const struct ctx *ctx, const struct trace_opts *opts)
{
	double processors = cpu_limit(ctx->jvm->pid);

	if (processors < 0)
		processors = 1;
	return (uint64_t)(processors * 1e7 * opts->budget);
}

static int send_begin(const struct ctx *ctx, const struct trace_plan *plan, struct session *s,
		      struct err *err)
{
	const struct trace_opts *opts = ctx->opts;
	uint8_t payload[REQUEST_MAX];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, flags(opts));
	wire_put_u64(&w, (uint64_t)opts->duration_ms * 1000000);
	wire_put_u64(&w, trace_calls_limit(opts));
	wire_put_u64(&w, opts->min_ns);
	wire_put_u32(&w, opts->rate);
	wire_put_u32(&w, opts->strings);
	wire_put_u32(&w, opts->elements);
	wire_put_u64(&w, hooks_budget_ns(ctx, opts));
	wire_put_u32(&w, (uint32_t)plan->trace.n);
	return session_send(s, WIRE_TRACE, &w, err);
}

static size_t method_size(const struct trace_method *m)
{
	return 8 + strlen(m->name) + strlen(m->descriptor);
}

/*
 * Sends one frame with methods of one class: the method that has the index `first`, and as many of
 * the next methods as the frame has room for.  Sets *n to the number of methods in the frame.
 */
static int send_methods(const struct trace_plan *plan, size_t first, size_t *n, struct session *s,
			struct err *err)
{
	const struct trace_method *methods = plan->trace.methods + first;
	const uint32_t *numbers = plan->numbers + first;
	size_t left = plan->trace.n - first, size = 8;
	_cleanup_buf_ struct buf payload = BUF_INIT;
	struct wire_writer w;

	for (*n = 0; *n < left && numbers[*n] == numbers[0]; ++*n) {
		if (size + method_size(&methods[*n]) > WIRE_PAYLOAD_MAX)
			break;
		size += method_size(&methods[*n]);
	}
	w = wire_writer_init(buf_reserve(&payload, size), size);
	wire_put_u32(&w, numbers[0]);
	wire_put_u32(&w, (uint32_t)*n);
	for (size_t i = 0; i < *n; i++) {
		wire_put_text(&w, methods[i].name, strlen(methods[i].name));
		wire_put_text(&w, methods[i].descriptor, strlen(methods[i].descriptor));
	}
	return session_send(s, WIRE_TRACE_METHODS, &w, err);
}

int trace_request(const struct ctx *ctx, const struct trace_plan *plan, struct session *s,
		  struct err *err)
{
	size_t n;

	if (memory_check(ctx->jvm, MEMORY_CHANGE, NULL, err) < 0)
		return -1;
	if (send_begin(ctx, plan, s, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->trace.n; i += n) {
		if (send_methods(plan, i, &n, s, err) < 0)
			return -1;
	}
	return 0;
}
