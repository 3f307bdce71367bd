/*
 * TRACE: installs hooks in methods, sends the calls that the hooks record, and removes the hooks.
 *
 * While classes have hooks, the agent never waits for the client.  When a trace ends, for whatever
 * reason, the agent restores the classes before it sends the rest of the results.
 */
#include <string.h>

#include "cmd/command.h"
#include "cmd/trace_send.h"
#include "jvm/activity.h"
#include "jvm/jni_refs.h"
#include "jvm/class_index.h"

#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

/*
 * Interval at which the agent polls for new calls: TICK_BUSY_MS while it finds calls, and up to
 * TICK_IDLE_MS while it finds none.  The agent must poll, because hooks make no system call that
 * could wake the agent thread.
 */
#define TICK_BUSY_MS 10
#define TICK_IDLE_MS 50

#define SUMS_NS (500 * NS_PER_MS)
#define STATE_NS NS_PER_S

/* Maximum number of distinct stack frames (2 MB of memory).  Further frames are sent as unknown. */
#define FRAMES_MAX (1u << 16)

/*
 * The client's request has a budget: the CPU time that all hooks together may use in one second.
 * The trace ends if the hooks use
 * - more than the budget in a window of COST_NS (1 s), or
 * - more than FLOOD times the budget in a window of FLOOD_NS.
 */
#define COST_NS NS_PER_S
#define FLOOD_NS (250 * NS_PER_MS)
#define FLOOD 4

struct request {
	struct ag_trace_wanted wanted;
	uint64_t max_ns, max_calls, budget_ns;
	struct ag_install_method *methods;
	uint32_t n;
};

struct window {
	int64_t begin_ns;
	uint64_t spent_ns; /* time that hooks had used in total until begin_ns */
};

struct tracing {
	struct ag_trace_sender sender;
	struct ag_install *install;
	uint64_t budget_ns, max_ns;
	int64_t begin_ns, allowed_ns, sums_sent_ns, state_sent_ns;
	struct window second, flood;
	int tick_ms;
};

static int invalid_request(struct ag_jvm *jvm, struct ag_chan *chan)
{
	chan->broken = true; /* the next bytes might not be a request */
	return ag_fail(jvm, "read the request", "it is malformed");
}

static bool has_text(struct wire_text text)
{
	return text.len > 0 && !memchr(text.data, '\0', text.len);
}

/*
 * Copies the name and the descriptor of a method into one block of memory, which begins at m->name
 * and which the caller frees with ag_free().
 */
static int copy_method(struct ag_jvm *jvm, struct ag_install_method *m, uint32_t number,
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

/*
 * Reads one TRACE_METHODS frame, and adds the number of methods in the frame to *n_read.  Stores
 * the methods in request->methods, unless an error is recorded.  Returns -1 if the frame is
 * invalid, else 0, even if it records an error: the caller must read the remaining frames.
 */
static int read_batch(struct ag_jvm *jvm, struct ag_chan *chan, struct request *request,
		      uint32_t *n_read)
{
	struct ag_frame frame;
	uint32_t number, n;

	if (ag_chan_receive(chan, &frame) != 1 || frame.type != WIRE_TRACE_METHODS)
		return invalid_request(jvm, chan);
	number = wire_get_u32(&frame.payload);
	n = wire_get_u32(&frame.payload);
	if (n == 0 || n > request->n - *n_read)
		return invalid_request(jvm, chan);
	if (!jvm->class_index || number >= jvm->class_index->classes.n)
		(void)ag_fail(jvm, "find the class", "unknown number");
	for (uint32_t i = 0; i < n; i++, ++*n_read) {
		struct wire_text name = wire_get_text(&frame.payload);
		struct wire_text descriptor = wire_get_text(&frame.payload);

		if (!wire_reader_ok(&frame.payload) || !has_text(name) || !has_text(descriptor))
			return invalid_request(jvm, chan);
		if (!jvm->err.what)
			(void)copy_method(jvm, &request->methods[*n_read], number, name,
					  descriptor);
	}
	return 0;
}

static int read_methods(struct ag_jvm *jvm, struct ag_chan *chan, struct request *request)
{
	uint32_t n_read = 0;

	request->methods = ag_jvm_alloc(jvm, request->n, sizeof(*request->methods));
	if (!request->methods) {
		chan->broken = true;
		return -1;
	}
	while (n_read < request->n) {
		if (read_batch(jvm, chan, request, &n_read) != 0)
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
	    (flags & ~(details | WIRE_TRACE_SUMMED | WIRE_TRACE_COUNTER)) ||
	    ((flags & WIRE_TRACE_SUMMED) && (flags & details)))
		return invalid_request(jvm, chan);
	return read_methods(jvm, chan, request);
}

/* Returns true if the hooks have used more than their budget since the window `w` began. */
static bool exceeds_budget(const struct tracing *t, const struct window *w, int64_t now,
			   uint64_t spent)
{
	double allowed = (double)t->budget_ns * (double)(now - w->begin_ns) / NS_PER_S;

	return (double)(spent - w->spent_ns) > allowed;
}

/*
 * Returns true if the hooks have exceeded their budget in a window of COST_NS or FLOOD_NS.  Does
 * not check each tick by itself, because a short stall of the machine must not end the trace.
 */
static bool costs_too_much(struct tracing *t, int64_t now)
{
	struct ag_trace_state state = { 0 };
	uint64_t spent;

	if (t->budget_ns == 0)
		return false;
	ag_trace_state(t->sender.trace, &state);
	spent = state.hooks_ns;
	if ((double)(spent - t->flood.spent_ns) > (double)t->budget_ns * FLOOD)
		return true;
	if (now - t->flood.begin_ns >= FLOOD_NS)
		t->flood = (struct window){ now, spent };
	if (now - t->second.begin_ns < COST_NS)
		return false;
	if (exceeds_budget(t, &t->second, now, spent))
		return true;
	t->second = (struct window){ now, spent };
	return false;
}

static int send_sums(struct tracing *t, int64_t now)
{
	if (t->sender.next_sum == t->sender.n && now - t->sums_sent_ns >= SUMS_NS) {
		t->sender.next_sum = 0;
		t->sums_sent_ns = now;
	}
	return ag_trace_send_sums(&t->sender);
}

/* Sends pending calls or sums, and the state, as far as the channel has room. */
static int send_pending(struct tracing *t, int64_t now)
{
	struct ag_trace_sender *sender = &t->sender;
	uint64_t before = sender->sent;

	ag_trace_tick(sender->trace, (uint64_t)(now - t->allowed_ns));
	t->allowed_ns = now;
	if (ag_trace_send_begin(sender) != 0)
		return -1;
	if (sender->next_method <= sender->n)
		return 0; /* TRACE_REFUSED and TRACE_BEGUN are not all sent yet */
	if ((sender->flags & WIRE_TRACE_SUMMED ? send_sums(t, now) :
						 ag_trace_send_calls(sender)) != 0)
		return -1;
	if (now - t->state_sent_ns >= STATE_NS) {
		t->state_sent_ns = now;
		if (ag_trace_send_state(sender) != 0)
			return -1;
	}
	t->tick_ms = sender->sent > before ? TICK_BUSY_MS : t->tick_ms * 2;
	if (t->tick_ms > TICK_IDLE_MS)
		t->tick_ms = TICK_IDLE_MS;
	return 0;
}

static bool time_is_up(const struct tracing *t, int64_t now)
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

/* Returns why the trace ended (enum wire_trace_end), or -1 if the client has disconnected. */
static int follow(struct tracing *t)
{
	t->begin_ns = ag_now_ns();
	for (;;) {
		int64_t now = ag_now_ns();
		int event;

		if (costs_too_much(t, now))
			return WIRE_TRACED_COST;
		if (send_pending(t, now) != 0)
			return -1;
		if (ag_trace_sender_is_done(&t->sender))
			return WIRE_TRACED_COUNT;
		if (time_is_up(t, now))
			return WIRE_TRACED_TIME;
		if (ag_activity_must_end(t->sender.jvm->activity))
			return WIRE_TRACED_FORCED;
		event = ag_chan_watch(t->sender.chan, tick(t, now));
		if (event != 0)
			return event < 0 ? -1 : WIRE_TRACED_STOPPED;
	}
}

/*
 * Follows the trace until its end.  Sends pending calls before the classes are restored, because
 * restoring invalidates the code offsets in the calls' stack frames.
 */
static int trace(struct tracing *t)
{
	int end = ag_trace_sender_hooked(&t->sender) > 0 ? follow(t) : WIRE_TRACED_NOTHING;

	if (end == WIRE_TRACED_STOPPED || end == WIRE_TRACED_FORCED)
		(void)send_pending(t, ag_now_ns()); /* run() checks whether the channel is broken */
	return end;
}

/*
 * Reads TRACE_STOP.  Waits if the frame is incomplete, so call this function only after the hooks
 * are removed.
 */
static int read_stop(struct ag_jvm *jvm, struct ag_chan *chan)
{
	struct ag_frame frame;

	if (ag_chan_receive(chan, &frame) == 1 && frame.type == WIRE_TRACE_STOP)
		return 0;
	return invalid_request(jvm, chan);
}

static int send_rest(struct tracing *t, int end, jvmtiError code)
{
	struct ag_trace_sender *sender = &t->sender;

	sender->may_wait = true;
	sender->frames.restored = true;
	if (end == WIRE_TRACED_STOPPED && read_stop(sender->jvm, sender->chan) != 0)
		return -1;
	if (ag_trace_send_begin(sender) != 0)
		return -1;
	if (sender->flags & WIRE_TRACE_SUMMED) {
		/* Finish the round of sums that has begun, then send a complete round. */
		if (ag_trace_send_sums(sender) != 0)
			return -1;
		sender->next_sum = 0;
		if (ag_trace_send_sums(sender) != 0)
			return -1;
	} else if (ag_trace_send_calls(sender) != 0) {
		return -1;
	}
	return ag_trace_send_end(sender, (uint32_t)end, code);
}

static int run(struct ag_jvm *jvm, struct tracing *t, const struct request *request)
{
	bool values = request->wanted.flags & WIRE_TRACE_VALUES;
	jvmtiError code;
	int end;

	ag_trace_begin(t->sender.trace);
	t->allowed_ns = t->sums_sent_ns = t->state_sent_ns = ag_now_ns();
	t->second.begin_ns = t->flood.begin_ns = t->allowed_ns;
	t->install = ag_install(jvm, t->sender.trace, values, request->methods, request->n);
	if (!t->install) {
		ag_trace_end(t->sender.trace);
		return -1;
	}
	t->sender.install_ns = (uint64_t)(ag_now_ns() - t->allowed_ns);
	ag_class_index_release(jvm); /* so that classes can be unloaded during the trace */
	end = jvm->stopping ? -1 : trace(t);
	/* Uninstall first, so that few hooks are in flight when ag_trace_end() waits for them. */
	ag_uninstall(jvm, t->install, &code);
	ag_trace_end(t->sender.trace);
	ag_activity_end(&jvm->activity);
	if (end < 0 || jvm->stopping || t->sender.chan->broken)
		return -1;
	return send_rest(t, end, code);
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
		.sender = {
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
	t.sender.trace = trace;
	if (describe(jvm, trace, request) == 0 &&
	    (!(t.sender.flags & WIRE_TRACE_STACKS) ||
	     ag_frames_init(jvm, &t.sender.frames, FRAMES_MAX) == 0))
		rc = run(jvm, &t, request);
	ag_frames_release(jvm, &t.sender.frames);
	/*
	 * Ignore a failure: if a suspended thread is in a hook, the trace's memory remains
	 * allocated, and the frame GONE reports that to the client.
	 */
	(void)ag_trace_free(jvm, trace);
	return rc;
}

static int run_capable(struct ag_jvm *jvm, struct ag_chan *chan, const struct request *request)
{
	const jvmtiCapabilities reading = {
		.can_get_line_numbers = 1, .can_get_source_file_name = 1,
	};
	int rc;

	if (AG_JVMTI(jvm, AddCapabilities, &reading) != 0)
		return -1;
	rc = run_new(jvm, chan, request);
	(void)AG_JVMTI(jvm, RelinquishCapabilities, &reading); /* AG_JVMTI records an error */
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

/*
 * Does nothing: the trace ended before this TRACE_STOP arrived, and the client had not received
 * TRACE_END when it sent the frame.  In all other cases, read_stop() reads the frame.
 */
int ag_cmd_trace_stop(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r)
{
	(void)jvm, (void)chan, (void)r;
	return 0;
}
