#include <inttypes.h>

#include "base/text.h"
#include "render/heap_object.h"
#include "render/refpaths_text.h"
#include "render/retained.h"

/* "54.98 %: a.b.Map$Entry[2000] retains 108016 bytes", or "…: 1000 c.Buffer retain …". */
static void add_what(struct buf *text, const struct retained_view *view,
		     const struct retained_suspect *suspect)
{
	const struct heap *h = view->heap;
	bool one = suspect->instances == 1;
	_cleanup_buf_ struct buf name = BUF_INIT;

	if (one)
		heap_object_name(&name, h, suspect->node);
	else
		buf_addf(&name, "%" PRIu64 " %s", suspect->instances,
			 heap_class_name(h, graph_class(h->graph, suspect->node)));
	buf_addf(text, "%.2f %%: ", retained_percent(suspect->retained, view->tree->total));
	text_printable(text, buf_str(&name), name.len);
	buf_addf(text, " %s %" PRIu64 " bytes\n", one ? "retains" : "retain together",
		 suspect->retained);
}

static void add_pieces(struct buf *text, const struct retained_view *view,
		       const struct retained_suspect *suspect)
{
	_cleanup_buf_ struct buf pieces = BUF_INIT;

	retained_add_pieces(&pieces, view->heap, &view->suspects->pieces, &suspect->held);
	buf_adds(text, "  holding ");
	text_printable(text, buf_str(&pieces), pieces.len);
	buf_addc(text, '\n');
}

static void print_way(const struct retained_view *view, const struct retained_suspect *suspect,
		      FILE *out)
{
	const struct heap *h = view->heap;
	const char *whose = suspect->instances == 1 ? "" : " (the largest)";
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct refpath path;

	if (view->ways->parent[suspect->node] == GRAPH_NONE) {
		fprintf(out, "  alive%s only through soft, weak, final or phantom references\n",
			whose);
		return;
	}
	refpath_find(h->graph, view->ways, suspect->node, &path);
	refpath_headline(h, &path, false, &text);
	fprintf(out, "  alive%s through %s\n", whose, buf_str(&text));
	refpath_print(h, &path, NULL, "    ", out);
	refpath_release(&path);
}

void retained_print_suspects(const struct retained_view *view, FILE *out)
{
	for (size_t i = 0; i < view->suspects->n; i++) {
		const struct retained_suspect *suspect = &view->suspects->list[i];
		_cleanup_buf_ struct buf text = BUF_INIT;

		if (i > 0)
			buf_addc(&text, '\n');
		add_what(&text, view, suspect);
		if (suspect->instances == 1 && suspect->held.n > 0)
			add_pieces(&text, view, suspect);
		(void)fwrite(text.data, 1, text.len, out); /* main looks at ferror() once */
		print_way(view, suspect, out);
	}
	if (view->suspects->n == 0)
		fprintf(out, "no object and no class holds 10 %% of the heap's %" PRIu64 " bytes\n",
			view->tree->total);
}
