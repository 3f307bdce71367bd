/*
 * alloc: which objects are made, where, how many, and what of them stays.
 */
#include "cmd/alloc.h"

#include <string.h>

#include "base/xalloc.h"
#include "cmd/answer.h"
#include "cmd/archiving.h"
#include "cmd/cost.h"
#include "cmd/metaspace.h"
#include "model/typename.h"

#define MEMORY (UINT64_C(64) << 20)
#define MEMORY_MIN (UINT64_C(1) << 20)
#define SAMPLING_SINCE 11 /* JEP 331 */
#define INTERVAL_MAX INT32_MAX /* what SetHeapSamplingInterval takes */

static const char *const sorts[] = { "bytes", "count", "live", "live-count", NULL };
_Static_assert(ALLOC_BY_BYTES == 0 && ALLOC_BY_COUNT == 1 && ALLOC_BY_LIVE_BYTES == 2 &&
		       ALLOC_BY_LIVE_COUNT == 3, "as in sorts");

#define AT(member) offsetof(struct alloc_opts, member)

static const struct opt alloc_rows[] = {
	{ 'd', "duration", OPT_SECONDS, AT(duration_ms), "SECONDS",
	  "end after so long (default 10; 0: by Ctrl-C)", NULL },
	{ 0, "interval", OPT_BYTES, AT(interval), "BYTES",
	  "a sample in so many bytes on average (default 512k)", NULL },
	{ 0, "exact", OPT_FLAG, AT(exact), NULL, "count every allocation: JDK 8, too; costs more",
	  NULL },
	{ 0, "live", OPT_FLAG, AT(live), NULL, "only what is reachable at the end, by a collection",
	  NULL },
	{ 0, "age", OPT_NUMBER, AT(age), "N", "only what N collections have left (with --live)",
	  NULL },
	{ 'n', NULL, OPT_NUMBER, AT(rows), "N", "show N sites (default: 20, in JSON all; 0: all)",
	  NULL },
	{ 0, "sort", OPT_CHOICE, AT(sort), "KEY",
	  "bytes, count, live or live-count (default: bytes, or live)", sorts },
	{ 0, "depth", OPT_NUMBER, AT(depth), "N", "frames of a stack (default and most 64)", NULL },
	{ 0, "memory", OPT_BYTES, AT(memory), "BYTES", "let the agent take so much (default 64m)",
	  NULL },
	{ 0, "collapsed", OPT_TEXT, AT(collapsed), "FILE", "write collapsed stacks", NULL },
	{ 0, "flamegraph", OPT_TEXT, AT(flamegraph), "FILE.html", "write a flame graph", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace these files when they exist", NULL },
	{ 0, "recorded", OPT_FLAG, AT(recorded), NULL,
	  "what the agent has recorded since the start of the JVM", NULL },
	OPT_END,
};

static const struct alloc_opts defaults = {
	.duration_ms = ALLOC_UNSET,
	.interval = ALLOC_INTERVAL_UNSET,
	.memory = MEMORY,
	.depth = WIRE_ALLOC_DEPTH,
	.rows = ALLOC_UNSET,
	.sort = -1,
};

/* Something that only a new profile has. */
static const char *of_a_new_one(const struct alloc_opts *opts)
{
	if (opts->duration_ms != ALLOC_UNSET)
		return "-d";
	if (opts->interval != ALLOC_INTERVAL_UNSET)
		return "--interval";
	if (opts->exact)
		return "--exact";
	if (opts->age > 0)
		return "--age";
	if (opts->depth != defaults.depth)
		return "--depth";
	return opts->memory != defaults.memory ? "--memory" : NULL;
}

static int check_limits(const struct alloc_opts *opts, struct err *err)
{
	if (opts->interval == 0)
		return err_set(err, EXIT_USAGE, "--interval: at least 1 byte");
	if (opts->interval > INTERVAL_MAX && opts->interval != ALLOC_INTERVAL_UNSET)
		return err_set(err, EXIT_USAGE, "--interval: at most %d bytes", INTERVAL_MAX);
	if (opts->depth == 0 || opts->depth > WIRE_ALLOC_DEPTH)
		return err_set(err, EXIT_USAGE, "--depth: from 1 to %u frames", WIRE_ALLOC_DEPTH);
	if (opts->memory < MEMORY_MIN || opts->memory > WIRE_ALLOC_MEMORY_MAX)
		return err_set(err, EXIT_USAGE, "--memory: from %lluM to %lluM",
			       (unsigned long long)(MEMORY_MIN >> 20),
			       (unsigned long long)(WIRE_ALLOC_MEMORY_MAX >> 20));
	return 0;
}

static int check_files(const struct ctx *ctx, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	bool collapsed = opts->collapsed && strcmp(opts->collapsed, "-") == 0;
	bool flamegraph = opts->flamegraph && strcmp(opts->flamegraph, "-") == 0;

	if (collapsed + flamegraph + ctx->json > 1)
		return err_set(err, EXIT_USAGE, "only one of %s can go to stdout",
			       !ctx->json ? "--collapsed and --flamegraph" :
			       collapsed ? "--json and --collapsed" : "--json and --flamegraph");
	return 0;
}

static void free_globs(char **globs)
{
	for (char **glob = globs; *glob; glob++)
		free(*glob);
	free(globs);
}

/* The agent knows them as Java writes them; people also have "[B" and "a/b/C" from other tools. */
static char *java_name(const char *word)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	_cleanup_free_ char *text = xstrdup(word);
	bool is_array = *word == '[';

	for (char *c = text; *c; c++) {
		if (*c == (is_array ? '.' : '/'))
			*c = is_array ? '/' : '.';
	}
	if (is_array)
		return typename_java(&name, text, strlen(text)) < 0 ? NULL : buf_take(&name);
	return TAKE_PTR(text);
}

/* The patterns behind TARGET, as Java writes classes; NULL with err set. */
static char **make_globs(const struct ctx *ctx, struct err *err)
{
	size_t n = (size_t)ctx->n_args;
	char **globs = xcalloc(n + 1, sizeof(*globs));

	if (n > WIRE_ALLOC_GLOBS_MAX) {
		(void)err_set(err, EXIT_USAGE, "too many classes: at most %u",
			      WIRE_ALLOC_GLOBS_MAX);
		free(globs);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		globs[i] = *ctx->args[i] ? java_name(ctx->args[i]) : NULL;
		if (globs[i])
			continue;
		(void)err_set(err, EXIT_USAGE,
			      "'%.300s' is no class: write a.b.C, int[] or a.b.*", ctx->args[i]);
		free_globs(globs);
		return NULL;
	}
	return globs;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	const char *wish = of_a_new_one(opts);
	char **globs;

	if (check_limits(opts, err) < 0 || check_files(ctx, err) < 0)
		return -1;
	if (opts->exact && opts->interval != ALLOC_INTERVAL_UNSET)
		return err_set(err, EXIT_USAGE,
			       "--exact counts everything: there is no --interval");
	if (opts->recorded && wish)
		return err_set(err, EXIT_USAGE,
			       "%s is about a new profile, --recorded about one that goes on",
			       wish);
	globs = make_globs(ctx, err);
	if (!globs)
		return -1;
	free_globs(globs);
	return 0;
}

/* What it takes, before it is done. */
static void say_cost(const struct ctx *ctx)
{
	const struct alloc_opts *opts = ctx->opts;
	const struct redefinition_jvm jvm = { .release = (unsigned)jvm_feature(ctx->jvm) };
	_cleanup_buf_ struct buf text = BUF_INIT;

	/* Measured: 45 million objects took 0.5 s; tagged, 7 s with JDK 8, 56 from 21 on. */
	if (alloc_is_live(opts))
		buf_adds(&text, "--live tags each of them, which makes that ten to a hundred times "
			 "slower still; ");
	cost_add_lasting(&text, &jvm, "it");
	cmd_note(ctx->cmd, "counting every allocation: the JVM compiles everything anew, when it "
		 "begins and when it ends, and runs several times slower in between where it makes "
		 "many objects; %s", buf_str(&text));
}

static int check_release(const struct ctx *ctx, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	int release = jvm_feature(ctx->jvm);

	if (opts->exact || release == 0 || release >= SAMPLING_SINCE)
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "JDK %d has no allocation sampling: use --exact, which counts all of them",
		       release);
}

/* What would harm a JVM with such flags; what it does not tell is no reason. */
static int check_flags(const struct ctx *ctx, struct err *err)
{
	struct vmflags flags = { 0 };
	struct err ignored = { 0 };
	int rc = 0;

	if (answer_flags(ctx, &flags, &ignored) == 0 &&
	    (archiving_refuse(ctx, &flags, err) < 0 || metaspace_refuse(ctx, &flags, err) < 0))
		rc = -1;
	vmflags_release(&flags);
	return rc;
}

static int run_new(const struct ctx *ctx, struct session *s, struct alloc *a, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	char **globs;
	int rc = -1;

	if (opts->exact && check_flags(ctx, err) < 0)
		return -1;
	globs = make_globs(ctx, err);
	if (globs) {
		if (opts->exact)
			say_cost(ctx);
		rc = alloc_run(ctx, s, globs, a, err);
		free_globs(globs);
	}
	return rc;
}

/* A recording comes first, unless it is clear that a new profile is wanted. */
static int take(const struct ctx *ctx, struct alloc *a, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	const struct attach_opts attach = { ctx->timeout_ms, ctx->steps };
	struct session *s = NULL;
	int rc = 0;

	if (opts->recorded || !(of_a_new_one(opts) || opts->live))
		rc = alloc_recorded(ctx, a, &s, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (check_release(ctx, err) == 0 && !s)
		s = session_open(ctx->jvm, &attach, err);
	if (!s)
		return -1;
	rc = err->code == EXIT_DONE ? run_new(ctx, s, a, err) : -1;
	return session_close(s, err) < 0 ? -1 : rc;
}

static int read_report(const struct ctx *ctx, struct alloc *a, struct err *err)
{
	const char *wish = of_a_new_one(ctx->opts);

	if (wish)
		return err_set(err, EXIT_USAGE, "%s: a report in a file has no JVM to look into",
			       wish);
	return alloc_read(ctx->file, a, err);
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	struct stackfiles files = { 0 };
	struct alloc a = { 0 };
	int rc = stackfiles_open(&files, opts->collapsed, opts->flamegraph, opts->force, err);

	if (rc == 0)
		rc = ctx->file ? read_report(ctx, &a, err) : take(ctx, &a, err);
	if (a.ended && alloc_show(ctx, &a, &files, err) < 0)
		rc = -1;
	stackfiles_release(&files);
	alloc_release(&a);
	return rc;
}

const struct cmd cmd_alloc = {
	.name = "alloc",
	.aliases = "allocations heaptracker",
	.synopsis = "TARGET|REPORT [CLASS...]",
	.summary = "where objects are made, how many, and what stays",
	.details =
		"Samples (JDK 11 and later): figures are estimates, and cost next to nothing.\n"
		"--exact counts each allocation by instrumentation.  CLASS may be a glob (a.b.*,\n"
		"'byte[]'): with --exact no others are counted, else no others are shown.\n"
		"--live shows what was made meanwhile and is still reachable at the end.\n"
		"\n"
		"REPORT is a file that the agent wrote: one that records from the start of a JVM,\n"
		"    java -agentpath:$(jtool agent)=alloc,file=REPORT ...\n"
		"Of such a JVM TARGET shows what is recorded until now, if no option is about a\n"
		"new profile.\n",
	.need = NEED_JVM,
	.takes_dump = true,
	.is_file = alloc_is_report,
	.max_args = -1,
	.free_words = -1,
	.opts = alloc_rows,
	.opts_size = sizeof(struct alloc_opts),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
