/*
 * ALLOC: each reason for the end of a profile, and each failure; the frames for a client that
 * reads, does not read, or disconnects; and the profile of a recording.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/fake_profile.h"
#include "agent/fake/jvm_transform.h"
#include "agent/fake/peer.h"
#include "cmd/command.h"
#include "jvm/activity.h"
#include "jvm/alloc/recording.h"

#define BUDGET ((size_t)4 << 20)
#define MEMORY ((size_t)8 << 20) /* above the session's budget: a profile raises it */

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_chan chan;
static struct peer client;

static void setup(void)
{
	fake_transform_start();
	fake_profile = (struct fake_profile){ .sites = 3 };
	mem = (struct ag_mem){ .budget = BUDGET };
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	peer_open(&client, &chan, &mem);
	fake_mark();
}

static void nothing_is_left(void)
{
	fake_nothing_left();
	ck_assert_int_eq(fake_profile.open, 0);
	ck_assert_int_eq(fake_profile.begun, fake_profile.ended);
	ck_assert_uint_eq(mem.budget, BUDGET);
	ck_assert_uint_eq(mem.blocks, 1); /* the channel's */
}

/* The client's side */

static void say_stop(void)
{
	peer_send(client.fd, WIRE_ALLOC_STOP, NULL);
}

struct request {
	uint32_t flags;
	uint64_t ms, interval;
	uint32_t depth;
	uint64_t memory;
	uint32_t n_globs;
	const char *globs[2];
	size_t glob_len; /* the length of globs[0] in bytes; 0: strlen() */
};

static struct wire_writer make_request(const struct request *r, uint8_t data[static 200])
{
	struct wire_writer w = wire_writer_init(data, 200);

	wire_put_u32(&w, r->flags);
	wire_put_u64(&w, r->ms * 1000000);
	wire_put_u64(&w, r->interval);
	wire_put_u32(&w, r->depth);
	wire_put_u64(&w, r->memory);
	wire_put_u32(&w, 4);
	wire_put_u32(&w, r->n_globs);
	for (uint32_t i = 0; i < r->n_globs && i < 2; i++)
		wire_put_text(&w, r->globs[i],
			      r->glob_len && i == 0 ? r->glob_len : strlen(r->globs[i]));
	return w;
}

/* The frames that the client received. */
static struct heard {
	unsigned begun, states, kinds, frames, sites, notes, ends;
	uint32_t note, end, flags;
	int32_t code;
	int32_t lines[1000];
	unsigned early; /* the number of frames received before the profile ended */
} heard;

static void hear_state(struct wire_reader *r)
{
	for (uint64_t i = 1; i <= 4; i++)
		ck_assert_uint_eq(wire_get_u64(r), i == 1 ? 1 : i + 1);
	ck_assert_uint_le(wire_get_u32(r), fake_profile.sites);
	ck_assert_uint_eq(wire_get_u64(r), 6);
	ck_assert_uint_eq(wire_get_u32(r), 7);
}

static void hear_frames(struct wire_reader *r)
{
	uint32_t n = wire_get_u32(r);

	ck_assert_uint_gt(n, 0);
	for (; n > 0; n--) {
		for (int i = 0; i < 3; i++)
			(void)wire_get_text(r);
		ck_assert_uint_lt(heard.frames, 1000);
		heard.lines[heard.frames++] = wire_get_i32(r);
	}
	if (!fake_profile.ended)
		heard.early = heard.frames;
}

static void hear_sites(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--, heard.sites++) {
		uint32_t i = heard.sites;

		ck_assert_uint_eq(wire_get_u32(r), i % 2);
		ck_assert_uint_eq(wire_get_u64(r), i + 1);
		ck_assert_uint_eq(wire_get_u64(r), 16 * (i + 1));
		ck_assert_uint_eq(wire_get_u64(r), 1);
		ck_assert_uint_eq(wire_get_u64(r), 1);
		ck_assert_uint_eq(wire_get_u64(r), 16);
		ck_assert_uint_eq(wire_get_u32(r), 3);
		for (int k = 0; k < 3; k++)
			ck_assert_uint_lt(wire_get_u32(r), heard.frames);
	}
	ck_assert_uint_eq(heard.kinds, 2);
}

static void hear_end(struct wire_reader *r)
{
	heard.ends++;
	heard.end = wire_get_u32(r);
	heard.code = wire_get_i32(r);
	ck_assert_uint_eq(wire_get_u64(r), heard.end == WIRE_ALLOCED_NOTHING ? 0 : 10);
	heard.flags = wire_get_u32(r);
	if (heard.end != WIRE_ALLOCED_NOTHING) {
		hear_state(r);
		return;
	}
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(wire_get_u64(r), 0);
	ck_assert_uint_eq(wire_get_u32(r), 0);
	ck_assert_uint_eq(wire_get_u64(r), 0);
	ck_assert_uint_eq(wire_get_u32(r), 0);
}

static void hear_one(uint16_t type, struct wire_reader *r)
{
	ck_assert_uint_eq(heard.ends, 0);
	if (type != WIRE_ALLOC_BEGUN && type != WIRE_ALLOC_END)
		ck_assert_uint_eq(heard.begun, 1);
	switch (type) {
	case WIRE_ALLOC_BEGUN:
		heard.begun++;
		ck_assert_uint_eq(wire_get_u64(r), 2);
		ck_assert_uint_eq(wire_get_u32(r), 8);
		ck_assert_uint_eq(wire_get_u32(r), 9);
		ck_assert_uint_eq(wire_get_u32(r), 11);
		break;
	case WIRE_ALLOC_STATE:
		heard.states++;
		hear_state(r);
		break;
	case WIRE_ALLOC_KINDS:
		for (uint32_t n = wire_get_u32(r); n > 0; n--, heard.kinds++)
			ck_assert_uint_gt(wire_get_text(r).len, 0);
		break;
	case WIRE_FRAMES:
		hear_frames(r);
		break;
	case WIRE_ALLOC_SITES:
		hear_sites(r);
		break;
	case WIRE_ALLOC_NOTE:
		if (heard.notes++ == 0)
			heard.note = wire_get_u32(r);
		else
			(void)wire_get_u32(r);
		(void)wire_get_text(r);
		(void)wire_get_u64(r);
		break;
	case WIRE_ALLOC_END:
		hear_end(r);
		break;
	default:
		ck_abort_msg("frame %u", type);
	}
}

/* Reads the frames that have arrived. */
static void hear(void)
{
	if (client.fd >= 0)
		peer_receive(&client, hear_one);
}

/* Runs the command as a session does; returns the command's result. */
static int answer_to(const void *data, size_t len)
{
	struct wire_reader r = wire_reader_init(data, len);
	int rc;

	jvm.err = (struct ag_error){ 0 };
	heard = (struct heard){ 0 };
	client.n_unread = 0;
	rc = ag_cmd_alloc(&jvm, &chan, &r);
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

static int answer(const struct request *request)
{
	uint8_t data[200];
	struct wire_writer w = make_request(request, data);

	ck_assert(wire_writer_ok(&w));
	return answer_to(data, w.len);
}

static const struct request usual = { .interval = 4096, .depth = 64, .memory = MEMORY };

START_TEST(profile_is_sent_on_request)
{
	say_stop();
	ck_assert_int_eq(answer(&usual), 0);
	ck_assert_uint_eq(heard.begun, 1);
	ck_assert_uint_eq(heard.kinds, 2);
	ck_assert_uint_eq(heard.sites, 3);
	ck_assert_uint_eq(heard.frames, 1 + 5); /* the unknown frame, and those of the stacks */
	ck_assert_int_eq(heard.lines[1], 20);
	ck_assert_int_eq(heard.lines[2], -2);
	ck_assert_int_eq(heard.lines[3], -1);
	ck_assert_uint_eq(heard.notes, 1);
	ck_assert_uint_eq(heard.end, WIRE_ALLOCED_STOPPED);
	ck_assert_uint_eq(heard.flags, 0);
	ck_assert_uint_eq(fake_profile.wanted.interval, 4096);
	ck_assert_uint_eq(fake_profile.wanted.depth, 64);
	ck_assert_uint_eq(fake_profile.wanted.memory, MEMORY);
	ck_assert_uint_eq(fake_profile.wanted.age, 4);
	/* A STOP that arrives after the end of the profile has no effect. */
	ck_assert_int_eq(ag_cmd_alloc_stop(&jvm, &chan, NULL), 0);
	nothing_is_left();
}
END_TEST

static int64_t now_ms(void)
{
	return ag_now_ns() / 1000000;
}

START_TEST(profile_ends_after_its_duration)
{
	struct request request = usual;
	int64_t begin = now_ms();

	request.ms = 1700;
	fake_profile.turn = hear;
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.end, WIRE_ALLOCED_TIME);
	ck_assert_int_ge(now_ms() - begin, 1699);
	ck_assert_uint_ge(heard.states, 1); /* 1 if the machine is paused meanwhile */
	ck_assert_uint_le(heard.states, 3);
	/* Every second state has a tick; an odd number of states shows that it is not the first. */
	ck_assert_uint_eq(fake_profile.ticks, heard.states / 2);
	ck_assert_uint_eq(heard.frames, 6);
	nothing_is_left();
}
END_TEST

static void ask_all(void)
{
	struct ag_activity_row row;
	uint32_t next = 0;

	while (ag_activity_next(&next, &row))
		ag_activity_ask(row.id);
}

static void is_still_listed(void)
{
	ck_assert_ptr_nonnull(jvm.activity); /* until the profile has ended */
}

START_TEST(profile_ends_when_another_session_asks)
{
	int64_t begin = now_ms();

	jvm.activity = ag_activity_begin(WIRE_ALLOC);
	fake_profile.turn = ask_all;
	fake_profile.ending = is_still_listed;
	ck_assert_int_eq(answer(&usual), 0);
	ck_assert_uint_eq(heard.end, WIRE_ALLOCED_FORCED);
	ck_assert_uint_eq(heard.sites, 3);
	ck_assert_int_lt(now_ms() - begin, 20000);
	ck_assert_ptr_null(jvm.activity);
	nothing_is_left();
}
END_TEST

/* Stack frames are sent during the profile, because a class can be unloaded before its end. */
START_TEST(frames_are_sent_early)
{
	struct request request = usual;

	request.ms = 3000;
	fake_profile.turn = hear;
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.early, 6);
	nothing_is_left();
}
END_TEST

/* The stacks of the last ten sites have no other stack frames than those of the first ten. */
START_TEST(frames_are_sent_once)
{
	fake_profile.sites = 60;
	say_stop();
	ck_assert_int_eq(answer(&usual), 0);
	ck_assert_uint_eq(heard.sites, 60);
	ck_assert_uint_eq(heard.frames, 1 + 50 + 2);
	nothing_is_left();
}
END_TEST

static void one_more_site(void)
{
	fake_profile.sites++;
}

/* Lines are looked up before the hooks are removed; a site that is added later has no line. */
START_TEST(exact_profile_is_sent)
{
	const struct request request = {
		.flags = WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE, .depth = 1, .memory = MEMORY,
		.n_globs = 2, .globs = { "a.b.*", "int[]" },
	};

	fake_profile.code = JVMTI_ERROR_INTERNAL;
	fake_profile.ending = one_more_site;
	say_stop();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_str_eq(fake_profile.globs, "a.b.*int[]");
	ck_assert(fake_profile.live);
	ck_assert_uint_eq(heard.sites, 4);
	ck_assert_uint_eq(heard.frames, 7);
	ck_assert_int_eq(heard.lines[1], 20);
	ck_assert_int_eq(heard.lines[5], 20);
	ck_assert_int_eq(heard.lines[6], -1);
	ck_assert_uint_eq(heard.flags, request.flags);
	ck_assert_int_eq(heard.code, JVMTI_ERROR_INTERNAL);
	nothing_is_left();
}
END_TEST

START_TEST(live_counts_may_be_unknown)
{
	struct request request = usual;

	request.flags = WIRE_ALLOC_LIVE;
	fake_profile.live_fails = true;
	say_stop();
	ck_assert_int_eq(answer(&request), 0);
	ck_assert_uint_eq(heard.note, WIRE_ALLOC_NOT_LIVE);
	ck_assert_uint_eq(heard.flags, 0);
	ck_assert_uint_eq(heard.sites, 3);
	nothing_is_left();
}
END_TEST

static const struct request senseless[] = {
	{ .depth = 0, .memory = MEMORY },
	{ .depth = 65, .memory = MEMORY },
	{ .depth = 64, .memory = 0 },
	{ .depth = 64, .memory = WIRE_ALLOC_MEMORY_MAX + 1 },
	{ .depth = 64, .memory = UINT64_MAX },
	{ .depth = 64, .memory = MEMORY, .flags = 8 },
	{ .depth = 64, .memory = MEMORY, .interval = (uint64_t)INT32_MAX + 1 },
	{ .depth = 64, .memory = MEMORY, .n_globs = 1, .globs = { "a" } },
	{ .depth = 64, .memory = MEMORY, .flags = 1, .n_globs = 1, .globs = { "" } },
	{ .depth = 64, .memory = MEMORY, .flags = 1, .n_globs = 1, .globs = { "a\0b" },
	  .glob_len = 3 },
	{ .depth = 64, .memory = MEMORY, .flags = 1, .n_globs = 101, .globs = { "a", "b" } },
	{ .depth = 64, .memory = MEMORY, .flags = 1, .n_globs = 3, .globs = { "a", "b" } },
	{ .flags = WIRE_ALLOC_RECORDED | WIRE_ALLOC_EXACT },
	{ .flags = WIRE_ALLOC_RECORDED, .n_globs = 1, .globs = { "a" } },
};

START_TEST(invalid_request_is_rejected)
{
	ck_assert_int_eq(answer(&senseless[_i]), -1);
	ck_assert(!chan.broken);
	ck_assert(!fake_profile.begun);
	nothing_is_left();
}
END_TEST

START_TEST(incomplete_request_is_rejected)
{
	const struct request request = {
		.flags = WIRE_ALLOC_EXACT, .depth = 64, .memory = MEMORY, .n_globs = 2,
		.globs = { "a.b.C", "x" },
	};
	uint8_t data[200];
	struct wire_writer w = make_request(&request, data);

	for (size_t len = 0; len < w.len; len++) {
		ck_assert_int_eq(answer_to(data, len), -1);
		ck_assert(!fake_profile.begun);
		nothing_is_left();
	}
}
END_TEST

/* Each JVM call and allocation fails in turn; without memory for a frame the channel breaks. */
#define CALLS_MAX 60

START_TEST(each_call_may_fail)
{
	struct request request = usual;

	request.flags = _i < CALLS_MAX ? 0 : WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE;
	fake.fail_at = (unsigned)_i % CALLS_MAX + 1;
	say_stop();
	(void)answer(&request);
	if (fake.fail_at == CALLS_MAX)
		ck_assert_uint_lt(fake.calls, CALLS_MAX); /* CALLS_MAX is enough for all calls */
	nothing_is_left();
}
END_TEST

static void go(void)
{
	if (fake_profile.ticks > 0)
		peer_close(&client);
}

/* The client disconnects before the profile begins or during it: no collection is forced. */
START_TEST(profile_ends_when_the_client_disconnects)
{
	struct request request = usual;

	request.flags = WIRE_ALLOC_LIVE | (_i & 2 ? WIRE_ALLOC_EXACT : 0);
	if (_i & 1)
		fake_profile.turn = go;
	else
		peer_close(&client);
	ck_assert_int_eq(answer(&request), -1);
	ck_assert(chan.broken);
	ck_assert(!fake_profile.live);
	ck_assert_uint_eq(fake_profile.peeks, 0);
	nothing_is_left();
}
END_TEST

static int64_t ended_ms;

static void note_end(void)
{
	ended_ms = now_ms();
}

/* The profile ends in time; only then the agent waits for the client. */
START_TEST(profile_ends_when_the_client_does_not_read)
{
	struct request request = usual;
	int64_t begin = now_ms();

	request.ms = 300;
	fake_profile.sites = 50000;
	fake_profile.ending = note_end;
	ck_assert_int_eq(answer(&request), -1);
	ck_assert(chan.broken);
	ck_assert_int_ge(ended_ms - begin, 299);
	ck_assert_int_ge(now_ms() - ended_ms, AG_CHAN_STALL_MS - 1);
	nothing_is_left();
}
END_TEST

/* An incomplete frame ends the profile.  Only then does the agent wait for the frame's rest. */
START_TEST(profile_ends_after_an_invalid_frame)
{
	fake_profile.ending = note_end;
	peer_send_half(client.fd);
	ck_assert_int_eq(answer(&usual), -1);
	ck_assert(chan.broken);
	ck_assert_int_ge(now_ms() - ended_ms, AG_CHAN_STALL_MS - 1);
	nothing_is_left();
}
END_TEST

/* Recordings */

static const struct request look = { .flags = WIRE_ALLOC_RECORDED };

START_TEST(request_without_a_recording_is_rejected)
{
	ck_assert_int_eq(answer(&look), 0);
	ck_assert_uint_eq(heard.end, WIRE_ALLOCED_NOTHING);
	ck_assert_uint_eq(heard.begun + heard.sites + heard.frames + heard.notes, 0);
	nothing_is_left();
}
END_TEST

static struct ag_mem recordings = { .budget = BUDGET };

static struct ag_jvm begin_recording(uint32_t flags)
{
	struct ag_jvm its = {
		.vm = fake_vm(), .ti = fake_new_ti(), .jni = fake_jni(0), .mem = &recordings,
	};
	const struct ag_alloc_profile_wanted wanted = { .flags = flags, .memory = 100 };
	struct ag_alloc_profile *profile = ag_alloc_profile_begin(&its, &wanted);

	ck_assert_ptr_nonnull(profile);
	ck_assert_int_eq(ag_recording_begin(&its, profile, flags), 0);
	fake_mark();
	return its;
}

/* Like nothing_is_left(), while a recording continues: only the recording is left. */
static void it_goes_on(void)
{
	ck_assert(!fake_profile.ended);
	ck_assert_int_eq(fake_profile.open, 1);
	fake_profile.open = 0;
	fake_profile.begun = false;
	nothing_is_left();
	fake_profile.open = 1;
}

START_TEST(recording_is_sent_and_continues)
{
	struct request request = look;

	(void)begin_recording(WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE);
	for (int i = 0; i < 3; i++) {
		request.flags = WIRE_ALLOC_RECORDED | (i == 0 ? 0 : WIRE_ALLOC_LIVE);
		fake_profile.peek_fails = i == 2;
		ck_assert_int_eq(answer(&request), 0);
		ck_assert_uint_eq(heard.end, WIRE_ALLOCED_ON);
		ck_assert_uint_eq(heard.sites, 3);
		ck_assert_uint_eq(fake_profile.peeks, (unsigned)i + 1);
		ck_assert_int_eq(fake_profile.live, i > 0);
		ck_assert_uint_eq(heard.flags,
				  i == 1 ? WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE : WIRE_ALLOC_EXACT);
		ck_assert_uint_eq(heard.note, i == 2 ? WIRE_ALLOC_NOT_LIVE : WIRE_ALLOC_FULL);
		it_goes_on();
	}
}
END_TEST

START_TEST(each_call_of_a_look_at_a_recording_may_fail)
{
	unsigned calls;

	(void)begin_recording(0);
	fake.calls = 0;
	ck_assert_int_eq(answer(&look), 0);
	calls = fake.calls;
	ck_assert_uint_gt(calls, 30);
	for (unsigned k = 1; k <= calls; k++) {
		fake.calls = 0;
		fake.fail_at = k;
		(void)answer(&look);
		ck_assert(!chan.broken);
		it_goes_on();
	}
	fake.fail_at = 0;
	ck_assert_int_eq(answer(&look), 0); /* each failed look released its turn */
}
END_TEST

/* When a recording ends, its profile can no longer be sent, and its thread ends. */
START_TEST(recording_that_ended_is_not_sent)
{
	struct ag_alloc_profile *profile;
	bool turn;

	(void)begin_recording(0);
	ck_assert(ag_recording_wait(1));
	profile = ag_recording_end(0, &turn);
	ck_assert_ptr_nonnull(profile);
	ck_assert(turn);
	ck_assert(!ag_recording_wait(1));
}
END_TEST

/* The recording's own thread ends the recording; the JVM's shutdown then finds none. */
START_TEST(recording_ends_when_a_session_asks)
{
	bool turn;
	uint64_t ns;

	ck_assert(!ag_recording_is_on(&ns));
	ag_recording_ask_end();
	(void)begin_recording(0);
	ck_assert(ag_recording_wait(1));
	ck_assert(ag_recording_is_on(&ns));
	ag_recording_ask_end();
	ck_assert(!ag_recording_wait(1));
	ck_assert(ag_recording_is_on(&ns));
	ck_assert_ptr_nonnull(ag_recording_end(0, &turn));
	ck_assert(turn);
	ck_assert(ag_recording_is_on(&ns)); /* until its classes are restored */
	ck_assert_ptr_null(ag_recording_end(0, &turn));
	ck_assert(!turn);
	ag_recording_leave();
	ck_assert(!ag_recording_is_on(&ns));
	ck_assert_int_eq(answer(&look), 0);
	ck_assert_uint_eq(heard.end, WIRE_ALLOCED_NOTHING);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/cmd/alloc");
	TCase *tc = tcase_create("alloc");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, profile_is_sent_on_request);
	tcase_add_test(tc, profile_ends_after_its_duration);
	tcase_add_test(tc, profile_ends_when_another_session_asks);
	tcase_add_test(tc, frames_are_sent_early);
	tcase_add_test(tc, frames_are_sent_once);
	tcase_add_test(tc, exact_profile_is_sent);
	tcase_add_test(tc, live_counts_may_be_unknown);
	tcase_add_loop_test(tc, invalid_request_is_rejected, 0,
			    sizeof(senseless) / sizeof(senseless[0]));
	tcase_add_test(tc, incomplete_request_is_rejected);
	tcase_add_loop_test(tc, each_call_may_fail, 0, 2 * CALLS_MAX);
	tcase_add_loop_test(tc, profile_ends_when_the_client_disconnects, 0, 4);
	tcase_add_test(tc, profile_ends_when_the_client_does_not_read);
	tcase_add_test(tc, profile_ends_after_an_invalid_frame);
	tcase_add_test(tc, request_without_a_recording_is_rejected);
	tcase_add_test(tc, recording_is_sent_and_continues);
	tcase_add_test(tc, each_call_of_a_look_at_a_recording_may_fail);
	tcase_add_test(tc, recording_that_ended_is_not_sent);
	tcase_add_test(tc, recording_ends_when_a_session_asks);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
