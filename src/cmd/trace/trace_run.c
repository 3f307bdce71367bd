/*
 * trace: from its request to its end.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/io.h"
#include "base/stop.h"
#include "cmd/trace.h"
#include "render/trace_json.h"
#include "render/trace_summary.h"
#include "render/trace_text.h"
#include "render/units.h"

#define TICK_MS 100
#define DRAW_MS 500
#define END_MS 60000 /* to put the classes back */

struct run {
	const struct ctx *ctx;
	const struct trace_opts *opts;
	struct trace_plan *plan;
	struct trace_stacks *stacks;
	struct trace_text text;
	struct trace_summary summary;
	struct buf out;       /* what is still to be written */
	sigset_t signals, old;
	bool live;            /* the summary is drawn on a terminal */
	bool begun, stopped;  /* it was told what is traced; TRACE_STOP was sent */
	int write_error;      /* an errno, from then on nothing is written; 0: none */
	struct deadline draw; /* the summary again */
	struct deadline end;  /* TRACE_END must have come */
};

static void flush(struct run *r)
{
	FILE *out = r->ctx->out;

	if (r->write_error == 0 && r->out.len > 0) {
		errno = 0;
		(void)fwrite(r->out.data, 1, r->out.len, out); /* ferror() knows */
		if (fflush(out) != 0 || ferror(out))
			r->write_error = errno ? errno : EIO;
	}
	buf_reset(&r->out);
}

static void show_call(const struct trace *t, const struct trace_call *call, void *arg)
{
	struct run *r = arg;

	if (trace_has_files(r->opts))
		trace_stacks_add(r->stacks, t, call);
	if (r->ctx->json)
		trace_json_add(&r->out, t, call);
	else
		trace_text_add(&r->text, &r->out, t, call);
}

/* Methods that the agent has refused, or the JVM. */
static void find_refused(const struct trace *t, struct leftout *left)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_method *m = &t->methods[i];
		const struct cf_text name = { m->name, strlen(m->name) };
		const struct cf_text descriptor = { m->descriptor, strlen(m->descriptor) };
		_cleanup_free_ char *shown = NULL;

		if (!m->refused)
			continue;
		shown = trace_plan_name(m->class, name, descriptor);
		leftout_add(left, m->refused, shown);
	}
}

static void say_begun(struct run *r)
{
	const struct trace *t = &r->plan->trace;
	struct leftout left = { 0 };

	r->begun = true;
	find_refused(t, &left);
	if (t->n_hooked > 0) /* else it is the error */
		leftout_tell(r->ctx, &left);
	leftout_release(&left);
	steps_add(r->ctx->steps, "%u methods are hooked, which took the JVM %.1f ms",
		  (unsigned)t->n_hooked, (double)t->install_ns / 1e6);
}

static int take(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct run *r = arg;
	int rc = trace_take(&r->plan->trace, type, payload, show_call, r);

	if (rc >= 0 && r->plan->trace.begun && !r->begun)
		say_begun(r);
	flush(r);
	return rc;
}

/* Nobody reads what we write any more: `head` has its lines. */
static bool is_unread(const struct run *r)
{
	struct pollfd out = { .fd = fileno(r->ctx->out) };

	return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

static bool is_ended_by_user(struct run *r)
{
	const struct timespec now = { 0, 0 };

	return sigtimedwait(&r->signals, NULL, &now) >= 0;
}

/* The agent counts calls that it tells of; those of a summary are counted here. */
static bool is_enough(const struct run *r)
{
	const struct trace *t = &r->plan->trace;
	uint64_t limit = trace_calls_limit(r->opts), n = 0;

	if (!r->opts->summary || limit == 0)
		return false;
	for (size_t i = 0; i < t->n; i++)
		n += t->methods[i].sum.calls;
	return n >= limit;
}

static int stop(struct run *r, struct session *s, struct err *err)
{
	r->stopped = true;
	r->end = deadline_in_ms(END_MS);
	/* A second signal ends us, and the agent puts the classes back by itself. */
	(void)sigprocmask(SIG_SETMASK, &r->old, NULL);
	return session_send(s, WIRE_TRACE_STOP, NULL, err);
}

static void draw(struct run *r)
{
	struct terminal terminal;

	if (!r->live || r->plan->trace.n_hooked == 0 || !deadline_passed(r->draw))
		return;
	r->draw = deadline_in_ms(DRAW_MS);
	if (!terminal_size(fileno(r->ctx->out), &terminal))
		return;
	trace_summary_draw(&r->summary, &r->out, &r->plan->trace, terminal);
	flush(r);
}

static int tick(struct session *s, void *arg, struct err *err)
{
	struct run *r = arg;

	if (r->write_error == 0 && is_unread(r))
		r->write_error = EPIPE;
	draw(r);
	if (deadline_passed(r->end))
		return err_set(err, EXIT_PARTIAL,
			       "JVM %d does not end the trace: is it stopped? the classes are put "
			       "back when it goes on", (int)r->ctx->jvm->pid);
	if (r->stopped || !(is_ended_by_user(r) || is_enough(r) || r->write_error != 0))
		return 0;
	return stop(r, s, err);
}

static void show_summary(struct run *r)
{
	const struct trace *t = &r->plan->trace;
	struct terminal terminal;

	if (!r->opts->summary || t->n_hooked == 0)
		return;
	if (r->ctx->json)
		trace_summary_add_json(&r->out, t);
	else if (r->live && terminal_size(fileno(r->ctx->out), &terminal))
		trace_summary_end(&r->summary, &r->out, t, terminal);
	else
		trace_summary_add(&r->out, t);
	flush(r);
}

static void say_count(const struct run *r, uint64_t n, const char *why)
{
	_cleanup_buf_ struct buf count = BUF_INIT;

	if (n == 0)
		return;
	units_count(&count, n);
	cmd_note(r->ctx->cmd, "%s more %s not shown: %s", buf_str(&count),
		 n == 1 ? "call was" : "calls were", why);
}

/* Which limits took effect. */
static void say_limits(const struct run *r)
{
	const struct trace *t = &r->plan->trace;
	uint64_t limit = trace_calls_limit(r->opts);
	_cleanup_buf_ struct buf text = BUF_INIT;

	trace_text_state(&text, &t->state);
	steps_add(r->ctx->steps, "%s; the hooks took %.1f ms", buf_str(&text),
		  (double)t->state.hooks_ns / 1e6);
	buf_reset(&text);
	buf_addf(&text, "more than %u a second (--rate)", r->opts->rate);
	say_count(r, t->state.too_many, buf_str(&text));
	say_count(r, t->state.no_room, "too many at once, there was no room for them");
	if (t->ended && t->end == WIRE_TRACED_COUNT && r->opts->count == TRACE_COUNT_UNSET) {
		buf_reset(&text);
		units_count(&text, limit);
		cmd_note(r->ctx->cmd, "ended after %s calls: -c sets another limit, -d one of time",
			 buf_str(&text));
	}
}

static int refuse_all(const struct run *r, struct err *err)
{
	struct leftout left = { 0 };

	find_refused(&r->plan->trace, &left);
	(void)leftout_refuse(r->ctx, &left, "no method could be hooked", err);
	leftout_release(&left);
	return -1;
}

static int judge_end(const struct run *r, struct err *err)
{
	const struct trace *t = &r->plan->trace;

	if (t->end == WIRE_TRACED_NOTHING)
		return refuse_all(r, err);
	if (t->end == WIRE_TRACED_COST)
		return err_set(err, EXIT_PARTIAL,
			       "the hooks took more than %u %% of the processors' time and were "
			       "taken out: fewer methods, --no-args, or --budget", r->opts->budget);
	if (r->write_error != 0)
		return err_set(err, EXIT_PARTIAL, "the result could not be written to stdout: %s",
			       strerror(r->write_error));
	return 0;
}

static int conclude(const struct run *r, struct err *err)
{
	const struct trace *t = &r->plan->trace;

	say_limits(r);
	if (t->code != 0)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM did not take all classes back (%s): hooks are left in "
			       "them, which do nothing any more",
			       redefinition_error(t->code));
	return judge_end(r, err);
}

static int write_files(const struct run *r, struct err *err)
{
	const struct trace *t = &r->plan->trace;

	if (!trace_has_files(r->opts) || t->n_hooked == 0)
		return 0;
	return trace_stacks_write(r->stacks, r->ctx, t, err);
}

/* What had come before the JVM went is shown, too. */
static int follow(struct run *r, struct session *s, struct err *err)
{
	int rc = trace_request(r->ctx, r->plan, s, err);

	if (rc == 0)
		rc = session_follow(s, take, tick, TICK_MS, r, err);
	show_summary(r);
	if (rc < 0) {
		struct err ignored = { .code = EXIT_DONE };

		(void)conclude(r, &ignored);
		(void)write_files(r, &ignored);
		return -1;
	}
	rc = conclude(r, err);
	return write_files(r, err) < 0 ? -1 : rc;
}

int trace_run(const struct ctx *ctx, struct trace_plan *plan, struct trace_stacks *stacks,
	      struct session *s, struct err *err)
{
	struct run r = {
		.ctx = ctx,
		.opts = ctx->opts,
		.plan = plan,
		.stacks = stacks,
		.end = IO_NO_DEADLINE,
	};
	int rc;

	r.live = r.opts->summary && !ctx->json && isatty(fileno(ctx->out));
	if (r.opts->duration_ms > 0 && r.opts->duration_ms < UINT_MAX - END_MS)
		r.end = deadline_in_ms(r.opts->duration_ms + END_MS);
	stop_signals(&r.signals);
	(void)sigprocmask(SIG_BLOCK, &r.signals, &r.old);
	rc = follow(&r, s, err);
	(void)sigprocmask(SIG_SETMASK, &r.old, NULL);
	buf_release(&r.out);
	return rc;
}
