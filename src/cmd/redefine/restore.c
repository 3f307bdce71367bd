/* The command restore: reverts the classes that the command redefine has replaced. */
#include <string.h>

#include "base/xalloc.h"
#include "cmd/redefine/patch_images.h"
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
	[COLUMN_CLASS] = { "CLASS", "class", CELL_TEXT, false },
	[COLUMN_LOADER] = { "LOADER", "loader", CELL_TEXT, false },
	[COLUMN_DIGEST] = { "SHA256", "digest", CELL_TEXT, false },
};

static void add_row(const struct patches *patches, const struct patch_row *row, void *arg)
{
	struct table *t = arg;

	table_row(t);
	table_text(t, COLUMN_CLASS, row->class);
	table_text(t, COLUMN_LOADER, class_origins_loader(&patches->origins, row->loader));
	table_text(t, COLUMN_DIGEST, row->digest);
}

static void show(const struct ctx *ctx, const struct patch_images_restore *restore, struct table *t)
{
	if (restore->n == 0 && !ctx->json)
		fprintf(ctx->out, "nothing is replaced%s\n",
			restore->loader ? " with that loader" : "");
	else
		table_output(t, "restored", ctx->jvm->pid, ctx->json, ctx->out);
}

/*
 * Returns 0; or -1 with err set if a word of the command line matches no patch.  The patches that
 * the other words match are already restored.
 */
static int refuse_unmatched(const struct patch_images_restore *restore, struct err *err)
{
	for (size_t i = 0; i < restore->n_words; i++) {
		if (restore->unmatched[i])
			return err_set(err, EXIT_ANSWER,
				       "no class '%.200s' is replaced%s; 'jtool patches' lists "
				       "replaced classes", restore->words[i],
				       restore->loader ? " with that loader" : "");
	}
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct restore_opts *opts = ctx->opts;
	size_t n_words = (size_t)ctx->n_args;
	_cleanup_free_ bool *unmatched = xcalloc(n_words + 1, sizeof(*unmatched));
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	struct patch_images_restore restore = {
		.words = ctx->args,
		.n_words = n_words,
		.loader = opts->loader,
		.unmatched = unmatched,
		.report = add_row,
		.arg = t,
	};
	int rc;

	memset(unmatched, true, n_words);
	rc = patch_images_restore_selected(ctx, &restore, err);
	if (rc == 0 && (restore.n > 0 || n_words == 0))
		show(ctx, &restore, t);
	table_free(t);
	return rc < 0 ? -1 : refuse_unmatched(&restore, err);
}

const struct cmd cmd_restore = {
	.name = "restore",
	.synopsis = "TARGET [CLASS|GLOB...]",
	.summary = "restore the original code of replaced classes",
	.examples = (const struct example[]){
		{ "restore 4711", "restores every replaced class" },
		{ "restore 4711 com.acme.Cart", "restores one class" },
		{ NULL, NULL },
	},
	.details =
		"Reverts redefine and nothing else: changes by other agents are preserved.\n",
	.need = NEED_JVM,
	.parses = true,
	.takes_all = true,
	.max_args = -1,
	.free_words = -1,
	.opts = restore_rows,
	.opts_size = sizeof(struct restore_opts),
	.run = run,
};
