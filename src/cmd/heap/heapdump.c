/* heapdump: writes the JVM's own heap dump (HPROF) to a file of the caller. */
#include <string.h>

#include "cmd/default_path.h"
#include "cmd/heap/dump_to_file.h"
#include "cmd/heap/heap_engine.h"
#include "cmd/heap/pause_note.h"
#include "render/json.h"
#include "render/units.h"

struct heapdump_opts {
	bool all, force;
	unsigned gzip; /* 0: not compressed */
	int via;       /* enum dump_via */
	int engine;    /* enum heap_engine */
	unsigned max_pause_ms;
};

static const char *const ways[] = { "auto", "fifo", "file", NULL };
_Static_assert(DUMP_VIA_AUTO == 0 && DUMP_VIA_FIFO == 1 && DUMP_VIA_FILE == 2, "as in ways");

#define AT(member) offsetof(struct heapdump_opts, member)

static const struct opt heapdump_rows[] = {
	{ 0, "all", OPT_FLAG, AT(all), NULL, "dump unreachable objects, too; no collection", NULL },
	{ 0, "gzip", OPT_LEVEL, AT(gzip), "LEVEL", "let the JVM compress, 1 (default) to 9",
	  NULL },
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

static void show(const struct ctx *ctx, const char *path, uint64_t size)
{
	const struct heapdump_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put_text(doc, "file", path);
		json_put_number(doc, "bytes", (int64_t)size);
		json_put_bool(doc, "live", !opts->all);
		heap_engine_put(HEAP_BY_HPROF, -1, doc);
		json_print_take(doc, ctx->out);
		return;
	}
	if (to_stdout(ctx))
		return;
	units_bytes(&text, (int64_t)size);
	fprintf(ctx->out, "wrote %s: %s, %s objects\n", path, buf_str(&text),
		opts->all ? "all" : "live");
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

/* Opens the caller's file first, so that the JVM is not paused if that fails. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const struct dump_wanted wanted = {
		.all = opts->all,
		.gzip = opts->gzip,
		.via = (enum dump_via)opts->via,
		.max_pause_ms = opts->max_pause_ms,
	};
	_cleanup_free_ char *name =
		ctx->n_args > 0 ? NULL :
		default_path(ctx->jvm, "heapdump", opts->gzip ? ".hprof.gz" : ".hprof");
	const char *path = name ? name : ctx->args[0];
	struct atomic_file out;
	uint64_t size;
	int rc;

	if (atomic_file_open(&out, path,
			     ATOMIC_FILE_BINARY | (opts->force ? ATOMIC_FILE_REPLACE : 0), 0600,
			     err) < 0)
		return -1;
	pause_note_print(ctx, PAUSE_DUMP);
	rc = dump_to_file(ctx, &wanted, &out, err);
	if (rc == 0)
		rc = atomic_file_commit(&out, &size, err);
	if (rc == 0)
		show(ctx, path, size);
	atomic_file_release(&out);
	return rc;
}

const struct cmd cmd_heapdump = {
	.name = "heapdump",
	.synopsis = "TARGET [FILE]",
	.summary = "dump the heap to a local HPROF file",
	.examples = (const struct example[]){
		{ "heapdump 4711", "to heapdump-NAME-PID-TIME.hprof" },
		{ "heapdump 4711 app.hprof.gz --gzip", "compressed by the JVM" },
		{ "heapdump 4711 - | ssh host retained.sh", "through a pipe" },
		{ NULL, NULL },
	},
	.details =
		"FILE is a local path, also when the JVM runs in a container; - is stdout.\n"
		"Without FILE, the name is heapdump-NAME-PID-TIME.hprof.\n"
		"The JVM runs a full collection first and dumps the reachable objects, or all\n"
		"objects with --all.  It is paused meanwhile.  An existing FILE is replaced only\n"
		"with --force.\n"
		"JDK 17 to 21 are paused until jtool has read the dump from a FIFO.  If jtool may\n"
		"use less than one CPU, the JVM writes a file instead, which jtool copies.\n",
	.need = NEED_JVM,
	.parses = true,
	.max_args = 1,
	.free_words = -1,
	.opts = heapdump_rows,
	.opts_size = sizeof(struct heapdump_opts),
	.check = check,
	.run = run,
};
