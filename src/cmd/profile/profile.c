/* The command profile: shows where a JVM spends its time, from Flight Recorder recordings. */
#include "cmd/profile/profile.h"

#include <string.h>

#include "model/jfr/profile/jfr_profile.h"

#define AT(member) offsetof(struct profile_opts, member)
#define INTERVAL_MIN_NS 1000000 /* a shorter interval would disturb the JVM */

static const struct opt profile_rows[] = {
	OPT_GROUP("What is recorded"),
	{ 'e', "event", OPT_CHOICE, AT(event), "EVENT",
	  "cpu (default), wall, lock, alloc, io or exceptions", profile_kinds },
	{ 'd', "duration", OPT_SECONDS, AT(duration_ms), "TIME",
	  "how long to record (default 30s)", NULL },
	{ 0, "interval", OPT_NANOS, AT(interval_ns), "TIME",
	  "time between samples (default 20ms), or shortest wait (1ms)", NULL },
	OPT_GROUP("What is shown"),
	OPT_LIMIT_ROW(AT(limit), "20"),
	{ 0, "threads", OPT_FLAG, AT(threads), NULL, "split by thread", NULL },
	{ 0, "depth", OPT_NUMBER, AT(depth), "N", "only the N innermost frames of a stack", NULL },
	OPT_GROUP("Files"),
	{ 0, "collapsed", OPT_TEXT, AT(paths[STACKFILE_COLLAPSED]), "FILE",
	  "write collapsed stacks", NULL },
	{ 0, "no-lines", OPT_FLAG, AT(no_lines), NULL, "collapsed stacks without line numbers",
	  NULL },
	{ 0, "flamegraph", OPT_TEXT, AT(paths[STACKFILE_FLAMEGRAPH]), "FILE.html",
	  "write a flame graph", NULL },
	{ 0, "diff", OPT_TEXT, AT(diff), "BASE",
	  "compare the flame graph with BASE: .jfr, collapsed or pprof", NULL },
	{ 0, "pprof", OPT_TEXT, AT(paths[STACKFILE_PPROF]), "FILE.pb.gz",
	  "write a profile for go tool pprof",
	  NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace these files if they exist", NULL },
	OPT_END,
};

static const struct profile_opts defaults = { .duration_ms = JFR_UNSET };

static int check(const struct ctx *ctx, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;

	if (jfr_check_duration(opts->duration_ms, err) < 0)
		return -1;
	if (opts->interval_ns > 0 && opts->interval_ns < INTERVAL_MIN_NS)
		return err_set(err, EXIT_USAGE, "invalid --interval: expected at least 1ms");
	if (opts->interval_ns > 0 &&
	    (opts->event == PROFILE_ALLOC || opts->event == PROFILE_EXCEPTIONS))
		return err_set(err, EXIT_USAGE,
			       "--interval does not apply to -e %s, whose events have no interval",
			       profile_kinds[opts->event]);
	if (opts->diff && !opts->paths[STACKFILE_FLAMEGRAPH])
		return err_set(err, EXIT_USAGE,
			       "--diff needs --flamegraph FILE.html, which shows the difference");
	return stack_files_check(opts->paths, ctx->json, err);
}

static int open_recording(const struct ctx *ctx, struct jfr_recording *rec, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;

	if (!ctx->file)
		return profile_record(ctx, rec, err);
	if (opts->duration_ms != JFR_UNSET || opts->interval_ns > 0) {
		*rec = (struct jfr_recording){ .ctx = ctx, .fd = -1 };
		return err_set(err, EXIT_USAGE,
			       "%s applies only to a new recording: give a JVM, not a file",
			       opts->duration_ms != JFR_UNSET ? "-d" : "--interval");
	}
	return jfr_recording_open(rec, ctx, 0, err);
}

int profile_read(struct jfr_recording *rec, struct profile *p, struct err *err)
{
	const struct profile_opts *opts = rec->ctx->opts;
	const struct jfr_profile_request req = {
		.kind = (enum profile_kind)opts->event,
		.by_thread = opts->threads,
		.depth = opts->depth,
	};
	struct jfr_reader *r = jfr_recording_reader(rec);
	int rc = jfr_profile_read(r, &req, p, err);

	jfr_recording_done(rec, r);
	return rc;
}

static int read_and_show(const struct ctx *ctx, struct stack_files *files, struct err *err)
{
	struct jfr_recording rec = { .ctx = ctx, .fd = -1 };
	struct profile p = { .source = NULL };
	int rc = open_recording(ctx, &rec, err);

	if (rc == 0)
		rc = profile_read(&rec, &p, err);
	if (rc == 0)
		rc = profile_show(ctx, &p, files, err);
	profile_release(&p);
	jfr_recording_close(&rec);
	return jfr_recording_result(&rec, rc, err);
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	struct profile base = { .source = NULL };
	struct stack_files files = {
		.no_lines = opts->no_lines, .before = opts->diff ? &base.tree : NULL,
	};
	int rc = stack_files_open(&files, opts->paths, opts->force, err);

	if (rc == 0 && opts->diff)
		rc = profile_read_base(ctx, &base, err);
	if (rc == 0)
		rc = read_and_show(ctx, &files, err);
	stack_files_release(&files);
	profile_release(&base);
	return rc;
}

const struct cmd cmd_profile = {
	.name = "profile",
	.synopsis = "TARGET|FILE.jfr",
	.summary = "find the code that uses CPU time, waits, allocates or throws",
	.examples = (const struct example[]){
		{ "profile 4711 -d 30s", "the hottest methods of 30 seconds" },
		{ "profile 4711 --flamegraph cpu.html", "as a flame graph" },
		{ "profile app.jfr -e lock", "waits for locks in a recording" },
		{ NULL, NULL },
	},
	.details =
		"The JVM's own Flight Recorder takes the samples: nothing is loaded into the JVM,\n"
		"and other recordings are not changed.  FILE.jfr is a recording that exists, also\n"
		"one of async-profiler.\n"
		"\n"
		"  cpu         samples of CPU time; before JDK 25, of threads that execute code\n"
		"  wall        time of threads in all states: running, waiting, blocked\n"
		"  lock        time that threads waited for locks\n"
		"  alloc       bytes allocated, by samples\n"
		"  io          time of reads and writes of files and sockets\n"
		"  exceptions  exceptions thrown\n",
	.need = NEED_JVM,
	.parses = true,
	.takes_file = true,
	.is_file = jfr_is_recording,
	.free_words = -1,
	.opts = profile_rows,
	.opts_size = sizeof(struct profile_opts),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
