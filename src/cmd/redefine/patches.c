/*
 * patches: which classes run other code than they came with, by jtool's doing.
 */
#include "cmd/patched.h"
#include "render/table.h"

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_WHEN, COLUMN_FILE, COLUMN_DIGEST };

static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", COL_TEXT, false, NULL },
	[COLUMN_LOADER] = { "LOADER", "loader", COL_TEXT, false, NULL },
	[COLUMN_WHEN] = { "WHEN", "when", COL_TEXT, false, NULL },
	[COLUMN_FILE] = { "FILE", "file", COL_TEXT, false, NULL },
	[COLUMN_DIGEST] = { "SHA256", "digest", COL_TEXT, false, NULL },
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
		table_text(t, COLUMN_LOADER, places_loader(&patches->places, row->loader));
		table_text(t, COLUMN_WHEN, patch_when(row, when));
		table_text(t, COLUMN_FILE, row->file);
		table_text(t, COLUMN_DIGEST, row->digest);
	}
	return 0;
}

static void show(const struct ctx *ctx, struct table *t)
{
	struct json *doc;

	if (!ctx->json) {
		table_print(t, ctx->out);
		return;
	}
	doc = json_object();
	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put(doc, "patches", table_json(t));
	json_print_take(doc, ctx->out);
}

static int run(struct ctx *ctx, struct err *err)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	int rc = patched_each(ctx, PATCHED_BY_ALL, add_rows, t, err);

	if (rc == 0)
		show(ctx, t);
	table_free(t);
	return rc;
}

const struct cmd cmd_patches = {
	.name = "patches",
	.synopsis = "TARGET",
	.summary = "classes that were replaced, by which file and when",
	.details =
		"SHA256 is the class file's, as sha256sum(1) has it; restore puts them back.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.free_words = -1,
	.run = run,
};
