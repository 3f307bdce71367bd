/* trace: runs a trace from the request to the end, and shows what the agent reports. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/progress.h"
#include "cmd/follow.h"
#include "cmd/trace/trace.h"
#include "render/profile/trace_call.h"
#include "render/profile/trace_summary.h"
#include "render/units.h"

#define DRAW_MS 500
#define END_MS 60000 /* limit for the time in which the agent restores the classes */

struct run {
	const struct ctx *ctx;
	const struct trace_opts *opts;
	struct trace_plan *plan;
	struct trace_stacks *stacks;
	struct trace_text text;
	struct trace_summary summary;
	struct follow follow;
	struct buf out;       /* output that was not written to ctx->out yet */
	bool live;            /* the output is a summary that is redrawn on a terminal */
	/* errno of a write that has failed, after which nothing is written; 0: none */
	int write_error;
	struct deadline draw; /* the time of the next redrawing of the summary */
	struct progress line;
	int64_t begin_ns;     /* when the methods were instrumented, by monotonic_ns() */
	uint64_t n_shown;     /* number of calls that were printed */
};

static void flush(struct run *r)
{
	FILE *out = r->ctx->out;

	if (r->write_error == 0 && r->out.len > 0) {
		progress_end(&r->line);
		errno = 0;
		(void)fwrite(r->out.data, 1, r->out.len, out); /* ferror() reports failures */
		if (fflush(out) != 0 || ferror(out))
			r->write_error = errno ? errno : EIO;
	}
	buf_reset(&r->out);
}

static void show_call(const struct trace *t, const struct trace_call *call, void *arg)
{
	struct run *r = arg;

	r->n_shown++;
	if (trace_has_files(r->opts))
		trace_stacks_add(r->stacks, t, call);
	if (r->ctx->json)
		trace_json_add(&r->out, t, call);
	else
		trace_text_add(&r->text, &r->out, t, call);
}

static void collect_refused(const struct trace *t, struct skipped *skipped)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_method *m = &t->methods[i];
		const struct cf_text name = { m->name, strlen(m->name) };
		const struct cf_text descriptor = { m->descriptor, strlen(m->descriptor) };
		_cleanup_free_ char *shown = NULL;

		if (!m->refused)
			continue;
		shown = trace_plan_name(m->class, name, descriptor);
		skipped_add(skipped, m->refused, shown, NULL);
	}
}

static size_t count_classes(const struct trace *t)
{
	size_t n = 0;
	const char *last = NULL;

	/* The methods of a class are adjacent. */
	for (size_t i = 0; i < t->n; i++) {
		if (t->methods[i].refused || (last && strcmp(last, t->methods[i].class) == 0))
			continue;
		last = t->methods[i].class;
		n++;
	}
	return n;
}

static void print_begun(const struct run *r)
{
	size_t n = r->plan->trace.n_hooked, n_classes = count_classes(&r->plan->trace);

	cmd_print_notice(r->ctx->cmd, "instrumented %zu method%s in %zu class%s", n,
			 n == 1 ? "" : "s", n_classes, n_classes == 1 ? "" : "es");
}

static void report_begun(struct run *r)
{
	const struct trace *t = &r->plan->trace;
	struct skipped skipped = { 0 };

	r->follow.begun = true;
	r->begin_ns = monotonic_ns();
	collect_refused(t, &skipped);
	if (t->n_hooked > 0) { /* if it is 0, the error that ends the trace has the reasons */
		progress_end(&r->line);
		skipped_print(r->ctx, &skipped);
		print_begun(r);
	}
	skipped_release(&skipped);
	verbose_step(r->ctx->steps, "this took the JVM %.1f ms", (double)t->install_ns / 1e6);
}

static int take(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct run *r = arg;
	int rc = trace_take(&r->plan->trace, type, payload, show_call, r);

	if (rc >= 0 && r->plan->trace.begun && !r->follow.begun)
		report_begun(r);
	flush(r);
	return rc;
}

/* Returns whether stdout is a pipe whose reader, for example `head`, has closed its end. */
static bool is_reader_gone(const struct run *r)
{
	struct pollfd out = { .fd = fileno(r->ctx->out) };

	return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/*
 * Returns whether the summary has counted as many calls as -c permits.  Without --summary, returns
 * false, because the agent itself then counts the calls and ends the trace.
 */
static bool has_reached_limit(const struct run *r)
{
	const struct trace *t = &r->plan->trace;
	uint64_t limit = trace_calls_limit(r->opts), n = 0;

	if (!r->opts->summary || limit == 0)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		if (__builtin_add_overflow(n, t->methods[i].sum.calls, &n))
			return true;
	}
	return n >= limit;
}

/* Appends what is traced: the pattern, if the user gave only one; else the number of methods. */
static void add_wanted(const struct run *r, struct buf *out)
{
	if (r->ctx->n_args == 1)
		buf_addf(out, "%.60s", r->ctx->args[0]);
	else
		buf_addf(out, "%zu methods", (size_t)r->plan->trace.n_hooked);
}

/* Draws the line "waiting for a.b.Cart.add: 0 of 2 calls after 12 s, Ctrl-C ends". */
static void draw_line(struct run *r)
{
	uint64_t limit = r->opts->count == TRACE_COUNT_UNSET ? 0 : trace_calls_limit(r->opts);
	int64_t seconds = (monotonic_ns() - r->begin_ns) / 1000000000;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!progress_due(&r->line))
		return;
	if (!r->follow.begun || r->follow.stopped) {
		progress_show(&r->line, r->follow.begun ? "ending" : "instrumenting");
		return;
	}
	buf_adds(&text, r->n_shown == 0 ? "waiting for " : "");
	add_wanted(r, &text);
	buf_adds(&text, ": ");
	units_count(&text, r->n_shown);
	if (limit > 0)
		buf_addf(&text, " of %" PRIu64, limit);
	buf_addf(&text, " call%s after %" PRId64, r->n_shown == 1 && limit == 0 ? "" : "s",
		 seconds);
	if (r->opts->duration_ms > 0)
		buf_addf(&text, " of %u", (r->opts->duration_ms + 999) / 1000);
	progress_show(&r->line, "%s s, Ctrl-C ends", buf_str(&text));
}

static void draw(struct run *r)
{
	struct terminal terminal;

	if (!r->opts->summary)
		draw_line(r);

	if (!r->live || r->plan->trace.n_hooked == 0 || !deadline_passed(r->draw))
		return;
	r->draw = deadline_in_ms(DRAW_MS);
	if (!terminal_size(fileno(r->ctx->out), &terminal))
		return;
	trace_summary_draw(&r->summary, &r->out, &r->plan->trace, terminal);
	flush(r);
}

static bool tick(void *arg)
{
	struct run *r = arg;

	if (r->write_error == 0 && is_reader_gone(r))
		r->write_error = EPIPE;
	draw(r);
	return has_reached_limit(r) || r->write_error != 0;
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

static void print_hidden_count(const struct run *r, uint64_t n, const char *why)
{
	_cleanup_buf_ struct buf count = BUF_INIT;

	if (n == 0)
		return;
	units_count(&count, n);
	cmd_print_notice(r->ctx->cmd, "%s more %s not shown: %s", buf_str(&count),
			 n == 1 ? "call was" : "calls were", why);
}

/*
 * Prints a notice if no call was recorded, because an empty output could be mistaken for a failure.
 */
static void print_nothing(const struct run *r)
{
	const struct trace_state *state = &r->plan->trace.state;
	_cleanup_buf_ struct buf least = BUF_INIT;

	if (r->n_shown > 0 || state->too_many > 0 || state->no_room > 0 || r->begin_ns == 0 ||
	    r->opts->summary || r->plan->trace.n_hooked == 0)
		return;
	if (r->opts->min_ns > 0) {
		buf_adds(&least, " of at least ");
		units_nanos(&least, r->opts->min_ns);
	}
	cmd_print_notice(r->ctx->cmd, "0 calls%s in %.1f s", buf_str(&least),
			 (double)(monotonic_ns() - r->begin_ns) / 1e9);
}

/*
 * If --rate has suppressed calls, writes a last line of JSON:
 *     {"schema":1,"calls":7,"kept_back":1200,"lost":0}
 * Does not write it if -c ended the trace, because the number of suppressed calls may then include
 * calls that came after the limit was reached.
 */
static void write_kept_back(struct run *r)
{
	const struct trace_state *state = &r->plan->trace.state;

	if (!r->ctx->json || r->opts->summary || state->too_many == 0 ||
	    r->plan->trace.end == WIRE_TRACED_COUNT)
		return;
	buf_addf(&r->out,
		 "{\"schema\":1,\"calls\":%" PRIu64 ",\"kept_back\":%" PRIu64
		 ",\"lost\":%" PRIu64 "}\n", r->n_shown, state->too_many, state->no_room);
	flush(r);
}

static void print_limits(const struct run *r)
{
	const struct trace *t = &r->plan->trace;
	uint64_t limit = trace_calls_limit(r->opts);
	_cleanup_buf_ struct buf text = BUF_INIT;

	trace_text_state(&text, &t->state);
	verbose_step(r->ctx->steps, "%s; the hooks took %.1f ms", buf_str(&text),
		     (double)t->state.hooks_ns / 1e6);
	buf_reset(&text);
	buf_addf(&text, "more than %u per second (--rate)", r->opts->rate);
	print_hidden_count(r, t->state.too_many, buf_str(&text));
	print_hidden_count(r, t->state.no_room, "too many at once, the agent's buffers were full");
	if (t->ended && t->end == WIRE_TRACED_COUNT && r->opts->count == TRACE_COUNT_UNSET) {
		buf_reset(&text);
		units_count(&text, limit);
		cmd_print_notice(r->ctx->cmd,
				 "ended after %s calls: -c sets another limit, -d a time limit",
				 buf_str(&text));
	}
}

static int refuse_all(const struct run *r, struct err *err)
{
	struct skipped skipped = { 0 };

	collect_refused(&r->plan->trace, &skipped);
	(void)skipped_refuse(r->ctx, &skipped, "no method could be instrumented", err);
	skipped_release(&skipped);
	return -1;
}

static int check_end(const struct run *r, struct err *err)
{
	const struct trace *t = &r->plan->trace;

	if (t->end == WIRE_TRACED_NOTHING)
		return refuse_all(r, err);
	if (t->end == WIRE_TRACED_COST)
		return err_set(err, EXIT_PARTIAL,
			       "the hooks used more than %u %% CPU and were removed: trace fewer "
			       "methods (--summary shows which are called most), use --no-args, "
			       "or raise --budget", r->opts->budget);
	if (t->end == WIRE_TRACED_FORCED)
		return err_set(err, EXIT_PARTIAL,
			       "'jtool detach --force' has ended the trace; start it again");
	if (r->write_error != 0)
		return err_stdout(err, -r->write_error);
	return 0;
}

static int conclude(const struct run *r, struct err *err)
{
	const struct trace *t = &r->plan->trace;

	print_nothing(r);
	print_limits(r);
	if (t->code != 0)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM did not restore all classes (%s): hooks remain in them, "
			       "but do nothing; a restart removes them",
			       redefinition_error(t->code));
	return check_end(r, err);
}

static int write_files(const struct run *r, struct err *err)
{
	const struct trace *t = &r->plan->trace;

	if (!trace_has_files(r->opts) || t->n_hooked == 0)
		return 0;
	return trace_stacks_write(r->stacks, r->ctx, t, err);
}

/* Runs the trace.  If the JVM exits meanwhile, still prints the calls and writes the files. */
static int request_and_follow(struct run *r, struct session *s, struct err *err)
{
	int rc = trace_request(r->ctx, r->plan, s, err);

	if (rc == 0)
		rc = follow_run(&r->follow, s, err);
	progress_end(&r->line);
	show_summary(r);
	write_kept_back(r);
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
	};
	int rc;

	r.live = r.opts->summary && !ctx->json && isatty(fileno(ctx->out));
	r.follow = (struct follow){
		.ctx = ctx,
		.stop_request = WIRE_TRACE_STOP,
		.stop_ms = END_MS,
		.what = "trace",
		.restore = "the classes are restored",
		.take = take,
		.tick = tick,
		.arg = &r,
	};
	follow_expect_end(&r.follow, r.opts->duration_ms);
	follow_begin(&r.follow);
	if (!ctx->steps)
		progress_begin(&r.line);
	rc = request_and_follow(&r, s, err);
	follow_end(&r.follow);
	buf_release(&r.out);
	return rc;
}
