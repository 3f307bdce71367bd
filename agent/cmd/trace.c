/*
 * TRACE: hooks into methods, what they see to the client, and hooks out again.
 *
 * Whatever ends it, the classes are put back first, before anything that may take its time: the
 * client is not waited for while they have hooks.
 */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/trace_tell.h"
#include "jvm/ref.h"
#include "jvm/roster.h"

#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

/*
 * How often it is looked for calls.  They are not waited for: to wake us, a thread of the
 * application's would have to call the system in a hook.
 */
#define TICK_BUSY_MS 10
#define TICK_IDLE_MS 50

#define SUMS_NS (500 * NS_PER_MS)
#define STATE_NS NS_PER_S

#define FRAMES_MAX (1u << 16) /* what is beyond is unknown: 2 MB must do */

/* Hooks that cost too much end it: looked at over a second at least, unless it is a flood. */
#define COST_NS NS_PER_S
#define FLOOD_NS (250 * NS_PER_MS)
#define FLOOD 4 /* seconds' budgets */

struct request {
	struct ag_trace_wanted wanted;
	uint64_t max_ns, max_calls, budget_ns;
	struct ag_install_method *methods;
	uint32_t n;
};

struct window {
	int64_t begin_ns;
	uint64_t spent_ns; /* by hooks, until then */
};

struct tracing {
	struct ag_telling tell;
	struct ag_install *install;
	uint64_t budget_ns, max_ns;
	int64_t begin_ns, allowed_ns, summed_ns, stated_ns;
	struct window second, flood;
	int tick_ms;
};

static int makes_no_sense(struct ag_jvm *jvm, struct ag_chan *chan)
{
	chan->broken = true; /* what follows cannot be told apart from requests */
	return ag_fail(jvm, "read the request", "it makes no sense");
}

static bool has_text(struct wire_text text)
{
	return text.len > 0 && !memchr(text.data, '\0', text.len);
}

/* Both texts of a method, one behind the other. */
static int keep_method(struct ag_jvm *jvm, struct ag_install_method *m, uint32_t number,
		       struct wire_text name, struct wire_text descriptor)
{
	char *texts = ag_jvm_alloc(jvm, name.len + descriptor.len + 2, 1);

	if (!texts)
		return -1;
	memcpy(texts, name.data, name.len);
	memcpy(texts + name.len + 1, descriptor.data, descriptor.len);
	*m = (struct ag_install_method){
		.number = number, .name = texts, .descriptor = texts + name.len + 1,
	};
	return 0;
}

/* One TRACE_METHODS; *have is counted up.  What cannot be kept is recorded and read past. */
static int read_some(struct ag_jvm *jvm, struct ag_chan *chan, struct request *request,
		     uint32_t *have)
{
	struct ag_frame frame;
	uint32_t number, n;

	if (ag_chan_receive(chan, &frame) != 1 || frame.type != WIRE_TRACE_METHODS)
		return makes_no_sense(jvm, chan);
	number = wire_get_u32(&frame.payload);
	n = wire_get_u32(&frame.payload);
	if (n == 0 || n > request->n - *have)
		return makes_no_sense(jvm, chan);
	if (!jvm->roster || number >= jvm->roster->classes.n)
		(void)ag_fail(jvm, "find the class",
			      "the client was told of none with this number");
	for (uint32_t i = 0; i < n; i++, ++*have) {
		struct wire_text name = wire_get_text(&frame.payload);
		struct wire_text descriptor = wire_get_text(&frame.payload);

		if (!wire_reader_ok(&frame.payload) || !has_text(name) || !has_text(descriptor))
			return makes_no_sense(jvm, chan);
		if (!jvm->err.what)
			(void)keep_method(jvm, &request->methods[*have], number, name, descriptor);
	}
	return 0;
}

static int read_methods(struct ag_jvm *jvm, struct ag_chan *chan, struct request *request)
{
	uint32_t have = 0;

	request->methods = ag_jvm_alloc(jvm, request->n, sizeof(*request->methods));
	if (!request->methods) {
		chan->broken = true;
		return -1;
	}
	while (have < request->n) {
		if (read_some(jvm, chan, request, &have) != 0)
			return -1;
	}
	return jvm->err.what ? -1 : 0;
}

static void free_methods(struct ag_jvm *jvm, struct request *request)
{
	for (uint32_t i = 0; request->methods && i < request->n; i++)
		ag_free(jvm->mem, (void *)request->methods[i].name);
	ag_free(jvm->mem, request->methods);
}

static int read_request(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r,
			struct request *request)
{
	const uint32_t details = WIRE_TRACE_VALUES | WIRE_TRACE_STACKS;
	uint32_t flags;

	flags = request->wanted.flags = wire_get_u32(r);
	request->max_ns = wire_get_u64(r);
	request->max_calls = wire_get_u64(r);
	request->wanted.min_ns = wire_get_u64(r);
	request->wanted.per_second = wire_get_u32(r);
	request->wanted.chars = wire_get_u32(r);
	request->wanted.elements = wire_get_u32(r);
	request->budget_ns = wire_get_u64(r);
	request->n = wire_get_u32(r);
	if (!wire_reader_ok(r) || request->n == 0 || request->n > WIRE_TRACE_METHODS_MAX ||
	    (flags & ~(details | WIRE_TRACE_SUMMED)) ||
	    ((flags & WIRE_TRACE_SUMMED) && (flags & details)))
		return makes_no_sense(jvm, chan);
	return read_methods(jvm, chan, request);
}

/* The hooks took more than a share of the time since the window was opened. */
static bool is_over(const struct tracing *t, const struct window *w, int64_t now, uint64_t spent)
{
	double allowed = (double)t->budget_ns * (double)(now - w->begin_ns) / NS_PER_S;

	return (double)(spent - w->spent_ns) > allowed;
}

/* A slow instant of the machine's is none of the hooks'. */
static bool costs_too_much(struct tracing *t, int64_t now)
{
	struct ag_trace_state state = { 0 };
	uint64_t spent;

	if (t->budget_ns == 0)
		return false;
	ag_trace_state(t->tell.trace, &state);
	spent = state.hooks_ns;
	if ((double)(spent - t->flood.spent_ns) > (double)t->budget_ns * FLOOD)
		return true;
	if (now - t->flood.begin_ns >= FLOOD_NS)
		t->flood = (struct window){ now, spent };
	if (now - t->second.begin_ns < COST_NS)
		return false;
	if (is_over(t, &t->second, now, spent))
		return true;
	t->second = (struct window){ now, spent };
	return false;
}

static int tell_sums(struct tracing *t, int64_t now)
{
	if (t->tell.next_sum == t->tell.n && now - t->summed_ns >= SUMS_NS) {
		t->tell.next_sum = 0;
		t->summed_ns = now;
	}
	return ag_tell_sums(&t->tell);
}

/* What there is to tell, as far as the client takes it. */
static int take_turn(struct tracing *t, int64_t now)
{
	struct ag_telling *tell = &t->tell;
	uint64_t before = tell->told;

	ag_trace_allow(tell->trace, (uint64_t)(now - t->allowed_ns));
	t->allowed_ns = now;
	if (ag_tell_begin(tell) != 0)
		return -1;
	if (tell->next_method <= tell->n)
		return 0; /* that comes first */
	if ((tell->flags & WIRE_TRACE_SUMMED ? tell_sums(t, now) : ag_tell_calls(tell)) != 0)
		return -1;
	if (now - t->stated_ns >= STATE_NS) {
		t->stated_ns = now;
		if (ag_tell_state(tell) != 0)
			return -1;
	}
	t->tick_ms = tell->told > before ? TICK_BUSY_MS : t->tick_ms * 2;
	if (t->tick_ms > TICK_IDLE_MS)
		t->tick_ms = TICK_IDLE_MS;
	return 0;
}

static bool is_late(const struct tracing *t, int64_t now)
{
	return t->max_ns > 0 && (uint64_t)(now - t->begin_ns) >= t->max_ns;
}

static int tick(const struct tracing *t, int64_t now)
{
	uint64_t left = t->max_ns - (uint64_t)(now - t->begin_ns);

	if (t->max_ns == 0 || left > (uint64_t)t->tick_ms * NS_PER_MS)
		return t->tick_ms;
	return (int)(left / NS_PER_MS) + 1;
}

/* Until one of its ends: enum wire_trace_end, or -1: the client has gone. */
static int follow(struct tracing *t)
{
	t->begin_ns = ag_now_ns();
	for (;;) {
		int64_t now = ag_now_ns();
		int said;

		if (costs_too_much(t, now))
			return WIRE_TRACED_COST;
		if (take_turn(t, now) != 0)
			return -1;
		if (ag_telling_is_done(&t->tell))
			return WIRE_TRACED_COUNT;
		if (is_late(t, now))
			return WIRE_TRACED_TIME;
		said = ag_chan_watch(t->tell.chan, tick(t, now));
		if (said != 0)
			return said < 0 ? -1 : WIRE_TRACED_ASKED;
	}
}

/* The last look at what hooks left, for as long as the lines of the methods are theirs. */
static int trace(struct tracing *t)
{
	int end = ag_telling_hooked(&t->tell) > 0 ? follow(t) : WIRE_TRACED_NOTHING;

	if (end == WIRE_TRACED_ASKED)
		(void)take_turn(t, ag_now_ns()); /* a channel that is broken tells by itself */
	return end;
}

/*
 * Whatever the client said ended it, before it was read: a frame that is cut would have to be
 * waited for.
 */
static int read_stop(struct ag_jvm *jvm, struct ag_chan *chan)
{
	struct ag_frame frame;

	if (ag_chan_receive(chan, &frame) == 1 && frame.type == WIRE_TRACE_STOP)
		return 0;
	return makes_no_sense(jvm, chan);
}

static int tell_rest(struct tracing *t, int end, jvmtiError code)
{
	struct ag_telling *tell = &t->tell;

	tell->patient = true;
	tell->frames.moved = true;
	if (end == WIRE_TRACED_ASKED && read_stop(tell->jvm, tell->chan) != 0)
		return -1;
	if (ag_tell_begin(tell) != 0)
		return -1;
	if (tell->flags & WIRE_TRACE_SUMMED) {
		/* Those of a round that was begun, and once more from the first. */
		if (ag_tell_sums(tell) != 0)
			return -1;
		tell->next_sum = 0;
		if (ag_tell_sums(tell) != 0)
			return -1;
	} else if (ag_tell_calls(tell) != 0) {
		return -1;
	}
	return ag_tell_end(tell, (uint32_t)end, code);
}

static int run(struct ag_jvm *jvm, struct tracing *t, const struct request *request)
{
	bool values = request->wanted.flags & WIRE_TRACE_VALUES;
	jvmtiError code;
	int end;

	ag_trace_begin(t->tell.trace);
	t->allowed_ns = t->summed_ns = t->stated_ns = ag_now_ns();
	t->second.begin_ns = t->flood.begin_ns = t->allowed_ns;
	t->install = ag_install(jvm, t->tell.trace, values, request->methods, request->n);
	if (!t->install) {
		ag_trace_end(t->tell.trace);
		return -1;
	}
	t->tell.install_ns = (uint64_t)(ag_now_ns() - t->allowed_ns);
	end = jvm->stopping ? -1 : trace(t);
	/* In this order: the latter waits for hooks, of which there will be few then. */
	ag_uninstall(jvm, t->install, &code);
	ag_trace_end(t->tell.trace);
	if (end < 0 || jvm->stopping || t->tell.chan->broken)
		return -1;
	return tell_rest(t, end, code);
}

static int describe(struct ag_jvm *jvm, struct ag_trace *trace, const struct request *request)
{
	for (uint32_t i = 0; i < request->n; i++) {
		if (ag_trace_describe(jvm, trace, i, request->methods[i].descriptor) != 0)
			return -1;
	}
	return 0;
}

static int run_new(struct ag_jvm *jvm, struct ag_chan *chan, const struct request *request)
{
	struct tracing t = {
		.tell = {
			.jvm = jvm, .chan = chan, .methods = request->methods, .n = request->n,
			.flags = request->wanted.flags, .max_calls = request->max_calls,
			.next_sum = request->n,
		},
		.budget_ns = request->budget_ns, .max_ns = request->max_ns,
		.tick_ms = TICK_BUSY_MS,
	};
	struct ag_trace *trace = ag_trace_new(jvm, &request->wanted, request->n);
	int rc = -1;

	if (!trace)
		return -1;
	t.tell.trace = trace;
	if (describe(jvm, trace, request) == 0 &&
	    (!(t.tell.flags & WIRE_TRACE_STACKS) ||
	     ag_frames_init(jvm, &t.tell.frames, FRAMES_MAX) == 0))
		rc = run(jvm, &t, request);
	ag_frames_release(jvm, &t.tell.frames);
	/* What is left to a suspended thread stands in the session's account. */
	(void)ag_trace_free(jvm, trace);
	return rc;
}

static int run_capable(struct ag_jvm *jvm, struct ag_chan *chan, const struct request *request)
{
	const jvmtiCapabilities reading = {
		.can_get_line_numbers = 1, .can_get_source_file_name = 1,
	};
	int rc;

	if (AG_TI(jvm, AddCapabilities, &reading) != 0)
		return -1;
	rc = run_new(jvm, chan, request);
	(void)AG_TI(jvm, RelinquishCapabilities, &reading); /* the error is recorded */
	return rc;
}

int ag_cmd_trace(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r)
{
	struct request request = { 0 };
	int rc = -1;

	if (ag_ref_push(jvm) != 0)
		return -1;
	if (read_request(jvm, chan, r, &request) == 0)
		rc = run_capable(jvm, chan, &request);
	free_methods(jvm, &request);
	ag_ref_pop(jvm);
	return rc;
}

/* TRACE_STOP that crossed with the end of its trace. */
int ag_cmd_trace_stop(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r)
{
	(void)jvm, (void)chan, (void)r;
	return 0;
}
