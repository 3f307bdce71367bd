/*
 * TRACE: classes are instrumented and restored, also when a call fails and with other agents,
 * traces and patches; and the frames for a client that reads, does not read, or disconnects.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/fake/fake_trace.h"
#include "agent/fake/jvm_transform.h"
#include "agent/fake/peer.h"
#include "classfile/inject/inject.h"
#include "cmd/command.h"
#include "jvm/activity.h"
#include "jvm/patch/patches.h"
#include "jvm/class_index.h"
#include "jvm/trace/trace_install.h"

enum { A, B, ARRAY, C, D };

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_chan chan;
static struct ag_class_index class_index;
static jclass listed[N_CLASSES];
static struct peer client;

static void setup(void)
{
	fake_transform_start();
	fake_trace = (struct fake_trace){ .call = { .ns = 5, .thread = "main" } };
	mem = (struct ag_mem){ .budget = (size_t)16 << 20 };
	jvm = (struct ag_jvm){
		.vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem,
		.class_index = &class_index,
	};
	for (int i = 0; i < N_CLASSES; i++)
		listed[i] = fake_class(i);
	class_index.classes = (struct ag_classes){ listed, N_CLASSES };
	peer_open(&client, &chan, &mem);
	fake_mark();
}

static void runs(int class, const char *code)
{
	ck_assert_msg(strcmp(fake_running(class), code) == 0,
		      "'%s' runs in class %d, not '%s'; the call that fails is %u",
		      fake_running(class), class, code, fake.fail_at);
}

static void run_on_all(const char *code)
{
	for (int i = 0; i < N_CLASSES; i++) {
		if (i != ARRAY)
			runs(i, code);
	}
}

static void nothing_is_left(void)
{
	fake_nothing_left();
	ck_assert_int_eq(fake_trace.open, 0);
	ck_assert_uint_eq(mem.blocks, chan.out ? 1 : 0);
}

/* The client's side */

static void say_stop(void)
{
	peer_send(client.fd, WIRE_TRACE_STOP, NULL);
}

static void put_text(struct wire_writer *w, const char *text)
{
	wire_put_text(w, text, strlen(text));
}

static void say_methods(uint32_t class, uint32_t n, const char *name)
{
	uint8_t data[1000];
	struct wire_writer w = wire_writer_init(data, sizeof(data));

	wire_put_u32(&w, class);
	wire_put_u32(&w, n);
	for (uint32_t i = 0; i < n; i++) {
		put_text(&w, name);
		put_text(&w, "()V");
	}
	ck_assert(wire_writer_ok(&w));
	peer_send(client.fd, WIRE_TRACE_METHODS, &w);
}

struct request {
	uint32_t flags;
	uint64_t ms, calls, budget_ns;
	uint32_t n;
};

static struct wire_writer make_request(const struct request *r, uint8_t data[static 100])
{
	struct wire_writer w = wire_writer_init(data, 100);

	wire_put_u32(&w, r->flags);
	wire_put_u64(&w, r->ms * 1000000);
	wire_put_u64(&w, r->calls);
	wire_put_u64(&w, 0);
	wire_put_u32(&w, 0);
	wire_put_u32(&w, 100);
	wire_put_u32(&w, 5);
	wire_put_u64(&w, r->budget_ns);
	wire_put_u32(&w, r->n);
	return w;
}

/* The frames of a trace as the client reads them. */
struct heard {
	unsigned refused, begun, frames, calls, sums, states, ends, errors;
	uint32_t refusal[N_CLASSES * 4], hooked, end;
	int32_t codes[N_CLASSES * 4], end_code;
	bool why[N_CLASSES * 4];
	uint64_t no_room;
};
static struct heard heard;

static void hear_refused(struct wire_reader *r)
{
	uint32_t i = wire_get_u32(r);

	ck_assert_uint_lt(i, N_CLASSES * 4);
	heard.refused++;
	heard.refusal[i] = wire_get_u32(r);
	heard.codes[i] = wire_get_i32(r);
	heard.why[i] = wire_get_text(r).len > 0;
}

static void hear_frames(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--, heard.frames++) {
		struct wire_text class = wire_get_text(r), method = wire_get_text(r);
		struct wire_text source = wire_get_text(r);
		int32_t line = wire_get_i32(r);

		ck_assert(wire_reader_ok(r));
		if (fake.fail_at)
			continue; /* any name is possible */
		switch (heard.frames) {
		case 1: /* p.A.run at bytecode index 5; p.A has no source file */
			ck_assert_int_eq(line, 20);
			ck_assert_uint_eq(source.len, 0);
			ck_assert_mem_eq(class.data, "Lp/A;", 5);
			ck_assert_mem_eq(method.data, "run", 3);
			break;
		case 2: /* a constructor of p.B; its location -1 means native */
			ck_assert_int_eq(line, -2);
			ck_assert_mem_eq(source.data, "B.java", 6);
			ck_assert_mem_eq(method.data, "<init>", 6);
			break;
		default: /* an unknown method, and one of an unloaded class */
			ck_assert_int_eq(line, -1);
			ck_assert_uint_eq(class.len, 0);
			ck_assert_mem_eq(method.data, "?", 1);
		}
	}
}

static void hear_calls(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--, heard.calls++) {
		wire_get_u32(r);
		for (int i = 0; i < 3; i++)
			wire_get_u64(r);
		ck_assert_mem_eq(wire_get_text(r).data, "main", 4);
		ck_assert_uint_eq(wire_get_u32(r), 0);
		ck_assert_uint_eq(wire_get_text(r).len, fake_trace.call.values_len);
		ck_assert_uint_eq(wire_get_text(r).len, 0);
		for (uint32_t k = wire_get_u32(r); k > 0; k--)
			ck_assert_uint_lt(wire_get_u32(r), heard.frames);
	}
}

static void hear_sums(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--, heard.sums++) {
		wire_get_u32(r);
		ck_assert_uint_eq(wire_get_u64(r), 1);
		for (int i = 0; i < 4; i++)
			wire_get_u64(r);
		ck_assert_uint_eq(wire_get_u32(r), 1);
		ck_assert_uint_eq(wire_get_u32(r), log_histogram_bucket(20));
		ck_assert_uint_eq(wire_get_u64(r), 1);
	}
}

static void hear_state(struct wire_reader *r)
{
	ck_assert_uint_eq(wire_get_u64(r), 1000);
	ck_assert_uint_eq(wire_get_u64(r), 10);
	heard.no_room = wire_get_u64(r);
	(void)wire_get_u64(r);
}

static void hear_one(uint16_t type, struct wire_reader *r)
{
	ck_assert_uint_eq(heard.ends, 0);
	switch (type) {
	case WIRE_TRACE_REFUSED:
		ck_assert_uint_eq(heard.begun, 0);
		hear_refused(r);
		break;
	case WIRE_TRACE_BEGUN:
		heard.begun++;
		heard.hooked = wire_get_u32(r);
		(void)wire_get_u64(r);
		break;
	case WIRE_FRAMES:
		hear_frames(r);
		break;
	case WIRE_TRACE_CALLS:
		hear_calls(r);
		break;
	case WIRE_TRACE_SUMS:
		hear_sums(r);
		break;
	case WIRE_TRACE_STATE:
		heard.states++;
		hear_state(r);
		break;
	case WIRE_TRACE_END:
		heard.ends++;
		heard.end = wire_get_u32(r);
		heard.end_code = wire_get_i32(r);
		hear_state(r);
		break;
	default:
		ck_abort_msg("frame %u", type);
	}
	if (type != WIRE_TRACE_REFUSED)
		ck_assert_uint_eq(heard.begun, 1);
}

/* Reads the frames that have arrived. */
static void hear(void)
{
	if (client.fd >= 0)
		peer_receive(&client, hear_one);
}

/* Creates the class index as CLASSES does, with its own references.  No call fails. */
static void list_classes(void)
{
	unsigned fail_at = fake.fail_at, calls = fake.calls;
	struct ag_class_index *index;

	fake.fail_at = 0;
	jvm.class_index = NULL;
	index = ag_class_index(&jvm);
	index->classes = (struct ag_classes){ fake_block(sizeof(listed)), N_CLASSES };
	for (int i = 0; i < N_CLASSES; i++)
		index->classes.list[i] = fake_class(i);
	fake.fail_at = fail_at;
	fake.calls = calls;
}

/* Runs the command as a session does, after the client sent its frames.  Returns the result. */
static int answer(const struct request *request)
{
	uint8_t data[100];
	struct wire_writer w = make_request(request, data);
	struct wire_reader r = wire_reader_init(data, w.len);
	int rc;

	jvm.err = (struct ag_error){ 0 };
	fake_trace.turns = 0;
	heard = (struct heard){ 0 };
	client.n_unread = 0;
	list_classes();
	rc = ag_cmd_trace(&jvm, &chan, &r);
	ag_class_index_release(&jvm);
	jvm.class_index = &class_index;
	if (rc == 0)
		(void)ag_chan_flush(&chan);
	else if (!jvm.stopping && !chan.broken)
		ck_assert_ptr_nonnull(jvm.err.what);
	ag_free(&mem, chan.in);
	chan.in = NULL;
	hear();
	if (rc == 0 && !chan.broken)
		ck_assert_uint_eq(heard.ends, 1);
	return rc;
}

/* Traces two methods of each class except the array, until the client sends STOP. */
static const struct request usual = { .n = 8 };

static void say_usual(void)
{
	for (uint32_t i = 0; i < N_CLASSES; i++) {
		if (i != ARRAY)
			say_methods(i, 2, "run");
	}
}

static void begins_with(const char *code)
{
	for (int i = 0; i < N_CLASSES; i++)
		fake_is(i, code);
}

static void look_and_stop(unsigned n)
{
	if (n != 1)
		return;
	ck_assert(fake_trace.begun);
	ck_assert(!fake_trace.ended);
	run_on_all("first#0");
	hear();
	ck_assert_uint_eq(heard.begun, 1);
	say_stop();
}

START_TEST(methods_are_instrumented_and_restored)
{
	fake_transform.drops_cache = _i;
	fake_trace.turn = look_and_stop;
	for (int i = 0; i < 2; i++) {
		unsigned before = fake_transform.retransformations;

		say_usual();
		ck_assert_int_eq(answer(&usual), 0);
		ck_assert_uint_eq(heard.refused, 0);
		ck_assert_uint_eq(heard.hooked, 8);
		ck_assert_uint_eq(heard.end, WIRE_TRACED_STOPPED);
		ck_assert_int_eq(heard.end_code, 0);
		ck_assert(fake_trace.ended);
		run_on_all("first");
		/* each of four classes twice */
		ck_assert_uint_eq(fake_transform.retransformations - before, 8);
		nothing_is_left();
	}
	/* A STOP that arrives after the end of the trace has no effect. */
	ck_assert_int_eq(ag_cmd_trace_stop(&jvm, &chan, NULL), 0);
}
END_TEST

static void unload_and_stop(unsigned n)
{
	if (n != 0)
		return;
	/* The agent retains no reference to a class, only one to the exception that it throws. */
	ck_assert_int_eq(fake.counts.references, fake.marked.references + 1);
	ck_assert_int_eq(fake.counts.globals, fake.marked.globals);
	fake_unload(B);
	say_stop();
}

START_TEST(classes_can_be_unloaded_during_a_trace)
{
	fake_trace.turn = unload_and_stop;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	ck_assert_uint_eq(heard.hooked, 8);
	ck_assert_int_eq(heard.end_code, 0);
	runs(A, "first");
	runs(D, "first");
	/* four classes are instrumented, three are restored */
	ck_assert_uint_eq(fake_transform.retransformations, 4 + 3);
	nothing_is_left();
}
END_TEST

static void stop_at_once(unsigned n)
{
	if (n == 0)
		say_stop();
}

/* Each reason to refuse a class or a method is reported; the other methods are hooked. */
START_TEST(refusals_are_reported)
{
	const struct request request = { .n = 10 };

	fake_trace.turn = stop_at_once;
	fake_trace.refuses = "Lp/B;";
	fake_is(A, "odd");
	fake_is(C, "plain");
	fake_is(D, "frail");
	say_methods(A, 2, "run");
	say_methods(B, 1, "run");
	say_methods(ARRAY, 1, "clone");
	say_methods(C, 2, "run");
	say_methods(D, 3, "run");
	say_methods(A, 1, "apart");
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.refused, 10);
	ck_assert_uint_eq(heard.hooked, 0);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_NOTHING);
	ck_assert_uint_eq(fake_trace.turns, 0);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(heard.why[i], i < 3);
	ck_assert_int_eq(heard.codes[3], JVMTI_ERROR_UNMODIFIABLE_CLASS);
	ck_assert_uint_eq(heard.refusal[4], CF_NOT_FOUND);
	ck_assert_int_eq(heard.codes[8], JVMTI_ERROR_FAILS_VERIFICATION);
	ck_assert_int_eq(heard.codes[9], JVMTI_ERROR_DUPLICATE);
	ck_assert_uint_eq(fake_transform.retransformations, 0);
	nothing_is_left();
}
END_TEST

/* If instrumented, the methods of such a class would throw NoClassDefFoundError. */
START_TEST(class_of_a_loader_without_the_hooks_is_refused)
{
	const struct request request = { .n = 2 };

	fake_trace.turn = stop_at_once;
	fake_transform.loader = true;
	say_methods(B, 1, "run");
	say_methods(C, 1, "run");
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(fake_transform.asked, 1);
	ck_assert_uint_eq(heard.refused, 1);
	ck_assert_uint_eq(heard.hooked, 1);
	ck_assert(heard.why[1]);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_STOPPED);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

static void look_at_mixed(unsigned n)
{
	if (n != 0)
		return;
	runs(A, "first#0");
	runs(B, "frail");
	runs(C, "first#0");
	runs(D, "torn");
	say_stop();
}

START_TEST(one_refused_class_does_not_affect_others)
{
	begins_with("first");
	fake_is(B, "frail");
	fake_is(D, "torn");
	fake_trace.turn = look_at_mixed;
	say_methods(A, 1, "abstract");
	say_methods(A, 1, "run");
	for (uint32_t i = B; i <= D; i++) {
		if (i != ARRAY)
			say_methods(i, 2, "run");
	}
	ck_assert_int_eq(answer(&usual), 0);
	ck_assert_uint_eq(heard.refused, 5);
	ck_assert_uint_eq(heard.hooked, 3);
	ck_assert_uint_eq(heard.refusal[0], CF_NO_CODE);
	ck_assert_int_eq(heard.codes[2], JVMTI_ERROR_FAILS_VERIFICATION);
	ck_assert_int_eq(heard.codes[3], JVMTI_ERROR_FAILS_VERIFICATION);
	ck_assert(heard.why[6] && heard.why[7]);
	runs(A, "first");
	runs(B, "frail");
	runs(C, "first");
	runs(D, "torn");
	ck_assert_uint_eq(fake_transform.retransformations, 4);
	nothing_is_left();
}
END_TEST

/* Calls, and the ends of a trace */

static const jvmtiFrameInfo stack[] = {
	{ FAKE_METHOD(FAKE_RUN), 5 }, { FAKE_METHOD(FAKE_INIT), -1 },
	{ FAKE_METHOD(FAKE_UNLOADED), 3 },
	{ FAKE_METHOD(FAKE_RUN), 5 }, { (jmethodID)UINT64_MAX, 3 },
};

static void queue_ten(unsigned n)
{
	(void)n;
	fake_trace.queued += 10;
}

START_TEST(trace_ends_after_n_calls)
{
	struct request request = usual;

	request.calls = 25;
	request.flags = WIRE_TRACE_STACKS | WIRE_TRACE_VALUES;
	fake_trace.turn = queue_ten;
	fake_trace.call.frames = stack;
	fake_trace.call.n_frames = 5;
	fake_trace.call.values = (const uint8_t *)"values";
	fake_trace.call.values_len = 6;
	say_usual();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_COUNT);
	ck_assert_uint_eq(heard.calls, 25);
	ck_assert_uint_eq(heard.frames, 4);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

static int64_t now_ms(void)
{
	return ag_now_ns() / 1000000;
}

START_TEST(trace_ends_after_its_duration)
{
	struct request request = usual;
	int64_t begin = now_ms();

	request.ms = 1200;
	fake_trace.turn = queue_ten;
	say_usual();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_TIME);
	ck_assert_int_ge(now_ms() - begin, 1199);
	ck_assert_uint_ge(heard.calls, 10);
	ck_assert_uint_ge(heard.states, 1);
	ck_assert_uint_le(heard.states, 2);
	ck_assert_uint_ge(fake_trace.allowed_ns, 1000000000);
	ck_assert_uint_lt(fake_trace.turns, 130); /* the trace waits between turns */
	run_on_all("first");
	nothing_is_left();
}
END_TEST

static void ask_in_third_turn(unsigned n)
{
	struct ag_activity_row row;
	uint32_t next = 0;

	queue_ten(n);
	while (n == 3 && ag_activity_next(&next, &row))
		ag_activity_ask(row.id);
	if (n > 10) /* what is queued at the end is sent, too */
		ck_abort_msg("it was asked to end, and goes on");
}

START_TEST(trace_ends_when_another_session_asks)
{
	jvm.activity = ag_activity_begin(WIRE_TRACE);
	fake_trace.turn = ask_in_third_turn;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_FORCED);
	ck_assert_uint_ge(heard.calls, 30);
	ck_assert_ptr_null(jvm.activity);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

START_TEST(sums_are_sent)
{
	struct request request = usual;

	request.flags = WIRE_TRACE_SUMMED;
	request.ms = 1400;
	say_usual();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_ge(heard.sums, 16); /* every 0.5 s, and at the end */
	ck_assert_uint_eq(heard.sums % 8, 0);
	ck_assert_uint_eq(heard.calls, 0);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

static uint64_t each_turn_ns;

static void cost(unsigned n)
{
	(void)n;
	fake_trace.hooks_ns += each_turn_ns;
	if (fake_trace.turns == 1000)
		ck_abort_msg("it costs too much, and goes on");
}

/* A trace ends after 1 s if its hooks use more than 10 % of the time, and at once if far more. */
START_TEST(trace_ends_when_hooks_cost_too_much)
{
	struct request request = usual;
	int64_t begin = now_ms();

	request.budget_ns = 100000000;
	request.ms = 1500;
	fake_trace.turn = cost;
	each_turn_ns = 0;
	fake_trace.hooks_ns = 0;
	say_usual();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_TIME);

	begin = now_ms();
	request.ms = 10000;
	each_turn_ns = 20000000; /* CPU time of the hooks in each turn, which takes at most 50 ms */
	say_usual();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_COST);
	ck_assert_int_ge(now_ms() - begin, 900);
	ck_assert_int_lt(now_ms() - begin, 9000);

	begin = now_ms();
	fake_trace.hooks_ns = 0;
	each_turn_ns = 401000000;
	say_usual();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_COST);
	ck_assert_int_lt(now_ms() - begin, 9000);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

/* The client */

static int64_t ended_ms;

static void flood(unsigned n)
{
	(void)n;
	fake_trace.queued += 1000;
}

/* Notes the time when classes are about to be instrumented or restored. */
static void note_end(void)
{
	ck_assert(!fake_trace.ended); /* ending it first would wait for hooks */
	ended_ms = now_ms();
}

START_TEST(trace_ends_when_the_client_does_not_read)
{
	struct request request = usual;
	int64_t begin = now_ms();

	request.ms = 500;
	fake_trace.turn = flood;
	fake_transform.before_install = note_end;
	fake_trace.call.frames = stack;
	fake_trace.call.n_frames = 5;
	request.flags = WIRE_TRACE_STACKS;
	ended_ms = 0;
	say_usual();
	(void)answer(&request);
	ck_assert(chan.broken); /* the client did not read for AG_CHAN_STALL_MS */
	ck_assert_int_ge(ended_ms - begin, 499);
	ck_assert_int_ge(now_ms() - ended_ms, AG_CHAN_STALL_MS - 1);
	ck_assert_uint_gt(fake_trace.queued, 0);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

static bool asked;

static void flood_and_read_late(unsigned n)
{
	fake_trace.queued += n < 10 ? 1000 : 0;
	if (n > 10)
		hear();
	if (n > 10 && fake_trace.queued == 0 && !asked)
		say_stop();
	asked = n > 10 && fake_trace.queued == 0;
}

/* Each call is sent, still queued, or counted in no_room. */
START_TEST(late_reader_receives_each_call)
{
	fake_trace.turn = flood_and_read_late;
	asked = false;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	ck_assert_uint_eq(heard.calls + fake_trace.queued + (heard.no_room - 100), 10000);
	ck_assert_uint_eq(fake_trace.queued, 0);
	nothing_is_left();
}
END_TEST

static void go(unsigned n)
{
	if (n == 3)
		peer_close(&client);
}

/* The client disconnects after n frames of the request, or while it reads the trace. */
START_TEST(trace_ends_when_the_client_disconnects)
{
	if (_i < 4) {
		for (uint32_t i = 0; i < (uint32_t)_i; i++)
			say_methods(i, 2, "run");
		peer_close(&client);
	} else {
		fake_trace.turn = go;
		if (_i == 5)
			fake_trace.queued = 100000;
		say_usual();
	}
	ck_assert_int_eq(answer(&usual), -1);
	ck_assert(chan.broken);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

static void say_something_else(unsigned n)
{
	if (n == 0)
		peer_send_half(client.fd);
}

/* An incomplete frame ends the trace.  Only then does the agent wait for the frame's rest. */
START_TEST(trace_ends_after_an_invalid_frame)
{
	fake_trace.turn = say_something_else;
	fake_transform.before_install = note_end;
	say_usual();
	ended_ms = 0;
	ck_assert_int_eq(answer(&usual), -1);
	ck_assert(chan.broken);
	ck_assert_int_ge(now_ms() - ended_ms, AG_CHAN_STALL_MS - 1);
	ck_assert_int_gt(ended_ms, 0);
	run_on_all("first");
	nothing_is_left();
}
END_TEST

START_TEST(invalid_requests_are_rejected)
{
	static const struct {
		struct request request;
		uint32_t class, n;
		bool goes_on;
	} asks[] = {
		{ { .n = 0 }, 0, 0, false },
		{ { .n = WIRE_TRACE_METHODS_MAX + 1 }, 0, 0, false },
		{ { .n = UINT32_MAX }, 0, 0, false },
		{ { .n = 1, .flags = 64 }, 0, 0, false },
		{ { .n = 1, .flags = WIRE_TRACE_SUMMED | WIRE_TRACE_VALUES }, 0, 0, false },
		{ { .n = 2 }, 0, 3, false },
		{ { .n = 1 }, N_CLASSES, 1, true },
		{ { .n = 1 }, UINT32_MAX, 1, true },
	};

	if (asks[_i].n)
		say_methods(asks[_i].class, asks[_i].n, "run");
	ck_assert_int_eq(answer(&asks[_i].request), -1);
	ck_assert_int_eq(chan.broken, !asks[_i].goes_on);
	ck_assert_uint_eq(fake_transform.retransformations, 0);
	nothing_is_left();
}
END_TEST

/* Invalid method names, and a frame that is cut at every byte. */
START_TEST(invalid_methods_are_rejected)
{
	uint8_t data[100];
	struct wire_writer w = wire_writer_init(data, sizeof(data));
	const struct request request = { .n = 1 };

	wire_put_u32(&w, 0);
	wire_put_u32(&w, 1);
	if (_i < 20) {
		put_text(&w, "run");
		put_text(&w, "()V");
		w.len = (size_t)_i;
	} else {
		wire_put_text(&w, _i == 20 ? "r\0n" : "", _i == 20 ? 3 : 0);
		put_text(&w, "()V");
	}
	peer_send(client.fd, WIRE_TRACE_METHODS, &w);
	ck_assert_int_eq(answer(&request), -1);
	ck_assert(chan.broken);
	nothing_is_left();
}
END_TEST

/* Other agents and traces in the same JVM */

static void other_looks_on(unsigned n)
{
	if (n != 0)
		return;
	runs(A, "first+#0");
	fake_other_retransforms(A);
	runs(A, "first+#0");
	fake_other_works(false);
	fake_other_retransforms(A);
	runs(A, "first#0");
	fake_other_works(true);
	say_stop();
}

START_TEST(changes_of_an_earlier_agent_are_preserved)
{
	fake_transform.drops_cache = _i;
	fake_other_starts();
	fake_other_retransforms(A);
	fake_trace.turn = other_looks_on;
	fake_mark();
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	runs(A, "first+");
	fake_other_works(false);
	fake_other_retransforms(A);
	runs(A, "first");
	nothing_is_left();
}
END_TEST

static void other_comes(unsigned n)
{
	if (n != 0)
		return;
	fake_other_starts();
	fake_other_retransforms(A);
	runs(A, "first#0+");
	runs(B, "first#0");
	say_stop();
}

START_TEST(concurrent_retransformation_is_repeated)
{
	fake_transform.drops_cache = _i;
	fake_trace.turn = other_comes;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	runs(A, "first+");
	fake_other_ends();
	fake_other_retransforms(A);
	runs(A, "first");
	nothing_is_left();
}
END_TEST

static int reenter;

/* JDK 8 does not lock a class: another thread retransforms p.A between our hook and our change. */
static void other_retransforms(void)
{
	if (reenter++)
		return;
	fake_other_retransforms(A);
}

START_TEST(retransformation_between_two_steps_is_repeated)
{
	reenter = 0;
	fake_trace.turn = stop_at_once;
	fake_transform.before_install = other_retransforms;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	run_on_all("first");
	/* 4 for the trace, 1 for the other agent, 4 at the end, and p.A once again */
	ck_assert_uint_eq(fake_transform.retransformations, 4 + 1 + 4 + 1);
	nothing_is_left();
}
END_TEST

/* The JVM refuses p.B, while the other agent retransforms p.A. */
START_TEST(retransformation_of_a_refused_class_is_repeated)
{
	reenter = 0;
	fake_trace.turn = stop_at_once;
	fake_transform.before_install = other_retransforms;
	fake_is(B, "frail");
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	runs(A, "first");
	runs(B, "frail");
	nothing_is_left();
}
END_TEST

static struct ag_install *install(struct ag_jvm *own, struct ag_trace **trace,
				  struct ag_install_method *method)
{
	const struct ag_trace_wanted wanted = { 0 };
	struct ag_install *made;

	*method = (struct ag_install_method){ .number = A, .name = "run", .descriptor = "()V" };
	*trace = ag_trace_new(own, &wanted, 1);
	ck_assert_ptr_nonnull(*trace);
	made = ag_install(own, *trace, true, method, 1);
	ck_assert_ptr_nonnull(made);
	ck_assert_int_eq(method->code, 0);
	return made;
}

/* Two sessions trace one class, and end in either order. */
START_TEST(two_traces_share_a_class)
{
	struct ag_install_method methods[2];
	struct ag_install *installs[2];
	struct ag_trace *traces[2];
	struct ag_jvm second = jvm, *jvms[2] = { &jvm, &second };
	jvmtiError code;
	int last = _i / 2, early = !last;

	fake_transform.drops_cache = _i % 2;
	fake.other_thread = 1;
	second.jni = fake_jni(1);
	fake.other_thread = 0;
	installs[0] = install(&jvm, &traces[0], &methods[0]);
	runs(A, "first#0");
	fake.other_thread = 1;
	installs[1] = install(&second, &traces[1], &methods[1]);
	runs(A, "first#0#1");
	fake.other_thread = (unsigned)early;
	ag_uninstall(jvms[early], installs[early], &code);
	ck_assert_int_eq(code, 0);
	runs(A, last ? "first#1" : "first#0");
	fake.other_thread = (unsigned)last;
	ag_uninstall(jvms[last], installs[last], &code);
	ck_assert_int_eq(code, 0);
	runs(A, "first");
	fake.other_thread = 0;
	for (int i = 0; i < 2; i++)
		(void)ag_trace_free(&jvm, traces[i]);
	nothing_is_left();
}
END_TEST

static struct ag_install *looked_at;

static void uninstall_looked_at(void)
{
	jvmtiError code;

	fake.in_class_loader = NULL;
	fake.other_thread--;
	ag_uninstall(&jvm, looked_at, &code);
	fake.other_thread++;
	ck_assert_int_eq(code, 0);
	ck_assert_uint_gt(mem.blocks, 1); /* the suspended thread may read the memory */
}

/* A debugger suspends a thread in the hook, and resumes it after the end of the trace. */
START_TEST(suspended_hook_retains_its_memory)
{
	struct ag_install_method method;
	struct ag_trace *trace;
	int64_t begin = now_ms();

	looked_at = install(&jvm, &trace, &method);
	runs(A, "first#0");
	fake.in_class_loader = uninstall_looked_at;
	fake_other_retransforms(A);
	ck_assert_int_lt(now_ms() - begin, 10000);
	runs(A, "first");
	(void)ag_trace_free(&jvm, trace);
	ck_assert_int_eq(fake.counts.environments, fake.marked.environments);
	fake_other_retransforms(A);
	runs(A, "first");
}
END_TEST

/* Patches */

static void patch(const char *bytes)
{
	struct ag_new_patch new = { .class = listed[A], .len = strlen(bytes) };
	struct ag_patched patched;

	new.bytes = ag_alloc(&mem, new.len, 1);
	memcpy(new.bytes, bytes, new.len);
	ck_assert_int_eq(ag_patches_install(&jvm, &new, 1, &patched), 0);
	ck_assert_int_eq(patched.code, 0);
	ag_free(&mem, new.bytes);
}

static void restore(void)
{
	jvmtiError code;
	uint32_t n;

	ck_assert_int_eq(ag_patches_restore(&jvm, NULL, 0, &code, &n), 0);
	ck_assert_int_eq(code, 0);
	ck_assert_uint_eq(n, 1);
}

/* Runs `work` on another thread: a session for patches has its own thread. */
static void on_another_thread(void (*work)(void))
{
	JNIEnv *own = jvm.jni;

	fake.other_thread++;
	jvm.jni = fake_jni(1);
	work();
	fake.other_thread--;
	jvm.jni = own;
}

static void patch_second(void)
{
	patch("second");
}

static void patch_third(void)
{
	patch("third");
}

static void patched_before(unsigned n)
{
	if (n != 0)
		return;
	runs(A, "second#0");
	on_another_thread(patch_third);
	runs(A, "third#0");
	if (fake_transform.drops_cache) {
		on_another_thread(restore);
		runs(A, "first#0");
	}
	say_stop();
}

START_TEST(patch_before_a_trace_is_preserved)
{
	fake_transform.drops_cache = _i;
	patch_second();
	fake_trace.turn = patched_before;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	if (_i) {
		runs(A, "first");
	} else {
		runs(A, "third");
		restore();
		runs(A, "first");
	}
	fake_run_thread();
	runs(A, "first");
}
END_TEST

static void patched_meanwhile(unsigned n)
{
	if (n != 0)
		return;
	on_another_thread(patch_second);
	runs(A, "second#0");
	if (fake_transform.drops_cache) {
		on_another_thread(restore);
		runs(A, "first#0");
	}
	say_stop();
}

/* The patch is applied to instrumented code, and again when the hooks are removed. */
START_TEST(patch_during_a_trace_is_preserved)
{
	fake_transform.drops_cache = _i;
	fake_trace.turn = patched_meanwhile;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	fake_run_thread();
	runs(A, _i ? "first" : "second");
	if (!_i)
		restore();
	runs(A, "first");
	fake_run_thread();
	runs(A, "first");
}
END_TEST

/* Failures */

static void queue_some_and_stop(unsigned n)
{
	fake_trace.queued += n < 2 ? 3 : 0;
	if (n == 1)
		say_stop();
}

/* Lets one call fail.  Returns true after the last call. */
static bool one_call_fails(unsigned fail_at)
{
	struct request request = usual;
	int rc;

	fake_trace.turn = queue_some_and_stop;
	fake_trace.call.frames = stack;
	fake_trace.call.n_frames = 5;
	request.flags = WIRE_TRACE_STACKS;
	say_usual();
	fake.calls = 0;
	fake.fail_at = fail_at;
	rc = answer(&request);
	ck_assert(rc == -1 || heard.refused > 0 || heard.hooked == 8);
	ck_assert(rc == -1 || !chan.broken); /* broken: no memory for a frame */
	run_on_all("first");
	nothing_is_left();
	return fake.calls < fail_at;
}

/* Reconnects the channel: a process must not read frames that an earlier one left unread. */
static void renew_channel(void)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(dup2(ends[0], chan.fd), chan.fd);
	ck_assert_int_eq(dup2(ends[1], client.fd), client.fd);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static unsigned fail_each(bool (*run)(unsigned fail_at))
{
	int status = 0;
	unsigned n = 0;

	do {
		pid_t pid;

		ck_assert_uint_lt(n++, 2000);
		renew_channel();
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			_exit(run(n) ? 77 : 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFEXITED(status), "call %u", n);
		ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77, "call %u", n);
	} while (WEXITSTATUS(status) != 77);
	return n;
}

START_TEST(each_call_may_fail)
{
	ck_assert_uint_gt(fail_each(one_call_fails), 60);
}
END_TEST

/* The JVM exits from a call on: classes may stay instrumented, but memory is freed. */
static bool it_leaves(unsigned fail_at)
{
	fake_trace.turn = queue_some_and_stop;
	fake.leaving = true;
	fake.fail_at = fail_at;
	fake.calls = 0;
	say_usual();
	(void)answer(&usual);
	ck_assert_int_eq(fake.counts.environments, fake.marked.environments);
	ck_assert_int_eq(fake_trace.open, 0);
	ck_assert_uint_eq(mem.blocks, 1);
	return fake.calls < fail_at;
}

START_TEST(the_jvm_may_exit_at_each_call)
{
	ck_assert_uint_gt(fail_each(it_leaves), 40);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/trace/trace_install");
	TCase *c = tcase_create("trace");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, methods_are_instrumented_and_restored, 0, 2);
	tcase_add_test(c, classes_can_be_unloaded_during_a_trace);
	tcase_add_test(c, refusals_are_reported);
	tcase_add_test(c, class_of_a_loader_without_the_hooks_is_refused);
	tcase_add_test(c, one_refused_class_does_not_affect_others);
	tcase_add_test(c, trace_ends_after_n_calls);
	tcase_add_test(c, trace_ends_after_its_duration);
	tcase_add_test(c, trace_ends_when_another_session_asks);
	tcase_add_test(c, sums_are_sent);
	tcase_add_test(c, trace_ends_when_hooks_cost_too_much);
	tcase_add_test(c, trace_ends_when_the_client_does_not_read);
	tcase_add_test(c, late_reader_receives_each_call);
	tcase_add_loop_test(c, trace_ends_when_the_client_disconnects, 0, 6);
	tcase_add_test(c, trace_ends_after_an_invalid_frame);
	tcase_add_loop_test(c, invalid_requests_are_rejected, 0, 8);
	tcase_add_loop_test(c, invalid_methods_are_rejected, 0, 22);
	tcase_add_loop_test(c, changes_of_an_earlier_agent_are_preserved, 0, 2);
	tcase_add_loop_test(c, concurrent_retransformation_is_repeated, 0, 2);
	tcase_add_test(c, retransformation_between_two_steps_is_repeated);
	tcase_add_test(c, retransformation_of_a_refused_class_is_repeated);
	tcase_add_loop_test(c, two_traces_share_a_class, 0, 4);
	tcase_add_test(c, suspended_hook_retains_its_memory);
	tcase_add_loop_test(c, patch_before_a_trace_is_preserved, 0, 2);
	tcase_add_loop_test(c, patch_during_a_trace_is_preserved, 0, 2);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, the_jvm_may_exit_at_each_call);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
