#include <inttypes.h>

#include "base/printable.h"
#include "render/heap/heap_object.h"
#include "render/heap/refpath_view.h"
#include "render/heap/retained_view.h"
#include "render/units.h"

/*
 * Appends a suspect: "54.98 %: a.b.Map$Entry[2000] retains 105 KiB", or "…: 1000 c.Buffer retain
 * …".
 */
static void add_what(struct buf *text, const struct retained_view *view,
		     const struct retained_suspect *suspect)
{
	bool one = suspect->instances == 1;
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct heap_object object;

	heap_object_init(&object, view->heap, suspect->node);
	if (one)
		heap_object_add(&object, &name);
	else
		buf_addf(&name, "%" PRIu64 " %s", suspect->instances, object.class);
	buf_addf(text, "%.2f %%: ", retained_percent(suspect->retained, view->tree->total));
	printable_add(text, buf_str(&name), name.len);
	buf_adds(text, one ? " retains " : " together retain ");
	units_bytes(text, (int64_t)suspect->retained);
	buf_addc(text, '\n');
	heap_object_release(&object);
}

static void add_pieces(struct buf *text, const struct retained_view *view,
		       const struct retained_suspect *suspect)
{
	_cleanup_buf_ struct buf pieces = BUF_INIT;

	retained_add_pieces(&pieces, view->heap, &view->suspects->pieces, &suspect->held);
	buf_adds(text, "  including ");
	printable_add(text, buf_str(&pieces), pieces.len);
	buf_addc(text, '\n');
}

/*
 * Returns whether a path of strong references leads from a GC root to the suspect.  Returns false
 * if every path to the suspect contains a soft, weak, final or phantom reference.
 */
static bool has_path(const struct retained_view *view, const struct retained_suspect *suspect)
{
	return view->bfs->parent[suspect->node] != GRAPH_NONE;
}

static void add_path(struct buf *text, const struct retained_view *view,
		     const struct retained_suspect *suspect)
{
	const char *which = suspect->instances == 1 ? "" : " (the largest)";
	struct refpath_view path;

	if (!has_path(view, suspect)) {
		buf_addf(text, "  reachable%s only through soft, weak, final or phantom "
			 "references\n", which);
		return;
	}
	refpath_view_init(&path, view->heap, view->bfs, suspect->node, NULL, true);
	buf_addf(text, "  reachable%s through ", which);
	refpath_view_headline(&path, false, text);
	buf_addc(text, '\n');
	refpath_view_add(&path, "    ", text);
	refpath_view_release(&path);
}

void retained_print_suspects(const struct retained_view *view, FILE *out)
{
	_cleanup_buf_ struct buf none = BUF_INIT;

	for (size_t i = 0; i < view->suspects->n; i++) {
		const struct retained_suspect *suspect = &view->suspects->list[i];
		_cleanup_buf_ struct buf text = BUF_INIT;

		if (i > 0)
			buf_addc(&text, '\n');
		add_what(&text, view, suspect);
		if (suspect->instances == 1 && suspect->held.n > 0)
			add_pieces(&text, view, suspect);
		add_path(&text, view, suspect);
		(void)fwrite(text.data, 1, text.len, out); /* main.c checks ferror() */
	}
	if (view->suspects->n > 0)
		return;
	buf_adds(&none, "no object and no class retains 10 % of the heap's ");
	units_bytes(&none, (int64_t)view->tree->total);
	buf_addc(&none, '\n');
	(void)fputs(buf_str(&none), out);
}

/* Returns the path to a suspect as JSON; or NULL (becomes null) if the suspect has no path. */
static struct json *path_json(const struct retained_view *view,
			      const struct retained_suspect *suspect)
{
	struct refpath_view path;
	struct json *json;

	if (!has_path(view, suspect))
		return NULL;
	json = json_object();
	refpath_view_init(&path, view->heap, view->bfs, suspect->node, NULL, false);
	refpath_view_put(&path, json);
	refpath_view_release(&path);
	return json;
}

static struct json *suspect_json(const struct retained_view *view,
				 const struct retained_suspect *suspect)
{
	struct json *json = json_object();
	struct heap_object object;

	heap_object_init(&object, view->heap, suspect->node);
	heap_object_put(&object, json);
	json_put_unsigned(json, "instances", suspect->instances);
	json_put_unsigned(json, "retained", suspect->retained);
	json_put(json, "holds",
		 retained_pieces_json(view->heap, &view->suspects->pieces, &suspect->held));
	json_put(json, "path", path_json(view, suspect));
	heap_object_release(&object);
	return json;
}

void retained_put_suspects(const struct retained_view *view, struct json *doc)
{
	struct json *list = json_array();

	for (size_t i = 0; i < view->suspects->n; i++)
		json_put(list, NULL, suspect_json(view, &view->suspects->list[i]));
	json_put(doc, "suspects", list);
}
