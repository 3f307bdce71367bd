/*
 * restore: put classes back that redefine has replaced.
 */
#include <string.h>

#include "base/xalloc.h"
#include "cmd/patched.h"
#include "render/table.h"

struct restore_opts {
	const char *loader;
};

#define AT(member) offsetof(struct restore_opts, member)

static const struct opt restore_rows[] = {
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	OPT_END,
};

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_DIGEST };

static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", COL_TEXT, false, NULL },
	[COLUMN_LOADER] = { "LOADER", "loader", COL_TEXT, false, NULL },
	[COLUMN_DIGEST] = { "SHA256", "digest", COL_TEXT, false, NULL },
};

static void add_row(const struct patches *patches, const struct patch_row *row, void *arg)
{
	struct table *t = arg;

	table_row(t);
	table_text(t, COLUMN_CLASS, row->class);
	table_text(t, COLUMN_LOADER, places_loader(&patches->places, row->loader));
	table_text(t, COLUMN_DIGEST, row->digest);
}

static void show(const struct ctx *ctx, const struct patched_restore *restore, struct table *t)
{
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put(doc, "restored", table_json(t));
		json_print_take(doc, ctx->out);
		return;
	}
	if (restore->n == 0)
		fprintf(ctx->out, "nothing is replaced\n");
	else
		table_print(t, ctx->out);
}

/* What is named must be there; what came of the others is told first. */
static int refuse_idle(const struct patched_restore *restore, struct err *err)
{
	for (size_t i = 0; i < restore->n_words; i++) {
		if (restore->idle[i])
			return err_set(err, EXIT_ANSWER,
				       "no class '%.200s' is replaced%s; 'jtool patches' lists "
				       "those that are",
				       restore->words[i],
				       restore->loader ? " with that loader" : "");
	}
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct restore_opts *opts = ctx->opts;
	size_t n_words = (size_t)ctx->n_args;
	_cleanup_free_ bool *idle = xcalloc(n_words + 1, sizeof(*idle));
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	struct patched_restore restore = {
		.words = ctx->args, .n_words = n_words, .loader = opts->loader, .idle = idle,
		.tell = add_row, .arg = t,
	};
	int rc;

	memset(idle, true, n_words);
	rc = patched_put_back(ctx, &restore, err);
	if (rc == 0 && (restore.n > 0 || n_words == 0))
		show(ctx, &restore, t);
	table_free(t);
	return rc < 0 ? -1 : refuse_idle(&restore, err);
}

const struct cmd cmd_restore = {
	.name = "restore",
	.synopsis = "TARGET [CLASS|GLOB...]",
	.summary = "put replaced classes back, all or those named",
	.details =
		"Takes away what redefine did, and nothing else: what other agents make of the\n"
		"class stays.  In a GLOB, * stands for any characters and ? for one.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = -1,
	.free_words = -1,
	.opts = restore_rows,
	.opts_size = sizeof(struct restore_opts),
	.run = run,
};
