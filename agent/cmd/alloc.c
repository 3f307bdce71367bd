/*
 * ALLOC: an allocation profile for as long as the client likes, or a look at the one that is
 * recorded since the JVM's start.
 *
 * Whatever ends it, it is undone first: the client is not waited for while the JVM samples, or
 * has hooks.
 */
#include <string.h>

#include "cmd/alloc_tell.h"
#include "cmd/cmd.h"
#include "jvm/recording.h"
#include "jvm/ref.h"

#define NS_PER_MS 1000000
#define STATE_MS 500
#define STATES_PER_TICK 2 /* a tick is every second, says ag_profile_tick() */

#define FRAMES_MAX (1u << 18) /* in all stacks; what is beyond is unknown: 8 MB must do */

struct request {
	struct ag_profile_wanted wanted;
	uint64_t max_ns;
	const char **globs;
	char *texts; /* of these */
};

static int makes_no_sense(struct ag_jvm *jvm)
{
	return ag_fail(jvm, "read the request", "it makes no sense");
}

static bool is_glob(struct wire_text text)
{
	return text.len > 0 && !memchr(text.data, '\0', text.len);
}

/* All texts one behind the other: no more than what came. */
static int read_globs(struct ag_jvm *jvm, struct wire_reader *r, struct request *request)
{
	uint32_t n = request->wanted.n_globs;
	char *at;

	if (n == 0)
		return 0;
	request->globs = ag_jvm_alloc(jvm, n, sizeof(*request->globs));
	request->texts = at = ag_jvm_alloc(jvm, (size_t)(r->end - r->at) + 1, 1);
	if (!request->globs || !at)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct wire_text text = wire_get_text(r);

		if (!wire_reader_ok(r) || !is_glob(text))
			return makes_no_sense(jvm);
		memcpy(at, text.data, text.len); /* its length took more room than its end does */
		request->globs[i] = at;
		at += text.len + 1;
	}
	request->wanted.globs = request->globs;
	return 0;
}

static bool makes_sense(const struct ag_profile_wanted *w, uint64_t memory)
{
	if (w->flags & ~(WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE | WIRE_ALLOC_RECORDED))
		return false;
	if (w->n_globs > WIRE_ALLOC_GLOBS_MAX || (w->n_globs > 0 && !(w->flags & WIRE_ALLOC_EXACT)))
		return false;
	if (w->flags & WIRE_ALLOC_RECORDED)
		return !(w->flags & WIRE_ALLOC_EXACT); /* it is what it is */
	return w->interval <= INT32_MAX && w->depth >= 1 && w->depth <= WIRE_ALLOC_DEPTH &&
	       memory >= 1 && memory <= WIRE_ALLOC_MEMORY_MAX;
}

static int read_request(struct ag_jvm *jvm, struct wire_reader *r, struct request *request)
{
	struct ag_profile_wanted *w = &request->wanted;
	uint64_t memory;

	w->flags = wire_get_u32(r);
	request->max_ns = wire_get_u64(r);
	w->interval = wire_get_u64(r);
	w->depth = wire_get_u32(r);
	memory = wire_get_u64(r);
	w->age = wire_get_u32(r);
	w->n_globs = wire_get_u32(r);
	if (!wire_reader_ok(r) || !makes_sense(w, memory))
		return makes_no_sense(jvm);
	w->memory = w->flags & WIRE_ALLOC_RECORDED ? 0 : (size_t)memory;
	return read_globs(jvm, r, request);
}

static void free_request(struct ag_jvm *jvm, struct request *request)
{
	ag_free(jvm->mem, request->globs);
	ag_free(jvm->mem, request->texts);
}

/* Milliseconds until the next state is due, or the end. */
static int wait_ms(int64_t next_ns, int64_t end_ns, int64_t now)
{
	int64_t until = end_ns < next_ns ? end_ns : next_ns;

	return until <= now ? 0 : (int)((until - now) / NS_PER_MS) + 1;
}

static int take_turn(struct ag_alloc_telling *t, uint32_t turn)
{
	if (turn % STATES_PER_TICK == 0) {
		ag_profile_tick(t->jvm, t->profile);
		ag_forgive(t->jvm); /* the interval stays what it was */
		if (ag_alloc_tell_frames(t) != 0)
			return -1;
	}
	return ag_alloc_tell_state(t);
}

/* Until one of its ends: enum wire_alloc_end, or -1: the client has gone, or the JVM goes. */
static int follow(struct ag_alloc_telling *t, uint64_t max_ns)
{
	int64_t now = ag_now_ns(), next = now + STATE_MS * NS_PER_MS, end;

	if (max_ns == 0 || __builtin_add_overflow(now, max_ns, &end))
		end = INT64_MAX;
	for (uint32_t turn = 1;; now = ag_now_ns()) {
		int said;

		if (now >= end)
			return WIRE_ALLOCED_TIME;
		if (now >= next) {
			if (take_turn(t, turn++) != 0)
				return -1;
			next = now + STATE_MS * NS_PER_MS;
		} else if (ag_chan_trickle(t->chan) != 0) {
			return -1;
		}
		if (t->jvm->stopping)
			return -1;
		said = ag_chan_watch(t->chan, wait_ms(next, end, ag_now_ns()));
		if (said != 0)
			return said < 0 ? -1 : WIRE_ALLOCED_ASKED;
	}
}

/*
 * Whatever the client said ended it, before it was read: a frame that is cut would have to be
 * waited for.
 */
static int read_stop(struct ag_alloc_telling *t)
{
	struct ag_frame frame;

	if (ag_chan_receive(t->chan, &frame) == 1 && frame.type == WIRE_ALLOC_STOP)
		return 0;
	t->chan->broken = true; /* what follows cannot be told apart from requests */
	return makes_no_sense(t->jvm);
}

/* Figures of a profile are worth telling without what is live, which is said then. */
static int tell_not_live(struct ag_alloc_telling *t, uint32_t *flags)
{
	const char *why = t->jvm->err.why ? t->jvm->err.why : "";

	ag_forgive(t->jvm);
	*flags &= ~WIRE_ALLOC_LIVE;
	return ag_alloc_tell_note(t, WIRE_ALLOC_NOT_LIVE, why, 0);
}

static int end_profile(struct ag_alloc_telling *t, const struct request *request, int end)
{
	bool told = end >= 0 && !t->jvm->stopping && !t->chan->broken;
	uint32_t flags = request->wanted.flags;
	jvmtiError code = JVMTI_ERROR_NONE;
	int rc;

	if (told && (flags & WIRE_ALLOC_EXACT)) {
		/* What this cannot add up comes with the end, without its lines. */
		if (ag_profile_peek(t->jvm, t->profile, false) == 0)
			ag_alloc_note_lines(t);
		ag_forgive(t->jvm);
		t->frames.moved = true;
	}
	rc = ag_profile_end(t->jvm, t->profile, told, &code);
	if (!told || t->jvm->stopping)
		return -1;
	if (end == WIRE_ALLOCED_ASKED && read_stop(t) != 0)
		return -1;
	if (rc != 0 && tell_not_live(t, &flags) != 0)
		return -1;
	if (ag_alloc_tell_sites(t) != 0 || ag_profile_notes(t->profile, ag_alloc_tell_note, t) != 0)
		return -1;
	return ag_alloc_tell_end(t, (uint32_t)end, code, flags);
}

static int run(struct ag_alloc_telling *t, const struct request *request)
{
	int end = -1, rc;

	t->profile = ag_profile_begin(t->jvm, &request->wanted);
	if (!t->profile)
		return -1;
	if (ag_alloc_tell_begun(t) == 0)
		end = follow(t, request->max_ns);
	rc = end_profile(t, request, end);
	ag_profile_free(t->jvm, t->profile);
	return rc;
}

/* What failed in the recording's environment, failed in the session. */
static void leave(struct ag_alloc_telling *t, const struct ag_turn *turn)
{
	ag_recording_leave();
	if (turn->jvm.err.what && !t->jvm->err.what)
		t->jvm->err = turn->jvm.err;
	t->jvm->stopping |= turn->jvm.stopping;
}

/* The notes need the turn again, in which nobody is waited for: there is room for them. */
static int tell_recorded_notes(struct ag_alloc_telling *t)
{
	struct ag_turn turn;
	int rc = ag_recording_enter(t->jvm, &turn);

	if (rc <= 0)
		return rc;
	rc = ag_profile_notes(turn.profile, ag_alloc_tell_note, t);
	leave(t, &turn);
	return rc;
}

/* Sums are as they are now; what is live was counted if flags say so. */
static int tell_looked(struct ag_alloc_telling *t, int looked, uint32_t flags)
{
	if (looked != 0 && (t->jvm->stopping || !(flags & WIRE_ALLOC_LIVE)))
		return -1;
	if (ag_alloc_tell_begun(t) != 0 || (looked != 0 && tell_not_live(t, &flags) != 0) ||
	    ag_alloc_tell_sites(t) != 0 || tell_recorded_notes(t) != 0)
		return -1;
	return ag_alloc_tell_end(t, WIRE_ALLOCED_ON, JVMTI_ERROR_NONE, flags);
}

static int tell_recorded(struct ag_alloc_telling *t, const struct request *request)
{
	struct ag_turn turn;
	int rc = ag_recording_enter(t->jvm, &turn);
	uint32_t flags;

	if (rc < 0)
		return -1;
	if (rc == 0)
		return ag_alloc_tell_end(t, WIRE_ALLOCED_NOTHING, JVMTI_ERROR_NONE, 0);
	t->profile = turn.profile;
	flags = turn.flags;
	if (!(request->wanted.flags & WIRE_ALLOC_LIVE))
		flags &= ~WIRE_ALLOC_LIVE;
	rc = ag_profile_peek(&turn.jvm, turn.profile, flags & WIRE_ALLOC_LIVE);
	leave(t, &turn);
	return tell_looked(t, rc, flags);
}

static int run_capable(struct ag_jvm *jvm, struct ag_chan *chan, const struct request *request)
{
	const jvmtiCapabilities reading = {
		.can_get_line_numbers = 1, .can_get_source_file_name = 1,
	};
	struct ag_alloc_telling t = { .jvm = jvm, .chan = chan };
	int rc = -1;

	if (AG_TI(jvm, AddCapabilities, &reading) != 0)
		return -1;
	if (ag_frames_init(jvm, &t.frames, FRAMES_MAX) == 0)
		rc = request->wanted.flags & WIRE_ALLOC_RECORDED ? tell_recorded(&t, request) :
								   run(&t, request);
	ag_frames_release(jvm, &t.frames);
	(void)AG_TI(jvm, RelinquishCapabilities, &reading); /* the error is recorded */
	return rc;
}

int ag_cmd_alloc(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r)
{
	struct request request = { 0 };
	int rc = -1;

	if (ag_ref_push(jvm) != 0)
		return -1;
	if (read_request(jvm, r, &request) == 0) {
		jvm->mem->budget += request.wanted.memory;
		rc = run_capable(jvm, chan, &request);
		jvm->mem->budget -= request.wanted.memory;
	}
	free_request(jvm, &request);
	ag_ref_pop(jvm);
	return rc;
}

/* ALLOC_STOP that crossed with the end of its profile. */
int ag_cmd_alloc_stop(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r)
{
	(void)jvm, (void)chan, (void)r;
	return 0;
}
