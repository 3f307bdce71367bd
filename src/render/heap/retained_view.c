#include "render/heap/retained_view.h"

#include <inttypes.h>

#include "render/histo/histo_table.h"
#include "render/units.h"

enum { NAME, LOADER, INSTANCES, SHALLOW, RETAINED, SHARE };

double retained_percent(uint64_t bytes, uint64_t total)
{
	return total > 0 ? 100.0 * (double)bytes / (double)total : 0;
}

static void set_sum(struct table *t, const struct graph_sum *sum, uint64_t total)
{
	table_unsigned(t, INSTANCES, sum->instances);
	table_unsigned(t, SHALLOW, sum->shallow);
	table_unsigned(t, RETAINED, sum->retained);
	table_real(t, SHARE, retained_percent(sum->retained, total));
}

/* Returns a table of the rows, without the total.  The caller frees it. */
static struct table *rows_table(const struct retained_view *view)
{
	static const char *const names[] = {
		[HISTO_CLASS] = "CLASS", [HISTO_PACKAGE] = "PACKAGE", [HISTO_LOADER] = "LOADER",
	};
	const struct column columns[] = {
		[NAME] = { names[view->by], "class", CELL_TEXT, true },
		[LOADER] = { "LOADER", "loader", CELL_TEXT, true },
		[INSTANCES] = { "INSTANCES", "instances", CELL_NUMBER, false },
		[SHALLOW] = { "SHALLOW", "shallow", CELL_BYTES, false },
		[RETAINED] = { "RETAINED", "retained", CELL_BYTES, false },
		[SHARE] = { "%", NULL, CELL_REAL, false },
	};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < view->n_rows; i++) {
		const struct retained_row *row = &view->rows->rows[i];

		table_row(t);
		table_text(t, NAME, row->name);
		table_text(t, LOADER, row->loader);
		set_sum(t, &row->sum, view->tree->total);
	}
	return t;
}

void retained_print_rows(const struct retained_view *view, FILE *out)
{
	const uint64_t total = view->tree->total;
	_cleanup_buf_ struct buf more = BUF_INIT;
	struct table *t = rows_table(view);

	table_show(t, NAME);
	if (view->by == HISTO_CLASS && table_first_duplicate(t, NAME) < view->n_rows)
		table_show(t, LOADER);
	table_total(t);
	table_text(t, NAME, "total");
	table_text(t, LOADER, "");
	set_sum(t, &(struct graph_sum){ view->rows->instances, total, total }, total);
	table_print(t, out);
	histo_add_more(&more, view->by, view->rows->n - view->n_rows);
	(void)fputs(buf_str(&more), out);
	table_free(t);
}

static void print_count(const char *what, const char *by, uint64_t n, uint64_t bytes, FILE *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "%s%s: %" PRIu64 " object%s, ", what, by, n, n == 1 ? "" : "s");
	units_bytes(&text, (int64_t)bytes);
	buf_addc(&text, '\n');
	(void)fputs(buf_str(&text), out); /* main.c checks ferror() */
}

void retained_print_held(const struct retained_view *view, FILE *out)
{
	static const char *const by[HEAP_STREAM_STRENGTHS] = {
		[HEAP_STREAM_SOFT] = "soft references",
		[HEAP_STREAM_WEAK] = "weak references",
		[HEAP_STREAM_FINAL] = "finalizers",
		[HEAP_STREAM_PHANTOM] = "phantom references",
	};

	for (size_t i = 0; i < HEAP_STREAM_STRENGTHS; i++) {
		uint64_t n = view->tree->held[i].n, bytes = view->tree->held[i].bytes;

		if (n > 0)
			print_count("of these, reachable only through ", by[i], n, bytes, out);
	}
	if (view->unreached && view->unreached->instances > 0)
		print_count("not included, unreachable", "", view->unreached->instances,
			    view->unreached->shallow, out);
}

static struct json *count_json(uint64_t instances, uint64_t bytes)
{
	struct json *json = json_object();

	json_put_unsigned(json, "instances", instances);
	json_put_unsigned(json, "bytes", bytes);
	return json;
}

static struct json *held_json(const struct dominators *tree)
{
	struct json *json = json_object();

	for (uint32_t i = 0; i < HEAP_STREAM_STRENGTHS; i++)
		json_put(json, heap_strength(i), count_json(tree->held[i].n, tree->held[i].bytes));
	return json;
}

void retained_put(const struct retained_view *view, struct json *doc)
{
	const struct graph_sum *unreached = view->unreached;
	struct table *t = rows_table(view);

	json_put(doc, "classes", table_json(t));
	json_put(doc, "total", count_json(view->rows->instances, view->tree->total));
	json_put(doc, "held", held_json(view->tree));
	json_put(doc, "unreachable",
		 unreached ? count_json(unreached->instances, unreached->shallow) : NULL);
	if (view->top)
		retained_put_tree(view, doc);
	if (view->suspects)
		retained_put_suspects(view, doc);
	table_free(t);
}
