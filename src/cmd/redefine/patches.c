/* The command patches: lists the classes that jtool has replaced. */
#include "cmd/redefine/patch_images.h"
#include "render/table.h"

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_WHEN, COLUMN_FILE, COLUMN_DIGEST };

static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", CELL_TEXT, false },
	[COLUMN_LOADER] = { "LOADER", "loader", CELL_TEXT, false },
	[COLUMN_WHEN] = { "WHEN", "when", CELL_TEXT, false },
	[COLUMN_FILE] = { "FILE", "file", CELL_TEXT, false },
	[COLUMN_DIGEST] = { "SHA256", "digest", CELL_TEXT, false },
};

static int add_rows(struct session *s, const struct patches *patches, void *arg, struct err *err)
{
	struct table *t = arg;
	char when[PATCH_WHEN_MAX];

	(void)s, (void)err;
	for (size_t i = 0; i < patches->n; i++) {
		const struct patch_row *row = &patches->rows[i];

		table_row(t);
		table_text(t, COLUMN_CLASS, row->class);
		table_text(t, COLUMN_LOADER, class_origins_loader(&patches->origins, row->loader));
		table_text(t, COLUMN_WHEN, patch_when(row, when));
		table_text(t, COLUMN_FILE, row->file);
		table_text(t, COLUMN_DIGEST, row->digest);
	}
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	int rc = patch_images_each(ctx, PATCHED_BY_ALL, add_rows, t, err);

	if (rc == 0)
		table_output(t, "patches", ctx->jvm->pid, ctx->json, ctx->out);
	table_free(t);
	return rc;
}

const struct cmd cmd_patches = {
	.name = "patches",
	.synopsis = "[TARGET]",
	.summary = "list replaced classes, with the file and the time",
	.examples = (const struct example[]){
		{ "patches 4711", "lists what is replaced" },
		{ NULL, NULL },
	},
	.details =
		"SHA256 is that of the class file; see sha256sum(1).  'jtool restore' reverts\n"
		"patches.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_all = true,
	.free_words = -1,
	.run = run,
};
