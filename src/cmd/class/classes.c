/*
 * classes: what classes are loaded, by whom and from where.
 */
#include <string.h>

#include "cmd/roster.h"
#include "render/table.h"

struct classes_opts {
	const char *loader, *columns;
	int kind;
};

static const char *const kinds[] = { "any",	"class",      "interface", "array",  "enum",
				     "record",	"annotation", "hidden",    "lambda", NULL };

#define AT(member) offsetof(struct classes_opts, member)

static const struct opt classes_rows[] = {
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	{ 0, "kind", OPT_CHOICE, AT(kind), "KIND", "only of this kind", kinds },
	{ 'o', NULL, OPT_TEXT, AT(columns), "COL,...", "these columns only, in this order", NULL },
	OPT_END,
};

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_MODULE, COLUMN_KIND, COLUMN_SOURCE, COLUMN_MODIFIERS };

static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", COL_TEXT, false, NULL },
	[COLUMN_LOADER] = { "LOADER", "loader", COL_TEXT, false, NULL },
	[COLUMN_MODULE] = { "MODULE", "module", COL_TEXT, false, NULL },
	[COLUMN_KIND] = { "KIND", "kind", COL_TEXT, false, NULL },
	[COLUMN_SOURCE] = { "SOURCE", "source", COL_TEXT, false, NULL },
	[COLUMN_MODIFIERS] = { "MODIFIERS", "modifiers", COL_TEXT, true, NULL },
};

static void add_row(struct table *t, const struct places *places, const struct class_row *row)
{
	char modifiers[96];

	table_row(t);
	table_text(t, COLUMN_CLASS, row->name);
	table_text(t, COLUMN_LOADER, places_loader(places, row->loader));
	table_text(t, COLUMN_MODULE, places_module(places, row->module));
	table_text(t, COLUMN_KIND, class_kind(row));
	table_text(t, COLUMN_SOURCE, places_source(places, row->source));
	table_text(t, COLUMN_MODIFIERS, class_modifiers(row, modifiers, sizeof(modifiers)));
}

static void show(const struct ctx *ctx, const struct classes *c, struct table *t)
{
	const struct classes_opts *opts = ctx->opts;

	for (size_t i = 0; i < c->n; i++) {
		if (!opts->kind || strcmp(class_kind(&c->rows[i]), kinds[opts->kind]) == 0)
			add_row(t, &c->places, &c->rows[i]);
	}
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put(doc, "classes", table_json(t));
		json_print_take(doc, ctx->out);
		return;
	}
	table_print(t, ctx->out);
}

/* The columns are looked at before the JVM is disturbed. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct classes_opts *opts = ctx->opts;
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	struct roster r;
	int rc = opts->columns ? table_select(t, opts->columns, err) : 0;

	if (rc == 0)
		rc = roster_open(ctx, WIRE_CLASSES_SOURCES, &r, err);
	if (rc == 0) {
		rc = roster_select(ctx, &r, ctx->args, (size_t)ctx->n_args, opts->loader, err);
		if (rc == 0)
			show(ctx, &r.classes, t);
		if (roster_close(&r, err) < 0)
			rc = -1;
	}
	table_free(t);
	return rc;
}

const struct cmd cmd_classes = {
	.name = "classes",
	.aliases = "sc",
	.synopsis = "TARGET [CLASS|GLOB...]",
	.summary = "loaded classes: loader, module, kind and source",
	.details =
		"All of them, or those that are named; in a GLOB, * stands for any characters\n"
		"and ? for one.  LOADER is a loader as the column says, its class with or\n"
		"without the package, its name, or its @HASH.\n"
		"Columns for -o: class, loader, module, kind, source, modifiers.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = -1,
	.free_words = -1,
	.opts = classes_rows,
	.opts_size = sizeof(struct classes_opts),
	.run = run,
};
