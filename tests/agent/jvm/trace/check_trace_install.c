/*
 * TRACE: hooks into classes and out of them, whatever ends it and whatever fails, with other
 * agents, other traces and patches beside; and what is told, to a client that listens, does not
 * listen, or goes.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/fake_trace.h"
#include "agent/fake_transform.h"
#include "agent/peer.h"
#include "classfile/inject.h"
#include "cmd/cmd.h"
#include "jvm/patches.h"
#include "jvm/roster.h"
#include "jvm/trace_install.h"

enum { A, B, ARRAY, C, D };

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_chan chan;
static struct ag_roster roster;
static jclass listed[N_CLASSES];
static struct peer client;
static long environments;

static void setup(void)
{
	fake = (struct fake_transform){ 0 };
	fake_trace = (struct fake_trace){ .call = { .ns = 5, .thread = "main" } };
	mem = (struct ag_mem){ .budget = (size_t)16 << 20 };
	jvm = (struct ag_jvm){
		.vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(), .mem = &mem, .roster = &roster,
	};
	for (int i = 0; i < N_CLASSES; i++)
		listed[i] = fake_class(i);
	roster.classes = (struct ag_classes){ listed, N_CLASSES };
	peer_comes(&client, &chan, &mem);
	environments = fake.environments;
}

static void runs(int class, const char *code)
{
	ck_assert_msg(strcmp(fake_running(class), code) == 0,
		      "'%s' runs in class %d, not '%s'; the call that fails is %u",
		      fake_running(class), class, code, fake.fail_at);
}

static void all_run(const char *code)
{
	for (int i = 0; i < N_CLASSES; i++) {
		if (i != ARRAY)
			runs(i, code);
	}
}

static void nothing_is_left(void)
{
	ck_assert(!fake.exception);
	ck_assert_int_eq(fake.frames, 0);
	ck_assert_int_eq(fake.tags, 0);
	ck_assert_int_eq(fake.blocks, 0);
	ck_assert_int_eq(fake.references, N_CLASSES);
	ck_assert_int_eq(fake.environments, environments);
	ck_assert_int_eq(fake_trace.open, 0);
	ck_assert_uint_eq(mem.blocks, chan.out ? 1 : 0);
}

/* The client's side */

static void say_stop(void)
{
	peer_says(client.fd, WIRE_TRACE_STOP, NULL);
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
	peer_says(client.fd, WIRE_TRACE_METHODS, &w);
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

/* What the client was told of a trace. */
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
			continue; /* whatever could be told of them */
		switch (heard.frames) {
		case 1: /* of p.A, which has no source file, at 5 */
			ck_assert_int_eq(line, 20);
			ck_assert_uint_eq(source.len, 0);
			ck_assert_mem_eq(class.data, "Lp/A;", 5);
			ck_assert_mem_eq(method.data, "run", 3);
			break;
		case 2: /* a constructor of p.B, native by its location */
			ck_assert_int_eq(line, -2);
			ck_assert_mem_eq(source.data, "B.java", 6);
			ck_assert_mem_eq(method.data, "<init>", 6);
			break;
		default: /* what cannot be told, and what was unloaded */
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
		ck_assert_uint_eq(wire_get_u32(r), sums_bucket(20));
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

/* All that there is to hear now. */
static void hear(void)
{
	if (client.fd >= 0)
		peer_hears(&client, hear_one);
}

/* As a session does it; the request's frames were said.  The command's result. */
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
	rc = ag_cmd_trace(&jvm, &chan, &r);
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

/* Two methods of each class but the array, until stop is said. */
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
	all_run("first#0");
	hear();
	ck_assert_uint_eq(heard.begun, 1);
	say_stop();
}

START_TEST(hooked_and_put_back)
{
	fake.drops_cache = _i;
	fake_trace.turn = look_and_stop;
	for (int i = 0; i < 2; i++) {
		unsigned before = fake.retransformations;

		say_usual();
		ck_assert_int_eq(answer(&usual), 0);
		ck_assert_uint_eq(heard.refused, 0);
		ck_assert_uint_eq(heard.hooked, 8);
		ck_assert_uint_eq(heard.end, WIRE_TRACED_ASKED);
		ck_assert_int_eq(heard.end_code, 0);
		ck_assert(fake_trace.ended);
		all_run("first");
		ck_assert_uint_eq(fake.retransformations - before, 8); /* each class twice */
		nothing_is_left();
	}
	/* One that crossed with the end is no new request. */
	ck_assert_int_eq(ag_cmd_trace_stop(&jvm, &chan, NULL), 0);
}
END_TEST

static void stop_at_once(unsigned n)
{
	if (n == 0)
		say_stop();
}

/* Every reason to leave a class or a method as it is; the others are hooked. */
START_TEST(refused)
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
	ck_assert_uint_eq(fake.retransformations, 0);
	nothing_is_left();
}
END_TEST

/* Its methods would throw NoClassDefFoundError. */
START_TEST(class_that_does_not_find_the_hooks)
{
	const struct request request = { .n = 2 };

	fake_trace.turn = stop_at_once;
	fake_trace.hidden = listed[A];
	say_methods(A, 1, "run");
	say_methods(B, 1, "run");
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.refused, 1);
	ck_assert_uint_eq(heard.hooked, 1);
	ck_assert(heard.why[0]);
	ck_assert_uint_eq(heard.end, WIRE_TRACED_ASKED);
	all_run("first");
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

START_TEST(one_refused_class_keeps_no_other_from_it)
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
	ck_assert_uint_eq(fake.retransformations, 4);
	nothing_is_left();
}
END_TEST

/* Calls, and what ends a trace */

static const jvmtiFrameInfo stack[] = {
	{ (jmethodID)17, 5 }, { (jmethodID)32, -1 }, { (jmethodID)0xdead, 3 },
	{ (jmethodID)17, 5 }, { (jmethodID)UINT64_MAX, 3 },
};

static void queue_ten(unsigned n)
{
	(void)n;
	fake_trace.queued += 10;
}

START_TEST(ends_after_so_many_calls)
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
	all_run("first");
	nothing_is_left();
}
END_TEST

static int64_t now_ms(void)
{
	return ag_now_ns() / 1000000;
}

START_TEST(ends_in_time)
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
	ck_assert_uint_lt(fake_trace.turns, 130); /* not all the time */
	all_run("first");
	nothing_is_left();
}
END_TEST

START_TEST(sums)
{
	struct request request = usual;

	request.flags = WIRE_TRACE_SUMMED;
	request.ms = 1400;
	say_usual();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_ge(heard.sums, 16); /* each half a second, and in the end */
	ck_assert_uint_eq(heard.sums % 8, 0);
	ck_assert_uint_eq(heard.calls, 0);
	all_run("first");
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

/* 10 % of the time: a slow instant does not end it, twice that does, a flood does at once. */
START_TEST(ends_when_hooks_cost_too_much)
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
	each_turn_ns = 20000000; /* each 50 ms at most */
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
	all_run("first");
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

/* Classes are instrumented, or at last put back, just now. */
static void note_end(void)
{
	ck_assert(!fake_trace.ended); /* which would have waited for hooks */
	ended_ms = now_ms();
}

START_TEST(client_does_not_read)
{
	struct request request = usual;
	int64_t begin = now_ms();

	request.ms = 500;
	fake_trace.turn = flood;
	fake.meanwhile = note_end;
	fake_trace.call.frames = stack;
	fake_trace.call.n_frames = 5;
	request.flags = WIRE_TRACE_STACKS;
	ended_ms = 0;
	say_usual();
	(void)answer(&request);
	ck_assert(chan.broken); /* it had AG_CHAN_STALL_MS in the end */
	ck_assert_int_ge(ended_ms - begin, 499);
	ck_assert_int_ge(now_ms() - ended_ms, AG_CHAN_STALL_MS - 1);
	ck_assert_uint_gt(fake_trace.queued, 0);
	all_run("first");
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

/* All calls are told or still there: none is lost between the two. */
START_TEST(client_reads_late)
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
		peer_goes(&client);
}

/* It goes after so many of the request's frames, or while it is told. */
START_TEST(client_goes)
{
	if (_i < 4) {
		for (uint32_t i = 0; i < (uint32_t)_i; i++)
			say_methods(i, 2, "run");
		peer_goes(&client);
	} else {
		fake_trace.turn = go;
		if (_i == 5)
			fake_trace.queued = 100000;
		say_usual();
	}
	ck_assert_int_eq(answer(&usual), -1);
	ck_assert(chan.broken);
	all_run("first");
	nothing_is_left();
}
END_TEST

static void say_something_else(unsigned n)
{
	if (n == 0)
		peer_says_half(client.fd);
}

/* What it says ends the trace before it is read: a frame that is cut is waited for behind that. */
START_TEST(client_makes_no_sense)
{
	fake_trace.turn = say_something_else;
	fake.meanwhile = note_end;
	say_usual();
	ended_ms = 0;
	ck_assert_int_eq(answer(&usual), -1);
	ck_assert(chan.broken);
	ck_assert_int_ge(now_ms() - ended_ms, AG_CHAN_STALL_MS - 1);
	ck_assert_int_gt(ended_ms, 0);
	all_run("first");
	nothing_is_left();
}
END_TEST

START_TEST(requests_that_make_no_sense)
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
	ck_assert_uint_eq(fake.retransformations, 0);
	nothing_is_left();
}
END_TEST

/* Names that are none, and frames that are cut at every byte. */
START_TEST(methods_that_make_no_sense)
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
	peer_says(client.fd, WIRE_TRACE_METHODS, &w);
	ck_assert_int_eq(answer(&request), -1);
	ck_assert(chan.broken);
	nothing_is_left();
}
END_TEST

/* Others in the same JVM */

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

START_TEST(another_agent_came_before)
{
	fake.drops_cache = _i;
	fake_other_comes();
	fake_other_retransforms(A);
	fake_trace.turn = other_looks_on;
	environments = fake.environments;
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
	fake_other_comes();
	fake_other_retransforms(A);
	runs(A, "first#0+");
	runs(B, "first#0");
	say_stop();
}

START_TEST(another_agent_comes_meanwhile)
{
	fake.drops_cache = _i;
	fake_trace.turn = other_comes;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	runs(A, "first+");
	fake_other_goes();
	fake_other_retransforms(A);
	runs(A, "first");
	nothing_is_left();
}
END_TEST

static int reenter;

/* JDK 8 does not lock a class: another thread has asked before, and installs after that. */
static void other_retransforms(void)
{
	if (reenter++)
		return;
	fake_other_retransforms(A);
}

START_TEST(another_thread_comes_between)
{
	reenter = 0;
	fake_trace.turn = stop_at_once;
	fake.meanwhile = other_retransforms;
	say_usual();
	ck_assert_int_eq(answer(&usual), 0);
	all_run("first");
	ck_assert_uint_eq(fake.retransformations, 4 + 1 + 4 + 1); /* ours, theirs, ours, again */
	nothing_is_left();
}
END_TEST

/* A class that the JVM did not take from us, but from them, just before. */
START_TEST(another_thread_hooks_what_is_given_up)
{
	reenter = 0;
	fake_trace.turn = stop_at_once;
	fake.meanwhile = other_retransforms;
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
START_TEST(two_traces)
{
	struct ag_install_method methods[2];
	struct ag_install *installs[2];
	struct ag_trace *traces[2];
	struct ag_jvm second = jvm, *jvms[2] = { &jvm, &second };
	jvmtiError code;
	int last = _i / 2, early = !last;

	fake.drops_cache = _i % 2;
	fake.other_thread = 1;
	second.jni = fake_jni();
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

	fake.suspended = NULL;
	fake.other_thread--;
	ag_uninstall(&jvm, looked_at, &code);
	fake.other_thread++;
	ck_assert_int_eq(code, 0);
	ck_assert_uint_gt(mem.blocks, 1); /* it is left to the thread */
}

/* A debugger suspends a thread in our hook, and it goes on long after all is over. */
START_TEST(a_thread_is_suspended_in_the_hook)
{
	struct ag_install_method method;
	struct ag_trace *trace;
	int64_t begin = now_ms();

	looked_at = install(&jvm, &trace, &method);
	runs(A, "first#0");
	fake.suspended = uninstall_looked_at;
	fake_other_retransforms(A);
	ck_assert_int_lt(now_ms() - begin, 10000);
	runs(A, "first");
	(void)ag_trace_free(&jvm, trace);
	ck_assert_int_eq(fake.environments, environments);
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

/* Sessions for patches have threads of their own. */
static void on_another_thread(void (*work)(void))
{
	JNIEnv *own = jvm.jni;

	fake.other_thread++;
	jvm.jni = fake_jni();
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
	if (fake.drops_cache) {
		on_another_thread(restore);
		runs(A, "first#0");
	}
	say_stop();
}

START_TEST(patches_before)
{
	fake.drops_cache = _i;
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
	if (fake.drops_cache) {
		on_another_thread(restore);
		runs(A, "first#0");
	}
	say_stop();
}

/* The patch is made of what comes in, with hooks; when these go it is made anew. */
START_TEST(patches_meanwhile)
{
	fake.drops_cache = _i;
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

/* True when all calls were made. */
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
	ck_assert(rc == -1 || !chan.broken); /* there may be no memory for what it says */
	all_run("first");
	nothing_is_left();
	return fake.calls < fail_at;
}

/* What one process leaves unread is not the next one's. */
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

START_TEST(any_call_may_fail)
{
	ck_assert_uint_gt(fail_each(one_call_fails), 60);
}
END_TEST

/* From a call on the JVM is leaving: nobody runs what stays in it, but no memory is lost. */
static bool it_leaves(unsigned fail_at)
{
	fake_trace.turn = queue_some_and_stop;
	fake.leaving = true;
	fake.fail_at = fail_at;
	fake.calls = 0;
	say_usual();
	(void)answer(&usual);
	ck_assert_int_eq(fake.environments, environments);
	ck_assert_int_eq(fake_trace.open, 0);
	ck_assert_uint_eq(mem.blocks, 1);
	return fake.calls < fail_at;
}

START_TEST(the_jvm_leaves)
{
	ck_assert_uint_gt(fail_each(it_leaves), 40);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/trace");
	TCase *c = tcase_create("trace");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, hooked_and_put_back, 0, 2);
	tcase_add_test(c, refused);
	tcase_add_test(c, class_that_does_not_find_the_hooks);
	tcase_add_test(c, one_refused_class_keeps_no_other_from_it);
	tcase_add_test(c, ends_after_so_many_calls);
	tcase_add_test(c, ends_in_time);
	tcase_add_test(c, sums);
	tcase_add_test(c, ends_when_hooks_cost_too_much);
	tcase_add_test(c, client_does_not_read);
	tcase_add_test(c, client_reads_late);
	tcase_add_loop_test(c, client_goes, 0, 6);
	tcase_add_test(c, client_makes_no_sense);
	tcase_add_loop_test(c, requests_that_make_no_sense, 0, 8);
	tcase_add_loop_test(c, methods_that_make_no_sense, 0, 22);
	tcase_add_loop_test(c, another_agent_came_before, 0, 2);
	tcase_add_loop_test(c, another_agent_comes_meanwhile, 0, 2);
	tcase_add_test(c, another_thread_comes_between);
	tcase_add_test(c, another_thread_hooks_what_is_given_up);
	tcase_add_loop_test(c, two_traces, 0, 4);
	tcase_add_test(c, a_thread_is_suspended_in_the_hook);
	tcase_add_loop_test(c, patches_before, 0, 2);
	tcase_add_loop_test(c, patches_meanwhile, 0, 2);
	tcase_add_test(c, any_call_may_fail);
	tcase_add_test(c, the_jvm_leaves);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
