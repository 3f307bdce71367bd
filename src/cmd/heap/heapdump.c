/*
 * The command heapdump: writes a heap dump of a JVM to a file; or writes a redacted copy of a dump
 * file.  The dump of a JVM is written either by jtool from a snapshot, or by the JVM itself.
 */
#include <string.h>

#include "base/progress.h"
#include "cmd/default_path.h"
#include "cmd/heap/dump_input.h"
#include "cmd/heap/dump_output.h"
#include "cmd/heap/snapshot_dump.h"
#include "cmd/heap/vm_dump_file.h"
#include "cmd/heap/heap_engine.h"
#include "cmd/heap/heap_source.h"
#include "cmd/pause_note.h"
#include "render/json.h"
#include "render/units.h"

struct heapdump_opts {
	bool all, force;
	unsigned gzip; /* compression level; 0: not compressed */
	int redact;    /* enum hprof_redact */
	int via;       /* enum dump_via */
	int engine;    /* enum heap_engine */
	unsigned max_pause_ms;
};

static const char *const ways[] = { "auto", "fifo", "file", NULL };
_Static_assert(DUMP_VIA_AUTO == 0 && DUMP_VIA_FIFO == 1 && DUMP_VIA_FILE == 2, "as in ways");

static const char *const parts[] = { "strings", "all", NULL };
_Static_assert(HPROF_REDACT_STRINGS == 1 && HPROF_REDACT_ALL == 2, "as in parts");

#define AT(member) offsetof(struct heapdump_opts, member)

static const struct opt heapdump_rows[] = {
	{ 0, "all", OPT_FLAG, AT(all), NULL, "dump unreachable objects, too; no collection", NULL },
	{ 0, "redact", OPT_MODE, AT(redact), "PART",
	  "clear strings (default) or all values on the way", parts },
	{ 0, "gzip", OPT_LEVEL, AT(gzip), "LEVEL", "compress the dump, 1 (default) to 9", NULL },
	{ 0, "via", OPT_CHOICE, AT(via), "WAY",
	  "the JVM's own dump, by fifo, or by file, which jtool copies", ways },
	HEAP_ENGINE_ROW(AT(engine), "auto (default), snapshot, or hprof, the JVM's own dump"),
	{ 0, "max-pause", OPT_SECONDS, AT(max_pause_ms), "TIME",
	  "the longest pause of a snapshot (default 5); see the manual for hprof", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE if it exists", NULL },
	OPT_END,
};

static const struct heap_engine_set engines = {
	1u << HEAP_BY_AUTO | 1u << HEAP_BY_SNAPSHOT | 1u << HEAP_BY_VM | 1u << HEAP_BY_HPROF,
	"it writes no heap dump",
};

static bool to_stdout(const struct ctx *ctx)
{
	return ctx->n_args > 0 && strcmp(ctx->args[0], "-") == 0;
}

/* How the heap was read for the dump. */
struct way {
	enum heap_engine engine;
	int64_t pause_ns; /* for how long the JVM was paused; -1: unknown */
};

static const char *redacted(const struct heapdump_opts *opts)
{
	return opts->redact ? parts[opts->redact - 1] : NULL;
}

static void show_json(const struct ctx *ctx, const char *path, uint64_t size,
		      const struct way *way)
{
	const struct heapdump_opts *opts = ctx->opts;
	struct json *doc = json_object();

	json_put_known(doc, "pid", !ctx->file, ctx->file ? 0 : (uint64_t)ctx->jvm->pid);
	json_put_text(doc, "file", path);
	json_put_number(doc, "bytes", (int64_t)size);
	if (ctx->file)
		/* a dump does not record whether unreachable objects were omitted */
		json_put_null(doc, "live");
	else
		json_put_bool(doc, "live", !opts->all);
	json_put_text(doc, "redacted", redacted(opts));
	heap_engine_put(way->engine, way->pause_ns, doc);
	json_print_take(doc, ctx->out);
}

static void show(const struct ctx *ctx, const char *path, uint64_t size, const struct way *way)
{
	const struct heapdump_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (ctx->json) {
		show_json(ctx, path, size, way);
		return;
	}
	if (to_stdout(ctx))
		return;
	units_bytes(&text, (int64_t)size);
	fprintf(ctx->out, "wrote %s: %s", path, buf_str(&text));
	if (!ctx->file)
		fprintf(ctx->out, ", %s objects", opts->all ? "all" : "live");
	if (opts->redact)
		fprintf(ctx->out, ", %s cleared",
			opts->redact == HPROF_REDACT_ALL ? "all values" : "strings");
	if (way->pause_ns >= 0)
		fprintf(ctx->out, "; the JVM was paused for %.0f ms",
			(double)way->pause_ns / 1e6);
	fputc('\n', ctx->out);
}

/*
 * Returns the name of a given option that only the JVM's own dump supports; or NULL if no such
 * option was given.
 */
static const char *own_dump_option(const struct heapdump_opts *opts)
{
	return opts->all ? "--all" : opts->via != DUMP_VIA_AUTO ? "--via" : NULL;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;

	if (ctx->json && to_stdout(ctx))
		return err_json_and_stdout(err);
	if (opts->via == DUMP_VIA_FILE && opts->max_pause_ms)
		return err_set(err, EXIT_USAGE,
			       "--via file cannot be combined with --max-pause: jtool cannot end "
			       "a dump that the JVM writes to a file");
	if (opts->engine == HEAP_BY_SNAPSHOT && own_dump_option(opts))
		return err_set(err, EXIT_USAGE,
			       "--engine snapshot cannot be combined with %s: only the JVM's own "
			       "dump has it", own_dump_option(opts));
	return heap_engine_check(&engines, (enum heap_engine)opts->engine, NULL, err);
}

/* For a target that is a dump file: rejects options that need a JVM; requires --redact and FILE. */
static int check_file(const struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const char *option = opts->all		      ? "--all"
			     : opts->via		      ? "--via"
			     : opts->max_pause_ms	      ? "--max-pause"
			     : opts->engine != HEAP_BY_AUTO ? "--engine"
							      : NULL;

	if (option)
		return err_set(err, EXIT_USAGE, "%s needs a JVM, not a dump file: omit it",
			       option);
	if (!opts->redact)
		return err_set(err, EXIT_USAGE,
			       "missing --redact: a dump file is only copied to redact it");
	if (ctx->n_args == 0)
		return err_set(err, EXIT_USAGE,
			       "missing FILE: give a path for the redacted dump, or - for stdout");
	return 0;
}

/* State of copying a dump file: the output, and the progress line. */
struct copy {
	struct dump_output *output;
	struct progress line;
	uint64_t bytes;
};

static int take_copy(void *arg, uint8_t *data, size_t len, struct err *err)
{
	struct copy *copy = arg;

	copy->bytes += len;
	if (progress_due(&copy->line))
		progress_show(&copy->line, "redacting: %llu MiB",
			      (unsigned long long)copy->bytes >> 20);
	return dump_output_take(copy->output, data, len, err);
}

static int copy_file(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const struct dump_output_wanted how = { (enum hprof_redact)opts->redact, opts->gzip };
	struct copy copy = { .output = dump_output_new(out, &how) };
	int rc;

	progress_begin(&copy.line);
	rc = dump_input_read(ctx->file, take_copy, &copy, err);
	if (rc == 0 && dump_output_end(copy.output, err) < 0) {
		err_prefix(err, "%s", ctx->file);
		rc = -1;
	}
	progress_end(&copy.line);
	dump_output_free(copy.output);
	return rc;
}

/*
 * Writes the dump from a snapshot to `out`.  Returns 0; or 1 if there is no snapshot and the caller
 * shall let the JVM write its own dump instead; or -1 with err set.
 */
static int by_snapshot(const struct ctx *ctx, struct atomic_file *out, struct way *way,
		       struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const struct dump_output_wanted how = {
		.redact = (enum hprof_redact)opts->redact,
		.gzip = opts->gzip,
	};
	unsigned max_pause_ms = opts->max_pause_ms ? opts->max_pause_ms : HEAP_MAX_PAUSE_MS;
	struct err why = { .code = EXIT_DONE };
	enum dump_outcome outcome;

	if (opts->engine != HEAP_BY_SNAPSHOT &&
	    (opts->engine != HEAP_BY_AUTO || own_dump_option(opts)))
		return 1;
	/*
	 * Check for ZGC before the snapshot is tried.  Without this check, the agent would report
	 * that ZGC prevents a snapshot, but only after all preparations.
	 */
	if (opts->engine == HEAP_BY_AUTO && ctx->jvm->gc && strcmp(ctx->jvm->gc, "ZGC") == 0) {
		verbose_step(ctx->steps, "no snapshot: ZGC's heap is in shared memory; the JVM "
					 "writes its own dump");
		return 1;
	}
	outcome = snapshot_dump(ctx, max_pause_ms, &how, out, &way->pause_ns, &why);
	if (outcome == DUMP_DONE) {
		way->engine = HEAP_BY_SNAPSHOT;
		return 0;
	}
	if (outcome == DUMP_FAILED || opts->engine == HEAP_BY_SNAPSHOT)
		return err_set(err, why.code, "%s", why.text);
	way->pause_ns = -1;
	verbose_step(ctx->steps, "%s; the JVM writes its own dump", why.text);
	return 1;
}

static int dump_jvm(const struct ctx *ctx, struct atomic_file *out, struct way *way,
		    struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const struct dump_wanted wanted = {
		.all = opts->all,
		.gzip = opts->gzip,
		.redact = (enum hprof_redact)opts->redact,
		.via = (enum dump_via)opts->via,
		.max_pause_ms = opts->max_pause_ms,
	};
	int rc = by_snapshot(ctx, out, way, err);

	if (rc <= 0)
		return rc;
	pause_note_print(ctx, PAUSE_DUMP);
	return vm_dump_file(ctx, &wanted, out, err);
}

/* Runs the command.  Opens the output file first, so that the JVM is not paused if that fails. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	struct way way = { HEAP_BY_HPROF, -1 };
	_cleanup_free_ char *name =
		ctx->n_args > 0 || ctx->file ? NULL :
		default_path(ctx->jvm, "heapdump", opts->gzip ? ".hprof.gz" : ".hprof");
	const char *path = name ? name : ctx->n_args > 0 ? ctx->args[0] : NULL;
	struct atomic_file out;
	uint64_t size;
	int rc;

	if (ctx->file && check_file(ctx, err) < 0)
		return -1;
	if (atomic_file_open(&out, path,
			     ATOMIC_FILE_BINARY | (opts->force ? ATOMIC_FILE_REPLACE : 0), 0600,
			     err) < 0)
		return -1;
	rc = ctx->file ? copy_file(ctx, &out, err) : dump_jvm(ctx, &out, &way, err);
	if (rc == 0)
		rc = atomic_file_commit(&out, &size, err);
	if (rc == 0)
		show(ctx, path, size, &way);
	atomic_file_release(&out);
	return rc;
}

const struct cmd cmd_heapdump = {
	.name = "heapdump",
	.synopsis = "TARGET|FILE.hprof[.gz] [FILE]",
	.summary = "dump the heap to a local HPROF file, with or without its values",
	.examples = (const struct example[]){
		{ "heapdump 4711", "to heapdump-NAME-PID-TIME.hprof" },
		{ "heapdump 4711 app.hprof --redact", "without the contents of strings" },
		{ "heapdump 4711 - | ssh host retained.sh", "through a pipe" },
		{ NULL, NULL },
	},
	.details =
		"FILE is a local path, also when the JVM runs in a container; - is stdout.\n"
		"Without FILE, the name is heapdump-NAME-PID-TIME.hprof.\n"
		"The dump has the live objects, or all objects with --all.  An existing FILE is\n"
		"replaced only with --force.\n"
		"The dump comes from a snapshot: the JVM is paused for about 20 ms per GB of its\n"
		"memory.  Where that is not possible, as with ZGC, and with --all, the JVM writes\n"
		"its own dump, and is paused for about 1.3 s per GB of objects.\n"
		"--redact clears char[], byte[] and string constants, --redact=all every value,\n"
		"before the caller's disk has them; a dump file is copied to FILE.\n",
	.need = NEED_JVM,
	.parses = true,
	.takes_file = true,
	.max_args = 1,
	.free_words = -1,
	.opts = heapdump_rows,
	.opts_size = sizeof(struct heapdump_opts),
	.check = check,
	.run = run,
};
