#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/retained.h"
#include "render/table.h"

enum { INSTANCES, SHALLOW, RETAINED, SHARE, NAME, LOADER };

static const struct column columns[][6] = {
#define FIGURES                                                      \
	{ "INSTANCES", "instances", COL_NUMBER, false, NULL },       \
	{ "SHALLOW", "shallow", COL_NUMBER, false, NULL },           \
	{ "RETAINED", "retained", COL_NUMBER, false, NULL },         \
	{ "%", "share", COL_NUMBER, false, NULL }
	[HISTO_CLASS] = {
		FIGURES,
		{ "CLASS", "class", COL_TEXT, false, NULL },
		{ "LOADER", "loader", COL_TEXT, false, NULL },
	},
	[HISTO_PACKAGE] = { FIGURES, { "PACKAGE", "class", COL_TEXT, false, NULL } },
	[HISTO_LOADER] = { FIGURES, { "LOADER", "class", COL_TEXT, false, NULL } },
#undef FIGURES
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Do two classes that are shown have the same name? */
static bool needs_loaders(const struct retained_view *view)
{
	size_t n = view->n_rows;
	_cleanup_free_ const char **names = xreallocarray(NULL, n + 1, sizeof(*names));

	if (view->by != HISTO_CLASS)
		return false;
	for (size_t i = 0; i < n; i++)
		names[i] = view->rows->rows[i].name;
	if (n > 1)
		qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(names[i - 1], names[i]) == 0)
			return true;
	}
	return false;
}

static void add_row(struct table *t, const struct graph_sum *sum, uint64_t total, const char *name)
{
	table_row(t);
	table_number(t, INSTANCES, (int64_t)sum->instances);
	table_number(t, SHALLOW, (int64_t)sum->shallow);
	table_number(t, RETAINED, (int64_t)sum->retained);
	table_real(t, SHARE, retained_percent(sum->retained, total));
	table_text(t, NAME, name);
}

void retained_print_rows(const struct retained_view *view, FILE *out)
{
	const struct graph_tree *tree = view->tree;
	const struct graph_sum all = { view->rows->instances, tree->total, tree->total };
	bool loaders = needs_loaders(view);
	struct table *t = table_new(columns[view->by], loaders ? LOADER + 1 : LOADER);

	for (size_t i = 0; i < view->n_rows; i++) {
		const struct retained_row *row = &view->rows->rows[i];

		add_row(t, &row->sum, tree->total, row->name);
		if (loaders)
			table_text(t, LOADER, row->loader);
	}
	add_row(t, &all, tree->total, "total");
	if (loaders)
		table_text(t, LOADER, "");
	table_print(t, out);
	table_free(t);
}

void retained_print_held(const struct retained_view *view, FILE *out)
{
	static const char *const by[TAPE_STRENGTHS] = {
		[TAPE_SOFT] = "soft references",
		[TAPE_WEAK] = "weak references",
		[TAPE_FINAL] = "finalizers",
		[TAPE_PHANTOM] = "phantom references",
	};

	for (size_t i = 0; i < TAPE_STRENGTHS; i++) {
		uint64_t n = view->tree->held[i].n, bytes = view->tree->held[i].bytes;

		if (n > 0)
			fprintf(out, "of these, alive only through %s: %" PRIu64
				     " object%s, %" PRIu64 " bytes\n",
				by[i], n, n == 1 ? "" : "s", bytes);
	}
	if (view->unreached && view->unreached->instances > 0)
		fprintf(out, "not among these, reachable from no root: %" PRIu64
			     " object%s, %" PRIu64 " bytes\n",
			view->unreached->instances, view->unreached->instances == 1 ? "" : "s",
			view->unreached->shallow);
}
