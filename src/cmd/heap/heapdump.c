/*
 * heapdump: the JVM's own dump of its heap (HPROF), in a file of the caller's.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/hprof.h"
#include "render/json.h"

struct heapdump_opts {
	bool all, force;
	unsigned gzip; /* 0: not compressed */
};

#define AT(member) offsetof(struct heapdump_opts, member)

static const struct opt heapdump_rows[] = {
	{ 0, "all", OPT_FLAG, AT(all), NULL, "unreachable objects too, and no collection", NULL },
	{ 0, "gzip", OPT_LEVEL, AT(gzip), "LEVEL", "compressed by the JVM, 1 (default) to 9",
	  NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE when it exists", NULL },
	OPT_END,
};

static bool to_stdout(const struct ctx *ctx)
{
	return strcmp(ctx->args[0], "-") == 0;
}

static void show(const struct ctx *ctx, uint64_t size)
{
	const struct heapdump_opts *opts = ctx->opts;

	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put_text(doc, "file", ctx->args[0]);
		json_put_number(doc, "bytes", (int64_t)size);
		json_put_bool(doc, "live", !opts->all);
		json_print_take(doc, ctx->out);
		return;
	}
	if (!to_stdout(ctx))
		fprintf(ctx->out, "wrote %s: %" PRIu64 " bytes, %s objects\n", ctx->args[0], size,
			opts->all ? "all" : "live");
}

static int check(const struct ctx *ctx, struct err *err)
{
	if (ctx->json && to_stdout(ctx))
		return err_set(err, EXIT_USAGE,
			       "--json and the dump itself cannot both go to stdout");
	return 0;
}

/* The caller's file comes first: what is wrong with it must not cost the JVM a pause. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct heapdump_opts *opts = ctx->opts;
	const struct hprof_wanted wanted = { .all = opts->all, .gzip = opts->gzip };
	struct outfile out;
	uint64_t size;
	int rc;

	if (outfile_open(&out, ctx->args[0], opts->force ? OUTFILE_REPLACE : OUTFILE_NEW, 0600,
			 err) < 0)
		return -1;
	rc = hprof_take(ctx, &wanted, &out, err);
	if (rc == 0)
		rc = outfile_commit(&out, &size, err);
	if (rc == 0)
		show(ctx, size);
	outfile_release(&out);
	return rc;
}

const struct cmd cmd_heapdump = {
	.name = "heapdump",
	.synopsis = "TARGET FILE",
	.summary = "dump the heap (HPROF) to a file here",
	.details =
		"FILE is a path of yours, also when the JVM lives in a container; - is stdout.\n"
		"The JVM makes a full collection first and dumps what is reachable, unless\n"
		"--all is given; it stands still meanwhile.  An existing FILE is not touched\n"
		"without --force.\n",
	.need = NEED_JVM,
	.min_args = 1,
	.max_args = 1,
	.free_words = -1,
	.opts = heapdump_rows,
	.opts_size = sizeof(struct heapdump_opts),
	.check = check,
	.run = run,
};
