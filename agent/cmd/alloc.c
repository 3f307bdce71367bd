/*
 * ALLOC: runs an allocation profile until the client stops it; or sends the counters of the
 * recording, a profile that has been running since JVM startup.
 *
 * While the JVM samples allocations or classes have hooks, the agent never waits for the client.
 * When a profile ends, for whatever reason, the agent disables sampling and restores the classes
 * before it sends the results.
 */
#include <string.h>

#include "cmd/alloc_send.h"
#include "cmd/command.h"
#include "jvm/activity.h"
#include "jvm/alloc/recording.h"
#include "jvm/jni_refs.h"

#define NS_PER_MS 1000000
#define STATE_MS 500
#define STATES_PER_TICK 2 /* ag_alloc_profile_tick() expects a call every second: 2 * STATE_MS */

/* Maximum number of distinct stack frames (8 MB of memory).  Further frames are sent as unknown. */
#define FRAMES_MAX (1u << 18)

struct request {
	struct ag_alloc_profile_wanted wanted;
	uint64_t max_ns;
	const char **globs;
	char *texts; /* memory that the globs point to */
};

static int invalid_request(struct ag_jvm *jvm)
{
	return ag_fail(jvm, "read the request", "it is malformed");
}

static bool is_glob(struct wire_text text)
{
	return text.len > 0 && !memchr(text.data, '\0', text.len);
}

/* Copies the globs into one block of memory. */
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
			return invalid_request(jvm);
		/*
		 * The block is as long as the globs in the payload.  This suffices: in the payload,
		 * each glob has a length field; in the block, each has only a NUL instead.
		 */
		memcpy(at, text.data, text.len);
		request->globs[i] = at;
		at += text.len + 1;
	}
	request->wanted.globs = request->globs;
	return 0;
}

static bool is_valid(const struct ag_alloc_profile_wanted *w, uint64_t memory)
{
	if (w->flags & ~(WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE | WIRE_ALLOC_RECORDED))
		return false;
	if (w->n_globs > WIRE_ALLOC_GLOBS_MAX || (w->n_globs > 0 && !(w->flags & WIRE_ALLOC_EXACT)))
		return false;
	if (w->flags & WIRE_ALLOC_RECORDED)
		/* a request cannot choose whether the recording is exact */
		return !(w->flags & WIRE_ALLOC_EXACT);
	return w->interval <= INT32_MAX && w->depth >= 1 && w->depth <= WIRE_ALLOC_DEPTH &&
	       memory >= 1 && memory <= WIRE_ALLOC_MEMORY_MAX;
}

static int read_request(struct ag_jvm *jvm, struct wire_reader *r, struct request *request)
{
	struct ag_alloc_profile_wanted *w = &request->wanted;
	uint64_t memory;

	w->flags = wire_get_u32(r);
	request->max_ns = wire_get_u64(r);
	w->interval = wire_get_u64(r);
	w->depth = wire_get_u32(r);
	memory = wire_get_u64(r);
	w->age = wire_get_u32(r);
	w->n_globs = wire_get_u32(r);
	if (!wire_reader_ok(r) || !is_valid(w, memory))
		return invalid_request(jvm);
	w->memory = w->flags & WIRE_ALLOC_RECORDED ? 0 : (size_t)memory;
	return read_globs(jvm, r, request);
}

static void free_request(struct ag_jvm *jvm, struct request *request)
{
	ag_free(jvm->mem, request->globs);
	ag_free(jvm->mem, request->texts);
}

/* Returns the milliseconds until the next state is due or the profile ends. */
static int wait_ms(int64_t next_ns, int64_t end_ns, int64_t now)
{
	int64_t until = end_ns < next_ns ? end_ns : next_ns;

	return until <= now ? 0 : (int)((until - now) / NS_PER_MS) + 1;
}

static int tick(struct ag_alloc_sender *t, uint32_t turn)
{
	if (turn % STATES_PER_TICK == 0) {
		ag_alloc_profile_tick(t->jvm, t->profile);
		ag_clear_error(t->jvm); /* the next tick tries again */
		if (ag_alloc_send_frames(t) != 0)
			return -1;
	}
	return ag_alloc_send_state(t);
}

/*
 * Sends the state of the profile every STATE_MS until the profile ends.  Returns why the profile
 * ended (WIRE_ALLOCED_*), or -1 if the client has disconnected or the JVM shuts down.
 */
static int follow(struct ag_alloc_sender *t, uint64_t max_ns)
{
	int64_t now = ag_now_ns(), next = now + STATE_MS * NS_PER_MS, end;

	if (max_ns == 0 || __builtin_add_overflow(now, max_ns, &end))
		end = INT64_MAX;
	for (uint32_t turn = 1;; now = ag_now_ns()) {
		int event;

		if (now >= end)
			return WIRE_ALLOCED_TIME;
		if (now >= next) {
			if (tick(t, turn++) != 0)
				return -1;
			next = now + STATE_MS * NS_PER_MS;
		} else if (ag_chan_try_flush(t->chan) != 0) {
			return -1;
		}
		if (t->jvm->stopping)
			return -1;
		if (ag_activity_must_end(t->jvm->activity))
			return WIRE_ALLOCED_FORCED;
		event = ag_chan_watch(t->chan, wait_ms(next, end, ag_now_ns()));
		if (event != 0)
			return event < 0 ? -1 : WIRE_ALLOCED_STOPPED;
	}
}

/*
 * Reads ALLOC_STOP.  Waits for the client if a part of the frame has not arrived yet, so call this
 * function only after the hooks are removed.
 */
static int read_stop(struct ag_alloc_sender *t)
{
	struct ag_frame frame;

	if (ag_chan_receive(t->chan, &frame) == 1 && frame.type == WIRE_ALLOC_STOP)
		return 0;
	t->chan->broken = true; /* the next bytes might not be a request */
	return invalid_request(t->jvm);
}

/*
 * Sends the reason why live objects were not counted.  Sends it as a note, not as an error, because
 * the other counters are still useful.
 */
static int send_not_live(struct ag_alloc_sender *t, uint32_t *flags)
{
	const char *why = t->jvm->err.why ? t->jvm->err.why : "";

	ag_clear_error(t->jvm);
	*flags &= ~WIRE_ALLOC_LIVE;
	return ag_alloc_send_note(t, WIRE_ALLOC_NOT_LIVE, why, 0);
}

static int end_profile(struct ag_alloc_sender *t, const struct request *request, int end)
{
	bool report = end >= 0 && !t->jvm->stopping && !t->chan->broken;
	uint32_t flags = request->wanted.flags;
	jvmtiError code = JVMTI_ERROR_NONE;
	int rc;

	if (report && (flags & WIRE_ALLOC_EXACT)) {
		/*
		 * Look up line numbers before the classes are restored.  Sites that are added after
		 * this step are sent without line numbers.
		 */
		if (ag_alloc_profile_peek(t->jvm, t->profile, false) == 0)
			ag_alloc_note_lines(t);
		ag_clear_error(t->jvm);
		t->frames.restored = true;
	}
	rc = ag_alloc_profile_end(t->jvm, t->profile, report, &code);
	ag_activity_end(&t->jvm->activity);
	if (!report || t->jvm->stopping)
		return -1;
	if (end == WIRE_ALLOCED_STOPPED && read_stop(t) != 0)
		return -1;
	if (rc != 0 && send_not_live(t, &flags) != 0)
		return -1;
	if (ag_alloc_send_sites(t) != 0 ||
	    ag_alloc_profile_notes(t->profile, ag_alloc_send_note, t) != 0)
		return -1;
	return ag_alloc_send_end(t, (uint32_t)end, code, flags);
}

static int run(struct ag_alloc_sender *t, const struct request *request)
{
	int end = -1, rc;

	t->profile = ag_alloc_profile_begin(t->jvm, &request->wanted);
	if (!t->profile)
		return -1;
	if (ag_alloc_send_begun(t) == 0)
		end = follow(t, request->max_ns);
	rc = end_profile(t, request, end);
	ag_alloc_profile_free(t->jvm, t->profile);
	return rc;
}

/* Ends the access to the recording.  Copies the error of this access, if any, to t->jvm. */
static void leave(struct ag_alloc_sender *t, const struct ag_turn *turn)
{
	ag_recording_leave();
	if (turn->jvm.err.what && !t->jvm->err.what)
		t->jvm->err = turn->jvm.err;
	t->jvm->stopping |= turn->jvm.stopping;
}

/*
 * Sends the recording's notes.  Does not wait for the client, because all notes together fit into
 * the channel's buffer.
 */
static int send_recorded_notes(struct ag_alloc_sender *t)
{
	struct ag_turn turn;
	int rc = ag_recording_enter(t->jvm, &turn);

	if (rc <= 0)
		return rc;
	rc = ag_alloc_profile_notes(turn.profile, ag_alloc_send_note, t);
	leave(t, &turn);
	return rc;
}

/*
 * Sends the counters that the recording has at this time.  `rc` is the result of
 * ag_alloc_profile_peek().  If that failed although live objects were to be counted (`flags` has
 * WIRE_ALLOC_LIVE), sends the other counters and a note.  Returns 0, or -1 on failure.
 */
static int send_recorded_sites(struct ag_alloc_sender *t, int rc, uint32_t flags)
{
	if (rc != 0 && (t->jvm->stopping || !(flags & WIRE_ALLOC_LIVE)))
		return -1;
	if (ag_alloc_send_begun(t) != 0 || (rc != 0 && send_not_live(t, &flags) != 0) ||
	    ag_alloc_send_sites(t) != 0 || send_recorded_notes(t) != 0)
		return -1;
	return ag_alloc_send_end(t, WIRE_ALLOCED_ON, JVMTI_ERROR_NONE, flags);
}

static int send_recorded(struct ag_alloc_sender *t, const struct request *request)
{
	struct ag_turn turn;
	int rc = ag_recording_enter(t->jvm, &turn);
	uint32_t flags;

	if (rc < 0)
		return -1;
	if (rc == 0)
		return ag_alloc_send_end(t, WIRE_ALLOCED_NOTHING, JVMTI_ERROR_NONE, 0);
	t->profile = turn.profile;
	flags = turn.flags;
	if (!(request->wanted.flags & WIRE_ALLOC_LIVE))
		flags &= ~WIRE_ALLOC_LIVE;
	rc = ag_alloc_profile_peek(&turn.jvm, turn.profile, flags & WIRE_ALLOC_LIVE);
	leave(t, &turn);
	return send_recorded_sites(t, rc, flags);
}

static int run_capable(struct ag_jvm *jvm, struct ag_chan *chan, const struct request *request)
{
	const jvmtiCapabilities reading = {
		.can_get_line_numbers = 1, .can_get_source_file_name = 1,
	};
	struct ag_alloc_sender t = { .jvm = jvm, .chan = chan };
	int rc = -1;

	if (AG_JVMTI(jvm, AddCapabilities, &reading) != 0)
		return -1;
	if (ag_frames_init(jvm, &t.frames, FRAMES_MAX) == 0)
		rc = request->wanted.flags & WIRE_ALLOC_RECORDED ? send_recorded(&t, request) :
								   run(&t, request);
	ag_frames_release(jvm, &t.frames);
	(void)AG_JVMTI(jvm, RelinquishCapabilities, &reading); /* AG_JVMTI records an error */
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

/*
 * Does nothing: the profile ended before this ALLOC_STOP arrived, and the client had not received
 * ALLOC_END when it sent the frame.  In all other cases, read_stop() reads the frame.
 */
int ag_cmd_alloc_stop(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r)
{
	(void)jvm, (void)chan, (void)r;
	return 0;
}
