/* heapdump: writes the JVM's own heap dump (HPROF), or a redacted copy of one, to a file. */
#include <string.h>

#include "base/progress.h"
#include "cmd/default_path.h"
#include "cmd/heap/dump_file.h"
#include "cmd/heap/dump_sink.h"
#include "cmd/heap/dump_to_file.h"
#include "cmd/heap/heap_engine.h"
#include "cmd/heap/pause_note.h"
#include "render/json.h"
#include "render/units.h"

struct heapdump_opts {
	bool all, force;
	unsigned gzip; /* 0: not compressed */
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
	{ 0, "gzip", OPT_LEVEL, AT(gzip), "LEVEL",
	  "let the JVM compress, or jtool with --redact, 1 (default) to 9", NULL },
	{ 0, "via", OPT_CHOICE, AT(via), "WAY",
	  "fifo; or file, which the JVM writes and jtool copies (default: auto)", ways },
	HEAP_ENGINE_ROW(AT(engine), "auto (default) or hprof, the JVM's own dump"),
	{ 0, "max-pause", OPT_SECONDS, AT(max_pause_ms), "TIME",
	  "JDK 17 to 21: end the dump when it has paused the JVM for longer", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE if it exists", NULL },
	OPT_END,
};

static const struct heap_engine_set engines = {
	1u << HEAP_BY_AUTO | 1u << HEAP_BY_HPROF, "it writes no heap dump",
};

static bool to_stdout(const struct ctx *ctx)
{
	return ctx->n_args > 0 && strcmp(ctx->args[0], "-") == 0;
}

static const char *redacted(const struct heapdump_opts *opts)
{
	return opts->redact ? parts[opts->redact - 1] : NULL;
}

static void show_json(const struct ctx *ctx, const char *path, uint64_t size)
{
	const struct heapdump_opts *opts = ctx->opts;
	struct json *doc = json_object();

	json_put_known(doc, "pid", !ctx->file, ctx->file ? 0 : (uint64_t)ctx->jvm->pid);
	json_put_text(doc, "file", path);
	json_put_number(doc, "bytes", (int64_t)size);
	if (ctx->file)
		json_put_null(doc, "live"); /* not known */
	else
		json_put_bool(doc, "live", !opts->all);
	json_put_text(doc, "redacted", redacted(opts));
	heap_engine_put(HEAP_BY_HPROF, -1, doc);
	json_print_take(doc, ctx->out);
}

static void show(const struct ctx *ctx, const char *path, uint64_t size)
{
	const struct heapdump_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (ctx->json) {
		show_json(ctx, path, size);
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
	fputc('\n', ctx->out);
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;

	if (ctx->json && to_stdout(ctx))
		return err_set(err, EXIT_USAGE,
			       "--json and - exclude each other: both write to stdout");
	if (opts->via == DUMP_VIA_FILE && opts->max_pause_ms)
		return err_set(err, EXIT_USAGE,
			       "--via file and --max-pause exclude each other: a JVM that writes a "
			       "file cannot be stopped");
	return heap_engine_check(&engines, (enum heap_engine)opts->engine, NULL, err);
}

/* Refuses what needs a JVM, if the target is a dump file. */
static int check_file(const struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const char *option = opts->all		      ? "--all"
			     : opts->via		      ? "--via"
			     : opts->max_pause_ms	      ? "--max-pause"
			     : opts->engine != HEAP_BY_AUTO ? "--engine"
							      : NULL;

	if (option)
		return err_set(err, EXIT_USAGE, "%s needs a JVM, not a dump file: leave it out",
			       option);
	if (!opts->redact)
		return err_set(err, EXIT_USAGE,
			       "missing --redact: a dump file is only copied to redact it");
	if (ctx->n_args == 0)
		return err_set(err, EXIT_USAGE,
			       "missing FILE: give a path for the redacted dump, or - for stdout");
	return 0;
}

/* A dump file that is copied: the sink, and the progress line. */
struct copy {
	struct dump_sink *sink;
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
	return dump_sink_take(copy->sink, data, len, err);
}

static int copy_file(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const struct dump_sink_wanted how = { (enum hprof_redact)opts->redact, opts->gzip };
	struct copy copy = { .sink = dump_sink_new(out, &how) };
	int rc;

	progress_begin(&copy.line);
	rc = dump_file_read(ctx->file, take_copy, &copy, err);
	if (rc == 0 && dump_sink_end(copy.sink, err) < 0) {
		err_prefix(err, "%s", ctx->file);
		rc = -1;
	}
	progress_end(&copy.line);
	dump_sink_free(copy.sink);
	return rc;
}

static int dump_jvm(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const struct dump_wanted wanted = {
		.all = opts->all,
		.gzip = opts->gzip,
		.redact = (enum hprof_redact)opts->redact,
		.via = (enum dump_via)opts->via,
		.max_pause_ms = opts->max_pause_ms,
	};

	pause_note_print(ctx, PAUSE_DUMP);
	return dump_to_file(ctx, &wanted, out, err);
}

/* Opens the caller's file first, so that the JVM is not paused if that fails. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
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
	rc = ctx->file ? copy_file(ctx, &out, err) : dump_jvm(ctx, &out, err);
	if (rc == 0)
		rc = atomic_file_commit(&out, &size, err);
	if (rc == 0)
		show(ctx, path, size);
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
		"The JVM runs a full collection first and dumps the reachable objects, or all\n"
		"objects with --all.  It is paused meanwhile.  An existing FILE is replaced only\n"
		"with --force.\n"
		"--redact clears char[], byte[] and string constants, --redact=all every value,\n"
		"before the caller's disk has them; a dump file is copied to FILE.\n"
		"JDK 17 to 21 are paused until jtool has read the dump from a FIFO.  If jtool may\n"
		"use less than one CPU, the JVM writes a file instead, which jtool copies.\n",
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
