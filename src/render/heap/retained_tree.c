#include "base/xalloc.h"
#include "render/heap/heap_object.h"
#include "render/heap/retained_view.h"
#include "render/table.h"

enum { RETAINED, SHARE, SHALLOW, OBJECT };

static const struct column columns[] = {
	{ "RETAINED", NULL, CELL_BYTES, false },
	{ "%", NULL, CELL_REAL, false },
	{ "SHALLOW", NULL, CELL_BYTES, false },
	{ "OBJECT", NULL, CELL_TEXT, false },
};

/* An object in the tree, as it is shown. */
struct shown {
	struct heap_object object;
	/* the parent's reference to the object; empty: the parent has no direct reference */
	struct buf via;
	/*
	 * kind of the GC root; NULL if the object is not a root, is not in the top level of the
	 * tree, or is a class or thread
	 */
	const char *root;
	uint64_t shallow, retained;
};

static void describe(struct shown *s, const struct retained_view *view,
		     const struct retained_entry *entry)
{
	const struct heap *h = view->heap;
	const struct graph_root *root = graph_root_of(h->graph, entry->node);

	*s = (struct shown){
		.shallow = graph_size(h->graph, entry->node),
		.retained = view->tree->retained[entry->node],
	};
	heap_object_init(&s->object, h, entry->node);
	if (entry->has_edge)
		heap_via(h, entry->holder, &entry->edge, &s->via);
	else if (entry->depth == 0 && root && root->kind != HEAP_STREAM_ROOT_CLASS &&
		 root->kind != HEAP_STREAM_ROOT_THREAD)
		s->root = heap_root_kind(root->kind);
}

static void release(struct shown *s)
{
	heap_object_release(&s->object);
	buf_release(&s->via);
}

static void add_indent(struct buf *text, const struct retained_entry *entry)
{
	for (unsigned i = 0; i < entry->depth; i++)
		buf_adds(text, "  ");
}

static void add_row(struct table *t, const struct retained_view *view, uint64_t retained,
		    const char *text)
{
	table_row(t);
	table_unsigned(t, RETAINED, retained);
	table_real(t, SHARE, retained_percent(retained, view->tree->total));
	table_text(t, SHALLOW, "");
	table_text(t, OBJECT, text);
}

/* Adds a row.  The reference precedes the object, so that a path can be read from the root down. */
static void add_object(struct table *t, const struct retained_view *view,
		       const struct retained_entry *entry)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct shown s;

	describe(&s, view, entry);
	add_indent(&text, entry);
	if (entry->has_edge || s.root)
		buf_addf(&text, "%s: ", s.root ? s.root : buf_str(&s.via));
	heap_object_add(&s.object, &text);
	add_row(t, view, s.retained, buf_str(&text));
	table_unsigned(t, SHALLOW, s.shallow);
	release(&s);
}

static void add_rest(struct table *t, const struct retained_view *view,
		     const struct retained_entry *entry)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	add_indent(&text, entry);
	buf_adds(&text, "… ");
	retained_add_pieces(&text, view->heap, &view->top->pieces, &entry->rest);
	add_row(t, view, entry->rest.bytes, buf_str(&text));
}

void retained_print_tree(const struct retained_view *view, FILE *out)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < view->top->n; i++) {
		const struct retained_entry *entry = &view->top->entries[i];

		if (entry->node == GRAPH_NONE)
			add_rest(t, view, entry);
		else
			add_object(t, view, entry);
	}
	add_row(t, view, view->tree->total, "total");
	table_print(t, out);
	table_free(t);
}

static struct json *object_json(const struct retained_view *view,
				const struct retained_entry *entry)
{
	struct json *json = json_object();
	struct shown s;

	describe(&s, view, entry);
	heap_object_put(&s.object, json);
	json_put_text(json, "via", entry->has_edge ? buf_str(&s.via) : NULL);
	json_put_unsigned(json, "shallow", s.shallow);
	json_put_unsigned(json, "retained", s.retained);
	release(&s);
	return json;
}

/*
 * Adds the tree to a JSON document.  An object's "children" are those objects that it dominates and
 * that are shown; its "rest" is the total of the other objects that it dominates.
 */
void retained_put_tree(const struct retained_view *view, struct json *doc)
{
	const struct retained_tree *top = view->top;
	struct level {
		struct json *object, *children;
	} *levels = xcalloc(top->n + 2, sizeof(*levels)); /* levels[d + 1] is for depth d */

	levels[0] = (struct level){ doc, json_array() };
	json_put(doc, "tree", levels[0].children);
	for (size_t i = 0; i < top->n; i++) {
		const struct retained_entry *entry = &top->entries[i];
		struct level *above = &levels[entry->depth], *own = above + 1;

		if (entry->node == GRAPH_NONE) {
			json_put(above->object, "rest",
				 retained_pieces_json(view->heap, &top->pieces, &entry->rest));
			continue;
		}
		own->object = object_json(view, entry);
		own->children = json_array();
		json_put(own->object, "children", own->children);
		json_put(above->children, NULL, own->object);
	}
	free(levels);
}
