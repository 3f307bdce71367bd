/* The command classes: lists loaded classes with their loader, module, kind and source. */
#include <string.h>

#include "cmd/class/class_index.h"
#include "render/limit.h"
#include "render/table.h"

struct classes_opts {
	const char *loader, *columns;
	int kind;
	unsigned limit;
};

static const char *const kinds[] = { "any",	"class",      "interface", "array",  "enum",
				     "record",	"annotation", "hidden",    "lambda", NULL };

#define AT(member) offsetof(struct classes_opts, member)

static const struct opt classes_rows[] = {
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	{ 0, "kind", OPT_CHOICE, AT(kind), "KIND", "only classes of this kind", kinds },
	{ 'o', NULL, OPT_TEXT, AT(columns), "COL,...", "show these columns, in this order", NULL },
	OPT_LIMIT_ROW(AT(limit), "20"),
	OPT_END,
};

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_MODULE, COLUMN_KIND, COLUMN_SOURCE, COLUMN_MODIFIERS };

static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", CELL_TEXT, false },
	[COLUMN_LOADER] = { "LOADER", "loader", CELL_TEXT, false },
	[COLUMN_MODULE] = { "MODULE", "module", CELL_TEXT, false },
	[COLUMN_KIND] = { "KIND", "kind", CELL_TEXT, false },
	[COLUMN_SOURCE] = { "SOURCE", "source", CELL_TEXT, false },
	[COLUMN_MODIFIERS] = { "MODIFIERS", "modifiers", CELL_TEXT, true },
};

static void add_row(struct table *t, const struct class_origins *origins,
		    const struct class_row *row)
{
	char modifiers[96];

	table_row(t);
	table_text(t, COLUMN_CLASS, row->name);
	table_text(t, COLUMN_LOADER, class_origins_loader(origins, row->loader));
	table_text(t, COLUMN_MODULE, class_origins_module(origins, row->module));
	table_text(t, COLUMN_KIND, class_kind(row));
	table_text(t, COLUMN_SOURCE, class_origins_source(origins, row->source));
	table_text(t, COLUMN_MODIFIERS, class_modifiers(row, modifiers, sizeof(modifiers)));
}

static void show(const struct ctx *ctx, const struct classes *c, struct table *t)
{
	const struct classes_opts *opts = ctx->opts;
	size_t most = limit_rows(opts->limit, ctx->json, LIMIT_ROWS, SIZE_MAX), n = 0;
	_cleanup_buf_ struct buf more = BUF_INIT;

	for (size_t i = 0; i < c->n; i++) {
		if (opts->kind && strcmp(class_kind(&c->rows[i]), kinds[opts->kind]) != 0)
			continue;
		if (n++ < most)
			add_row(t, &c->origins, &c->rows[i]);
	}
	table_output(t, "classes", ctx->jvm->pid, ctx->json, ctx->out);
	limit_add_more(&more, n > most ? n - most : 0, "class", "classes");
	if (!ctx->json)
		(void)fputs(buf_str(&more), ctx->out); /* main checks ferror() */
}

/*
 * Runs the command.  Checks the columns of -o first, so that a wrong name has no effect on the JVM.
 */
static int run(struct ctx *ctx, struct err *err)
{
	const struct classes_opts *opts = ctx->opts;
	struct table *t = table_new(columns, ARRAY_SIZE(columns));
	struct class_index r;
	int rc = opts->columns ? table_select(t, opts->columns, err) : 0;

	if (rc == 0)
		rc = class_index_open(ctx, WIRE_CLASSES_SOURCES, &r, err);
	if (rc == 0) {
		rc = class_index_select_args(ctx, &r, opts->loader, err);
		if (rc == 0)
			show(ctx, &r.classes, t);
		if (class_index_close(&r, err) < 0)
			rc = -1;
	}
	table_free(t);
	return rc;
}

const struct cmd cmd_classes = {
	.name = "classes",
	.aliases = "sc",
	.synopsis = "[TARGET] [CLASS|GLOB...]",
	.summary = "list loaded classes: loader, module, kind and source",
	.examples = (const struct example[]){
		{ "classes 4711", "every loaded class" },
		{ "classes 4711 'com.acme.*'", "those that match" },
		{ NULL, NULL },
	},
	.details =
		"LOADER is a loader as in the column LOADER, its class with or without the\n"
		"package, its name, or its @HASH.\n"
		"Columns for -o: class, loader, module, kind, source, modifiers.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_all = true,
	.max_args = -1,
	.free_words = -1,
	.opts = classes_rows,
	.opts_size = sizeof(struct classes_opts),
	.run = run,
};
