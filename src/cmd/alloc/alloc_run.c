/*
 * alloc: a profile from its request to its end.
 */
#include <inttypes.h>
#include <string.h>

#include "base/io.h"
#include "base/progress.h"
#include "base/stop.h"
#include "cmd/alloc.h"
#include "cmd/recorded.h"
#include "render/units.h"

#define TICK_MS 100
#define BEGIN_MS 600000    /* to instrument all of a large application */
#define END_MS 120000      /* to take that back */
#define END_LIVE_MS 600000 /* and collect a large heap */
#define NS_PER_MS 1000000
#define MS_PER_S 1000
#define HEAD_ROOM 44       /* of ALLOC, before its texts */
#define NOT_AVAILABLE 98   /* JVMTI_ERROR_NOT_AVAILABLE */

struct run {
	const struct ctx *ctx;
	const struct alloc_opts *opts;
	struct alloc *alloc;
	sigset_t signals, old;
	struct progress line;
	bool begun, stopped;  /* it was told that it has begun; ALLOC_STOP was sent */
	bool too_early;       /* ALLOC_STOP was first */
	int64_t begin_ns;
	struct deadline end;  /* it must have begun, or ended */
};

static unsigned duration_ms(const struct alloc_opts *opts)
{
	return opts->duration_ms == ALLOC_UNSET ? ALLOC_DURATION_MS : opts->duration_ms;
}

/* 0: the agent's to choose, so that there are enough objects to follow and not too many. */
static uint64_t interval(const struct alloc_opts *opts)
{
	if (opts->interval != ALLOC_INTERVAL_UNSET)
		return opts->interval;
	return opts->exact || alloc_is_live(opts) ? 0 : WIRE_ALLOC_INTERVAL;
}

int alloc_request(const struct ctx *ctx, struct session *s, uint32_t flags, char *const *globs,
		  struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf payload = BUF_INIT;
	size_t room = HEAD_ROOM;
	struct wire_writer w;
	uint32_t n = 0;

	for (; globs && globs[n]; n++)
		room += 4 + strlen(globs[n]);
	w = wire_writer_init(buf_reserve(&payload, room), room);
	wire_put_u32(&w, flags);
	wire_put_u64(&w, (uint64_t)duration_ms(opts) * NS_PER_MS);
	wire_put_u64(&w, interval(opts));
	wire_put_u32(&w, opts->depth);
	wire_put_u64(&w, opts->memory);
	wire_put_u32(&w, opts->age);
	wire_put_u32(&w, n);
	for (uint32_t i = 0; i < n; i++)
		wire_put_text(&w, globs[i], strlen(globs[i]));
	return session_send(s, WIRE_ALLOC, &w, err);
}

static struct deadline end_in_ms(const struct run *r, unsigned ms)
{
	unsigned end_ms = alloc_is_live(r->opts) ? END_LIVE_MS : END_MS;

	return ms < UINT_MAX - end_ms ? deadline_in_ms(ms + end_ms) : IO_NO_DEADLINE;
}

static void say_begun(struct run *r)
{
	unsigned ms = duration_ms(r->opts);

	r->begun = true;
	r->begin_ns = io_now_ns();
	if (!r->stopped)
		r->end = ms > 0 ? end_in_ms(r, ms) : IO_NO_DEADLINE;
	steps_add(r->ctx->steps, "begun, which took the JVM %.1f ms",
		  (double)r->alloc->begin_ns / 1e6);
	if (r->opts->exact)
		steps_add(r->ctx->steps, "%" PRIu32 " classes count their arrays, %" PRIu32
			  " do not", r->alloc->hooked, r->alloc->refused);
}

static int take(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct run *r = arg;
	int rc = alloc_take(r->alloc, type, payload);

	if (rc >= 0 && r->alloc->begun && !r->begun)
		say_begun(r);
	return rc;
}

static void add_state(struct buf *out, const struct run *r)
{
	const struct alloc_state *state = &r->alloc->state;

	units_bytes(out, state->bytes > INT64_MAX ? INT64_MAX : (int64_t)state->bytes);
	buf_adds(out, ", ");
	units_count(out, state->samples);
	buf_adds(out, r->opts->exact ? " objects" : " samples");
}

/* Has it gone on for as long as it was to? */
static bool is_over(const struct run *r)
{
	int64_t ms = duration_ms(r->opts);

	return ms > 0 && deadline_passed((struct deadline){ r->begin_ns + ms * NS_PER_MS });
}

static void draw(struct run *r)
{
	_cleanup_buf_ struct buf state = BUF_INIT;
	unsigned seconds = duration_ms(r->opts) / MS_PER_S;
	int64_t gone;

	if (!progress_due(&r->line))
		return;
	if (!r->begun) {
		progress_tell(&r->line, "beginning");
		return;
	}
	if (r->stopped || is_over(r)) {
		progress_tell(&r->line, alloc_is_live(r->opts) ? "finding out what is alive" :
								"ending");
		return;
	}
	add_state(&state, r);
	gone = (io_now_ns() - r->begin_ns) / NS_PER_MS / MS_PER_S;
	if (seconds > 0)
		progress_tell(&r->line, "%" PRId64 " of %u s: %s (Ctrl-C ends it)", gone, seconds,
			      buf_str(&state));
	else
		progress_tell(&r->line, "%" PRId64 " s: %s (Ctrl-C ends it)", gone,
			      buf_str(&state));
}

static bool is_ended_by_user(struct run *r)
{
	const struct timespec now = { 0, 0 };

	return sigtimedwait(&r->signals, NULL, &now) >= 0;
}

static int stop(struct run *r, struct session *s, struct err *err)
{
	r->stopped = true;
	r->too_early = !r->begun;
	r->end = end_in_ms(r, 0);
	/* A second signal ends us, and the agent undoes everything by itself. */
	(void)sigprocmask(SIG_SETMASK, &r->old, NULL);
	return session_send(s, WIRE_ALLOC_STOP, NULL, err);
}

static int tick(struct session *s, void *arg, struct err *err)
{
	struct run *r = arg;

	draw(r);
	if (deadline_passed(r->end))
		return err_set(err, EXIT_PARTIAL,
			       "JVM %d does not %s the profile: is it stopped? everything is "
			       "undone when it goes on", (int)r->ctx->jvm->pid,
			       r->begun ? "end" : "begin");
	return !r->stopped && is_ended_by_user(r) ? stop(r, s, err) : 0;
}

/*
 * Only one agent at a time can have samples: the JVM's rule, which it does not say.  Debian's
 * async-profiler was seen to keep the capability when it has stopped.
 */
static void explain(const struct run *r, const struct session *s, struct err *err)
{
	int pid = (int)r->ctx->jvm->pid;

	if (r->opts->exact || session_code(s) != NOT_AVAILABLE || err->code != EXIT_ANSWER)
		return;
	*err = (struct err){ .code = EXIT_DONE };
	if (recorded_is_on(r->ctx))
		(void)err_set(err, EXIT_ANSWER,
			      "JVM %d was started to have its allocations sampled, and only one "
			      "agent can: --recorded shows what that has, --exact counts without "
			      "samples", pid);
	else
		(void)err_set(err, EXIT_ANSWER,
			      "another agent or another jtool alloc samples the allocations of JVM "
			      "%d, and only one can: wait until it has ended (async-profiler's "
			      "alloc mode never does), or use --exact, which counts without "
			      "samples", pid);
}

int alloc_run(const struct ctx *ctx, struct session *s, char *const *globs, struct alloc *a,
	      struct err *err)
{
	struct run r = {
		.ctx = ctx, .opts = ctx->opts, .alloc = a, .end = deadline_in_ms(BEGIN_MS),
	};
	uint32_t flags = (r.opts->exact ? WIRE_ALLOC_EXACT : 0) |
			 (alloc_is_live(r.opts) ? WIRE_ALLOC_LIVE : 0);
	int rc;

	stop_signals(&r.signals);
	(void)sigprocmask(SIG_BLOCK, &r.signals, &r.old);
	progress_begin(&r.line);
	rc = alloc_request(ctx, s, flags, r.opts->exact ? globs : NULL, err);
	if (rc == 0)
		rc = session_follow(s, take, tick, TICK_MS, &r, err);
	progress_end(&r.line);
	(void)sigprocmask(SIG_SETMASK, &r.old, NULL);
	if (rc < 0) {
		explain(&r, s, err);
	} else if (r.too_early) {
		a->ended = false; /* nothing is to be shown */
		rc = err_set(err, EXIT_PARTIAL,
			     "interrupted while it began, before anything was counted");
	}
	return rc;
}
