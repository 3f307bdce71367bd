#include "render/histo/histo_table.h"

#include <inttypes.h>

#include "base/xalloc.h"
#include "render/limit.h"

enum { NAME, LOADER, MODULE, INSTANCES, BYTES, CLASSES };

struct table *histo_table(const struct histo *h, const struct histo_view *view)
{
	static const char *const names[] = {
		[HISTO_CLASS] = "CLASS", [HISTO_PACKAGE] = "PACKAGE", [HISTO_LOADER] = "LOADER",
	};
	/* 1 skips the '+' at the start of a heading, 0 shows it */
	const size_t plain = !view->is_diff;
	const struct column columns[] = {
		[NAME] = { names[view->by], "class", CELL_TEXT, true },
		[LOADER] = { "LOADER", "loader", CELL_TEXT, true },
		[MODULE] = { "MODULE", "module", CELL_TEXT, true },
		[INSTANCES] = { &"+INSTANCES"[plain], "instances", CELL_NUMBER, true },
		[BYTES] = { &"+BYTES"[plain], "bytes", CELL_BYTES, true },
		[CLASSES] = { &"+CLASSES"[plain], NULL, CELL_NUMBER, true },
	};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < view->n_rows; i++) {
		const struct histo_row *row = &h->rows[i];

		table_row(t);
		table_text(t, NAME, row->name);
		table_text(t, LOADER, row->loader);
		table_text(t, MODULE, row->module);
		table_number(t, INSTANCES, row->instances);
		table_number(t, BYTES, row->bytes);
		table_number(t, CLASSES, row->classes);
	}
	return t;
}

/*
 * Returns true if the column of loaders must be shown, because two of the first n_rows rows have
 * the same name.  Returns false if the loader of one of these two rows, or of a row before them, is
 * unknown.
 */
static bool needs_loaders(const struct table *t, const struct histo *h, size_t n_rows)
{
	size_t twin = table_first_duplicate(t, NAME);

	for (size_t i = 0; i < n_rows && i <= twin; i++) {
		if (!h->rows[i].loader)
			return false;
	}
	return twin < n_rows;
}

static void add_total(struct table *t, const struct histo_view *view)
{
	const struct histo_total *total = &view->total;
	_cleanup_free_ char *classes =
		xasprintf(view->is_diff ? "total, %+" PRId64 " %s" : "total of %" PRId64 " %s",
			  total->classes, total->classes == 1 ? "class" : "classes");

	table_total(t);
	table_text(t, NAME, view->by == HISTO_CLASS ? classes : "total");
	table_text(t, LOADER, "");
	table_number(t, INSTANCES, total->instances);
	table_number(t, BYTES, total->bytes);
	table_number(t, CLASSES, total->classes);
}

void histo_add_more(struct buf *out, enum histo_group by, size_t n)
{
	static const struct {
		const char *one, *many;
	} names[] = {
		[HISTO_CLASS] = { "class", "classes" },
		[HISTO_PACKAGE] = { "package", "packages" },
		[HISTO_LOADER] = { "loader", "loaders" },
	};

	limit_add_more(out, n, names[by].one, names[by].many);
}

void histo_print(const struct histo *h, const struct histo_view *view, FILE *out)
{
	_cleanup_buf_ struct buf more = BUF_INIT;
	struct table *t = histo_table(h, view);
	bool by_class = view->by == HISTO_CLASS;

	table_show(t, INSTANCES);
	table_show(t, BYTES);
	if (!by_class)
		table_show(t, CLASSES);
	table_show(t, NAME);
	if (by_class && needs_loaders(t, h, view->n_rows))
		table_show(t, LOADER);
	add_total(t, view);
	table_print(t, out);
	histo_add_more(&more, view->by, h->n - view->n_rows);
	(void)fputs(buf_str(&more), out); /* main.c checks ferror() */
	table_free(t);
}
