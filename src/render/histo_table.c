#include "render/histo_table.h"

#define XXH_INLINE_ALL
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/xalloc.h"
#include "render/table.h"

/* Do two of the rows that are shown have the same name, and do we know their loaders? */
static bool needs_loaders(const struct histo *h, size_t n)
{
	size_t size = 16;
	_cleanup_free_ const char **seen = NULL; /* each where its hash or the next free is */

	while (size < 2 * n)
		size *= 2;
	seen = xcalloc(size, sizeof(*seen));
	for (size_t i = 0; i < n; i++) {
		const char *name = h->rows[i].name;
		size_t at = XXH3_64bits(name, strlen(name)) & (size - 1);

		if (!h->rows[i].loader)
			return false;
		for (; seen[at]; at = (at + 1) & (size - 1)) {
			if (strcmp(seen[at], name) == 0)
				return true;
		}
		seen[at] = name;
	}
	return false;
}

enum { INSTANCES, BYTES, NAME, MORE };

/* A column of figures, whose heading has a '+' in front when they are differences. */
static struct column figure(const struct histo_view *view, const char *heading, const char *key)
{
	return (struct column){ heading + !view->is_diff, key, COL_NUMBER, false, NULL };
}

static void print_classes(const struct histo *h, const struct histo_view *view, FILE *out)
{
	const struct column columns[] = {
		figure(view, "+INSTANCES", "instances"),
		figure(view, "+BYTES", "bytes"),
		{ "CLASS", "class", COL_TEXT, false, NULL },
		{ "LOADER", "loader", COL_TEXT, false, NULL },
	};
	bool loaders = needs_loaders(h, view->n_rows);
	struct table *t = table_new(columns, loaders ? 4 : 3);
	_cleanup_free_ char *total =
		xasprintf(view->is_diff ? "total, %+" PRId64 " %s" : "total of %" PRId64 " %s",
			  view->total.classes, view->total.classes == 1 ? "class" : "classes");

	for (size_t i = 0; i < view->n_rows; i++) {
		const struct histo_row *row = &h->rows[i];

		table_row(t);
		table_number(t, INSTANCES, row->instances);
		table_number(t, BYTES, row->bytes);
		table_text(t, NAME, row->name);
		if (loaders)
			table_text(t, MORE, row->loader);
	}
	table_row(t);
	table_number(t, INSTANCES, view->total.instances);
	table_number(t, BYTES, view->total.bytes);
	table_text(t, NAME, total);
	if (loaders)
		table_text(t, MORE, "");
	table_print(t, out);
	table_free(t);
}

static void add_group(struct table *t, int64_t instances, int64_t bytes, int64_t classes,
		      const char *name)
{
	table_row(t);
	table_number(t, INSTANCES, instances);
	table_number(t, BYTES, bytes);
	table_number(t, NAME, classes);
	table_text(t, MORE, name);
}

static void print_groups(const struct histo *h, const struct histo_view *view, FILE *out)
{
	bool by_package = view->by == HISTO_PACKAGE;
	const struct column columns[] = {
		figure(view, "+INSTANCES", "instances"),
		figure(view, "+BYTES", "bytes"),
		figure(view, "+CLASSES", "classes"),
		{ by_package ? "PACKAGE" : "LOADER", "name", COL_TEXT, false, NULL },
	};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < view->n_rows; i++) {
		const struct histo_row *row = &h->rows[i];

		add_group(t, row->instances, row->bytes, row->classes, row->name);
	}
	add_group(t, view->total.instances, view->total.bytes, view->total.classes, "total");
	table_print(t, out);
	table_free(t);
}

void histo_print(const struct histo *h, const struct histo_view *view, FILE *out)
{
	if (view->by == HISTO_CLASS)
		print_classes(h, view, out);
	else
		print_groups(h, view, out);
}
