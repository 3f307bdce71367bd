/*
 * The command alloc: shows for each allocation site how many objects and bytes it allocates, and
 * how many of these objects are still live.
 */
#include "cmd/alloc/alloc.h"

#include <string.h>

#include "base/xalloc.h"
#include "cmd/alloc/metaspace.h"
#include "cmd/attach_call.h"
#include "cmd/cds_archive.h"
#include "cmd/class/class_index.h"
#include "cmd/cost_note.h"
#include "cmd/pause_note.h"
#include "model/class/type_name.h"

#define MEMORY (UINT64_C(64) << 20)
#define SAMPLING_SINCE 11 /* first JDK with allocation sampling (JEP 331) */
#define INTERVAL_MAX INT32_MAX /* limit of JVMTI's SetHeapSamplingInterval */

static const char *const sorts[] = { "bytes", "count", "live", "live-count", NULL };
_Static_assert(ALLOC_BY_BYTES == 0 && ALLOC_BY_COUNT == 1 && ALLOC_BY_LIVE_BYTES == 2 &&
		       ALLOC_BY_LIVE_COUNT == 3, "as in sorts");

#define AT(member) offsetof(struct alloc_opts, member)

static const struct opt alloc_rows[] = {
	OPT_GROUP("Which allocations"),
	{ 0, "interval", OPT_BYTES, AT(interval), "SIZE",
	  "mean bytes between two samples (default 512k)", NULL },
	{ 0, "exact", OPT_FLAG, AT(exact), NULL, "count every allocation; higher overhead", NULL },
	{ 0, "live", OPT_FLAG, AT(live), NULL,
	  "only objects that are still reachable at the end", NULL },
	{ 0, "age", OPT_NUMBER, AT(age), "N",
	  "only objects that survived N collections; implies --live", NULL },
	{ 0, "recorded", OPT_FLAG, AT(recorded), NULL,
	  "show the recording that runs since the start of the JVM", NULL },
	OPT_GROUP("How long, and how much memory"),
	{ 'd', "duration", OPT_SECONDS, AT(duration_ms), "TIME",
	  "end after this time (default 10s; 0: at Ctrl-C)", NULL },
	{ 0, "memory", OPT_BYTES, AT(memory), "SIZE", "memory limit of the agent (default 64m)",
	  NULL },
	OPT_GROUP("What is shown"),
	OPT_LIMIT_ROW(AT(limit), "20"),
	{ 0, "sort", OPT_CHOICE, AT(sort), "KEY",
	  "bytes, count, live or live-count (default: bytes, or live)", sorts },
	{ 0, "depth", OPT_NUMBER, AT(depth), "N", "frames of a stack (default, maximum 64)", NULL },
	OPT_GROUP("Files"),
	{ 0, "collapsed", OPT_TEXT, AT(paths[STACKFILE_COLLAPSED]), "FILE",
	  "write collapsed stacks", NULL },
	{ 0, "no-lines", OPT_FLAG, AT(no_lines), NULL, "collapsed stacks without line numbers",
	  NULL },
	{ 0, "flamegraph", OPT_TEXT, AT(paths[STACKFILE_FLAMEGRAPH]), "FILE.html",
	  "write a flame graph", NULL },
	{ 0, "pprof", OPT_TEXT, AT(paths[STACKFILE_PPROF]), "FILE.pb.gz",
	  "write a profile for go tool pprof",
	  NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace these files if they exist", NULL },
	OPT_END,
};

static const struct alloc_opts defaults = {
	.duration_ms = ALLOC_UNSET,
	.interval = ALLOC_INTERVAL_UNSET,
	.memory = MEMORY,
	.depth = WIRE_ALLOC_DEPTH,
	.sort = -1,
};

/*
 * Returns the name of an option that was given and that applies to a new profile, but not to a
 * recording; NULL if there is none.
 */
static const char *profiling_option(const struct alloc_opts *opts)
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
		return err_set(err, EXIT_USAGE, "invalid --interval: expected at least 1 byte");
	if (opts->interval > INTERVAL_MAX && opts->interval != ALLOC_INTERVAL_UNSET)
		return err_set(err, EXIT_USAGE, "invalid --interval: expected at most %d bytes",
			       INTERVAL_MAX);
	if (opts->depth == 0 || opts->depth > WIRE_ALLOC_DEPTH)
		return err_set(err, EXIT_USAGE, "invalid --depth: expected 1 to %u frames",
			       WIRE_ALLOC_DEPTH);
	if (opts->memory < ALLOC_MEMORY_MIN || opts->memory > WIRE_ALLOC_MEMORY_MAX)
		return err_set(err, EXIT_USAGE, "invalid --memory: expected %lluM to %lluM",
			       (unsigned long long)(ALLOC_MEMORY_MIN >> 20),
			       (unsigned long long)(WIRE_ALLOC_MEMORY_MAX >> 20));
	return 0;
}

static void free_globs(char **globs)
{
	for (char **glob = globs; *glob; glob++)
		free(*glob);
	free(globs);
}

/*
 * Converts a class name of the command line, such as "a.b.C", "a/b/C" or "[B", to the form of Java
 * source: "a.b.C", "byte[]".  Returns the converted name, which the caller frees; or NULL if `word`
 * begins with '[' but is not an array type.
 */
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
		return type_name_java(&name, text, strlen(text)) < 0 ? NULL : buf_take(&name);
	return TAKE_PTR(text);
}

/*
 * Converts the class names and globs of the command line to the form of Java source.  Returns them
 * as an array that ends with NULL; free it with free_globs().  Returns NULL with err set if a name
 * is invalid or there are too many.
 */
static char **make_globs(const struct ctx *ctx, struct err *err)
{
	size_t n = (size_t)ctx->n_args;
	char **globs = xcalloc(n + 1, sizeof(*globs));

	if (n > WIRE_ALLOC_GLOBS_MAX) {
		(void)err_set(err, EXIT_USAGE,
			      "too many classes: expected at most %u; a pattern such as a.b.* "
			      "selects several", WIRE_ALLOC_GLOBS_MAX);
		free(globs);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		globs[i] = *ctx->args[i] ? java_name(ctx->args[i]) : NULL;
		if (globs[i])
			continue;
		(void)err_set(err, EXIT_USAGE,
			      "invalid class '%.300s': expected a.b.C, int[] or a.b.*",
			      ctx->args[i]);
		free_globs(globs);
		return NULL;
	}
	return globs;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	const char *option = profiling_option(opts);
	char **globs;

	if (check_limits(opts, err) < 0 || stack_files_check(opts->paths, ctx->json, err) < 0)
		return -1;
	if (opts->exact && opts->interval != ALLOC_INTERVAL_UNSET)
		return err_set(err, EXIT_USAGE,
			       "--exact cannot be combined with --interval: --exact counts all "
			       "objects, --interval samples some");
	if (opts->recorded && option)
		return err_set(err, EXIT_USAGE,
			       "%s cannot be combined with --recorded: the recording runs "
			       "already", option);
	globs = make_globs(ctx, err);
	if (!globs)
		return -1;
	free_globs(globs);
	return 0;
}

static void print_cost(const struct ctx *ctx, const struct session *s)
{
	const struct alloc_opts *opts = ctx->opts;
	const struct redefinition_jvm jvm = { .release = (unsigned)jvm_feature(ctx->jvm) };
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!cost_note_is_due(ctx, s))
		return;
	/*
	 * Measured: to allocate 45 million objects takes 0.5 s if they are not tagged, and 7 s (JDK
	 * 8) or 56 s (JDK 21 and later) if each is tagged.
	 */
	if (alloc_is_live(opts))
		buf_adds(&text, "--live also tags each object, which makes allocation ten to a "
			 "hundred times slower; ");
	cost_note_add_lasting(&text, &jvm, "it");
	cmd_print_notice(ctx->cmd,
			 "counting every allocation: the JVM discards all compiled code when this "
			 "begins and ends; in between, code that allocates many objects runs "
			 "several times slower; %s", buf_str(&text));
}

static int check_release(const struct ctx *ctx, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	int release = jvm_feature(ctx->jvm);

	if (opts->exact || release == 0 || release >= SAMPLING_SINCE)
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "JDK %d cannot sample allocations: use --exact, which counts all of them",
		       release);
}

/*
 * Returns -1 with err set if --exact would harm the JVM because of one of the JVM's flags; else 0.
 * Also returns 0 if the flags cannot be read.
 */
static int check_flags(const struct ctx *ctx, struct err *err)
{
	struct vmflags flags = { 0 };
	struct err ignored = { 0 };
	int rc = 0;

	if (attach_call_flags(ctx, &flags, &ignored) == 0 &&
	    (cds_archive_refuse(ctx, &flags, err) < 0 || metaspace_refuse(ctx, &flags, err) < 0))
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
			print_cost(ctx, s);
		if (alloc_is_live(opts))
			pause_note_print(ctx, PAUSE_COLLECTION);
		rc = alloc_run(ctx, s, globs, a, err);
		free_globs(globs);
	}
	return rc;
}

/*
 * If the JVM has a recording, and no option requires a new profile, reads the recording.  Otherwise
 * runs a new profile.
 */
static int take(const struct ctx *ctx, struct alloc *a, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	const struct attach_opts attach = { .timeout_ms = ctx->timeout_ms, .steps = ctx->steps };
	struct session *s = NULL;
	int rc = 0;

	if (opts->recorded || !(profiling_option(opts) || opts->live))
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
	const char *option = profiling_option(ctx->opts);

	if (option)
		return err_set(err, EXIT_USAGE,
			       "%s applies only to a new profile: give a JVM, not a report",
			       option);
	return alloc_read(ctx->file, a, err);
}

/*
 * Returns the class names of the command line as an array that ends with NULL; free it with
 * free_globs().  If a name is the simple name of a loaded class, the array has the full name
 * instead.  Returns NULL with err set on failure.
 *
 * The list of loaded classes is requested here, before the profile, and only if there is a simple
 * name.  So a class that is loaded during the profile is not found by its simple name.
 */
static char **qualify(const struct ctx *ctx, struct err *err)
{
	char **words = xcalloc((size_t)ctx->n_args + 1, sizeof(*words));
	struct class_index index = { .session = NULL };
	int rc = 0;

	for (int i = 0; i < ctx->n_args && rc == 0; i++) {
		const char *word = ctx->args[i];

		if (ctx->jvm && type_name_is_simple(word)) {
			if (!index.session)
				rc = class_index_open(ctx, 0, &index, err);
			word = rc == 0 ? class_index_resolve(&index, word, err) : NULL;
		}
		rc = word ? 0 : -1;
		words[i] = word ? xstrdup(word) : NULL;
	}
	if (index.session && class_index_close(&index, err) < 0)
		rc = -1;
	if (rc == 0)
		return words;
	free_globs(words);
	return NULL;
}

static int run_with_files(const struct ctx *ctx, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	struct stack_files files = { .no_lines = opts->no_lines };
	struct alloc a = { 0 };
	int rc = stack_files_open(&files, opts->paths, opts->force, err);

	if (rc == 0)
		rc = ctx->file ? read_report(ctx, &a, err) : take(ctx, &a, err);
	if (a.ended && alloc_show(ctx, &a, &files, err) < 0)
		rc = -1;
	stack_files_release(&files);
	alloc_release(&a);
	return rc;
}

static int run(struct ctx *ctx, struct err *err)
{
	char **words = qualify(ctx, err);
	int rc;

	if (!words)
		return -1;
	ctx->args = words;
	rc = run_with_files(ctx, err);
	free_globs(words);
	return rc;
}

const struct cmd cmd_alloc = {
	.name = "alloc",
	.aliases = "allocations heaptracker",
	.synopsis = "TARGET|REPORT [CLASS...]",
	.summary = "find the code that allocates, and objects that stay alive",
	.examples = (const struct example[]){
		{ "alloc 4711 -d 30s", "allocation sites of 30 seconds" },
		{ "alloc 4711 --live -d 60s", "sites of objects that are still live" },
		{ "alloc 4711 -d 30s --flamegraph a.html", "as a flame graph" },
		{ NULL, NULL },
	},
	.details =
		"Samples by default (JDK 11 and later): the values are estimates, at negligible\n"
		"cost.  --exact instruments the code that allocates, and counts every object.\n"
		"CLASS is a name or a glob such as 'com.acme.*' or 'byte[]'.  Only these classes\n"
		"are shown, and with --exact only they are counted.  --live shows objects of this\n"
		"profile that are still reachable at its end.\n"
		"\n"
		"REPORT is a file written by an agent that records from the start of a JVM:\n"
		"    java -agentpath:$(jtool agent)=alloc,file=REPORT ...\n"
		"For such a JVM, TARGET shows the recording so far, unless an option asks for a\n"
		"new profile.\n",
	.need = NEED_JVM,
	.parses = true,
	.takes_file = true,
	.is_file = alloc_is_report,
	.max_args = -1,
	.free_words = -1,
	.opts = alloc_rows,
	.opts_size = sizeof(struct alloc_opts),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
