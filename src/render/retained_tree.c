#include <inttypes.h>

#include "render/heap_object.h"
#include "render/retained.h"
#include "render/table.h"
#include "render/units.h"

#define CLASSES 3 /* of pieces that are named */

double retained_percent(uint64_t bytes, uint64_t total)
{
	return total > 0 ? 100.0 * (double)bytes / (double)total : 0;
}

/* "12030 a.b.Entry (34M)" */
static void add_piece(struct buf *out, const char *class, uint64_t n, uint64_t bytes)
{
	buf_addf(out, "%" PRIu64 " %s (", n, class);
	units_bytes(out, (int64_t)bytes);
	buf_addc(out, ')');
}

void retained_add_pieces(struct buf *out, const struct heap *h, const struct pieces *pieces,
			 const struct pieces_sum *sum)
{
	uint64_t n = sum->n, bytes = sum->bytes;

	for (size_t i = 0; i < sum->n_classes && i < CLASSES; i++) {
		const struct piece *piece = &pieces->list[sum->first + i];

		buf_adds(out, i > 0 ? ", " : "");
		add_piece(out, heap_class_name(h, piece->class), piece->n, piece->bytes);
		n -= piece->n;
		bytes -= piece->bytes;
	}
	if (n == 0)
		return;
	buf_adds(out, ", ");
	add_piece(out, n == 1 ? "other" : "others", n, bytes);
}

enum { RETAINED, SHARE, SHALLOW, OBJECT };

static const struct column columns[] = {
	{ "RETAINED", "retained", COL_NUMBER, false, NULL },
	{ "%", "share", COL_NUMBER, false, NULL },
	{ "SHALLOW", "shallow", COL_NUMBER, false, NULL },
	{ "OBJECT", "object", COL_TEXT, false, NULL },
};

/* How it is held, before what it is: it reads from the roots down. */
static void add_held_by(struct buf *out, const struct heap *h, const struct retained_entry *entry)
{
	const struct graph_root *root;

	if (entry->has_edge) {
		heap_via(h, entry->holder, &entry->edge, out);
		buf_adds(out, ": ");
		return;
	}
	if (entry->depth > 0)
		return;
	root = graph_root_of(h->graph, entry->node);
	if (root && root->kind != TAPE_ROOT_CLASS && root->kind != TAPE_ROOT_THREAD)
		buf_addf(out, "%s: ", heap_root_kind(root->kind));
}

static void add_entry(struct table *t, const struct retained_view *view,
		      const struct retained_entry *entry)
{
	const struct heap *h = view->heap;
	bool is_object = entry->node != GRAPH_NONE;
	uint64_t bytes = is_object ? view->tree->retained[entry->node] : entry->rest.bytes;
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (unsigned i = 0; i < entry->depth; i++)
		buf_adds(&text, "  ");
	table_row(t);
	table_number(t, RETAINED, (int64_t)bytes);
	table_real(t, SHARE, retained_percent(bytes, view->tree->total));
	if (is_object) {
		table_number(t, SHALLOW, (int64_t)graph_size(h->graph, entry->node));
		add_held_by(&text, h, entry);
		heap_object_name(&text, h, entry->node);
	} else {
		table_text(t, SHALLOW, "");
		buf_adds(&text, "… ");
		retained_add_pieces(&text, h, &view->top->pieces, &entry->rest);
	}
	table_text(t, OBJECT, buf_str(&text));
}

void retained_print_tree(const struct retained_view *view, FILE *out)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < view->top->n; i++)
		add_entry(t, view, &view->top->entries[i]);
	table_row(t);
	table_number(t, RETAINED, (int64_t)view->tree->total);
	table_real(t, SHARE, retained_percent(view->tree->total, view->tree->total));
	table_text(t, SHALLOW, "");
	table_text(t, OBJECT, "total");
	table_print(t, out);
	table_free(t);
}
