/* alloc: runs a profile from the request to the end. */
#include <inttypes.h>
#include <string.h>

#include "base/progress.h"
#include "cmd/alloc/alloc.h"
#include "cmd/alloc_recording.h"
#include "cmd/follow.h"
#include "discover/memory_check.h"
#include "render/units.h"

#define BEGIN_MS 600000    /* limit for the agent to instrument a large application */
#define END_MS 120000      /* limit for the agent to restore the classes */
/* limit for the agent to restore the classes, and for the JVM to collect a large heap */
#define END_LIVE_MS 600000
#define NS_PER_MS 1000000
#define MS_PER_S 1000
#define HEAD_SIZE 44       /* bytes of the request ALLOC before its class patterns */
#define NOT_AVAILABLE 98   /* JVMTI_ERROR_NOT_AVAILABLE */

struct run {
	const struct ctx *ctx;
	const struct alloc_opts *opts;
	struct alloc *alloc;
	struct follow follow;
	struct progress line;
	int64_t begin_ns;
};

static unsigned duration_ms(const struct alloc_opts *opts)
{
	return opts->duration_ms == ALLOC_UNSET ? ALLOC_DURATION_MS : opts->duration_ms;
}

/*
 * Returns the sampling interval in bytes.  0 means that the agent counts all objects (--exact), or
 * chooses the interval and adapts it to the number of live objects.
 */
static uint64_t interval(const struct alloc_opts *opts)
{
	if (opts->interval != ALLOC_INTERVAL_UNSET)
		return opts->interval;
	return opts->exact || alloc_is_live(opts) ? 0 : WIRE_ALLOC_INTERVAL;
}

/*
 * Sets *memory to the limit in bytes for the agent's memory, which is a part of the JVM's memory:
 * the value of --memory, or less if less memory is free in the JVM's control groups.  The limit is
 * at least ALLOC_MEMORY_MIN, unless --memory is smaller.
 */
static int grant_memory(const struct ctx *ctx, uint64_t *memory, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	enum memory_use use = opts->exact ? MEMORY_CHANGE_ALL : MEMORY_CHANGE;
	struct memory_room room;

	if (alloc_is_live(opts) && memory_check(ctx->jvm, MEMORY_COLLECT, NULL, err) < 0)
		return -1;
	if (memory_check(ctx->jvm, use, &room, err) < 0)
		return -1;
	*memory = opts->memory;
	if (*memory > (uint64_t)room.jvm)
		*memory = (uint64_t)room.jvm < ALLOC_MEMORY_MIN ? ALLOC_MEMORY_MIN
								: (uint64_t)room.jvm;
	return 0;
}

int alloc_request(const struct ctx *ctx, struct session *s, uint32_t flags, char *const *globs,
		  struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf payload = BUF_INIT;
	size_t size = HEAD_SIZE;
	struct wire_writer w;
	uint64_t memory;
	uint32_t n = 0;

	if (grant_memory(ctx, &memory, err) < 0)
		return -1;
	for (; globs && globs[n]; n++)
		size += 4 + strlen(globs[n]);
	w = wire_writer_init(buf_reserve(&payload, size), size);
	wire_put_u32(&w, flags);
	wire_put_u64(&w, (uint64_t)duration_ms(opts) * NS_PER_MS);
	wire_put_u64(&w, interval(opts));
	wire_put_u32(&w, opts->depth);
	wire_put_u64(&w, memory);
	wire_put_u32(&w, opts->age);
	wire_put_u32(&w, n);
	for (uint32_t i = 0; i < n; i++)
		wire_put_text(&w, globs[i], strlen(globs[i]));
	return session_send(s, WIRE_ALLOC, &w, err);
}

static void report_begun(struct run *r)
{
	r->follow.begun = true;
	r->begin_ns = monotonic_ns();
	if (!r->follow.stopped)
		follow_expect_end(&r->follow, duration_ms(r->opts));
	verbose_step(r->ctx->steps, "the profile has begun, which took the JVM %.1f ms",
		     (double)r->alloc->begin_ns / 1e6);
	if (r->opts->exact)
		verbose_step(r->ctx->steps,
			     "%" PRIu32 " classes count their arrays, %" PRIu32 " do not",
			     r->alloc->hooked, r->alloc->refused);
}

static int take(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct run *r = arg;
	int rc = alloc_take(r->alloc, type, payload);

	if (rc >= 0 && r->alloc->begun && !r->follow.begun)
		report_begun(r);
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
	if (!r->follow.begun) {
		progress_show(&r->line, "beginning");
		return;
	}
	if (r->follow.stopped || is_over(r)) {
		progress_show(&r->line, alloc_is_live(r->opts) ? "looking for live objects" :
								"ending");
		return;
	}
	add_state(&state, r);
	gone = (monotonic_ns() - r->begin_ns) / NS_PER_MS / MS_PER_S;
	if (seconds > 0)
		progress_show(&r->line, "%" PRId64 " of %u s: %s (Ctrl-C ends early)", gone,
			      seconds, buf_str(&state));
	else
		progress_show(&r->line, "%" PRId64 " s: %s (Ctrl-C ends)", gone,
			      buf_str(&state));
}

static bool tick(void *arg)
{
	draw(arg);
	return false;
}

/*
 * Replaces an error of the agent with the code NOT_AVAILABLE by an explanation: HotSpot gives the
 * sampling capability to only one agent at a time.  In tests, Debian's async-profiler still had the
 * capability after it was stopped.
 */
static void explain(const struct run *r, const struct session *s, struct err *err)
{
	int pid = (int)r->ctx->jvm->pid;

	if (r->opts->exact || session_jvmti_error(s) != NOT_AVAILABLE || err->code != EXIT_ANSWER)
		return;
	*err = (struct err){ .code = EXIT_DONE };
	if (alloc_recording_is_on(r->ctx))
		(void)err_set(err, EXIT_ANSWER,
			      "JVM %d has recorded allocation samples since its start, and only "
			      "one agent can sample: --recorded shows that recording, --exact "
			      "counts without sampling", pid);
	else
		(void)err_set(err, EXIT_ANSWER,
			      "another agent or another jtool alloc samples the allocations of JVM "
			      "%d, and only one can: wait for it to end (async-profiler's alloc "
			      "mode never does), or use --exact, which counts without sampling",
			      pid);
}

int alloc_run(const struct ctx *ctx, struct session *s, char *const *globs, struct alloc *a,
	      struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	bool live = alloc_is_live(opts);
	uint32_t flags = (opts->exact ? WIRE_ALLOC_EXACT : 0) | (live ? WIRE_ALLOC_LIVE : 0);
	struct run r = { .ctx = ctx, .opts = opts, .alloc = a };
	int rc;

	r.follow = (struct follow){
		.ctx = ctx,
		.stop_request = WIRE_ALLOC_STOP,
		.stop_ms = live ? END_LIVE_MS : END_MS,
		.what = "profile",
		.restore = "everything is restored",
		.take = take,
		.tick = tick,
		.arg = &r,
		.end = deadline_in_ms(BEGIN_MS),
	};
	follow_begin(&r.follow);
	progress_begin(&r.line);
	rc = alloc_request(ctx, s, flags, opts->exact ? globs : NULL, err);
	if (rc == 0)
		rc = follow_run(&r.follow, s, err);
	progress_end(&r.line);
	follow_end(&r.follow);
	if (rc < 0) {
		explain(&r, s, err);
	} else if (r.follow.stopped_early) {
		a->ended = false; /* so that no result is shown */
		rc = err_set(err, EXIT_PARTIAL,
			     "interrupted before any allocation was counted; let it run longer");
	}
	return rc;
}
