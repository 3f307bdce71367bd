#include "base/xalloc.h"
#include "render/heap_object.h"
#include "render/refpaths_json.h"
#include "render/retained.h"

static struct json *row_json(const struct retained_row *row)
{
	struct json *json = json_object();

	json_put_text(json, "class", row->name);
	json_put_text(json, "loader", row->loader);
	json_put_unsigned(json, "instances", row->sum.instances);
	json_put_unsigned(json, "shallow", row->sum.shallow);
	json_put_unsigned(json, "retained", row->sum.retained);
	return json;
}

static struct json *count_json(uint64_t instances, uint64_t bytes)
{
	struct json *json = json_object();

	json_put_unsigned(json, "instances", instances);
	json_put_unsigned(json, "bytes", bytes);
	return json;
}

static struct json *held_json(const struct graph_tree *tree)
{
	struct json *json = json_object();

	for (uint32_t i = 0; i < TAPE_STRENGTHS; i++)
		json_put(json, heap_strength(i), count_json(tree->held[i].n, tree->held[i].bytes));
	return json;
}

/* What an object is: the same keys wherever one is told of. */
static void put_object(struct json *json, const struct heap *h, uint32_t node)
{
	bool is_class = graph_stands_for(h->graph, node) != GRAPH_NONE;
	int64_t length = graph_length(h->graph, node);
	_cleanup_buf_ struct buf text = BUF_INIT;

	json_put_text(json, "class", heap_node_class(h, node));
	json_put_bool(json, "class_object", is_class);
	if (length >= 0)
		json_put_number(json, "length", length);
	else
		json_put_null(json, "length");
	json_put_text(json, "thread", heap_object_thread(h, node));
	if (heap_object_text(&text, h, node))
		json_put_text_len(json, "text", buf_str(&text), text.len);
	else
		json_put_null(json, "text");
}

static struct json *pieces_json(const struct heap *h, const struct pieces *pieces,
				const struct pieces_sum *sum)
{
	struct json *json = json_object(), *classes = json_array();

	for (size_t i = sum->first; i < sum->first + sum->n_classes; i++) {
		struct json *class = json_object();

		json_put_text(class, "class", heap_class_name(h, pieces->list[i].class));
		json_put_unsigned(class, "instances", pieces->list[i].n);
		json_put_unsigned(class, "retained", pieces->list[i].bytes);
		json_put(classes, NULL, class);
	}
	json_put_unsigned(json, "instances", sum->n);
	json_put_unsigned(json, "retained", sum->bytes);
	json_put(json, "classes", classes);
	return json;
}

static struct json *entry_json(const struct retained_view *view,
			       const struct retained_entry *entry)
{
	const struct heap *h = view->heap;
	struct json *json = json_object();
	_cleanup_buf_ struct buf via = BUF_INIT;

	put_object(json, h, entry->node);
	if (entry->has_edge)
		heap_via(h, entry->holder, &entry->edge, &via);
	json_put_text(json, "via", entry->has_edge ? buf_str(&via) : NULL);
	json_put_unsigned(json, "shallow", graph_size(h->graph, entry->node));
	json_put_unsigned(json, "retained", view->tree->retained[entry->node]);
	return json;
}

/* An object's "children" stand in itself, what else it holds beside them as its "rest". */
static void put_tree(const struct retained_view *view, struct json *doc)
{
	const struct retained_tree *top = view->top;
	struct level {
		struct json *object, *children;
	} *levels = xcalloc(top->n + 2, sizeof(*levels)); /* the place of depth d is d + 1 */

	levels[0] = (struct level){ doc, json_array() };
	json_put(doc, "tree", levels[0].children);
	for (size_t i = 0; i < top->n; i++) {
		const struct retained_entry *entry = &top->entries[i];
		struct level *above = &levels[entry->depth], *own = above + 1;

		if (entry->node == GRAPH_NONE) {
			json_put(above->object, "rest",
				 pieces_json(view->heap, &top->pieces, &entry->rest));
			continue;
		}
		own->object = entry_json(view, entry);
		own->children = json_array();
		json_put(own->object, "children", own->children);
		json_put(above->children, NULL, own->object);
	}
	free(levels);
}

/* NULL, which is null: nothing strong leads there. */
static struct json *path_json(const struct retained_view *view, uint32_t node)
{
	struct json *json;
	struct refpath path;

	if (view->ways->parent[node] == GRAPH_NONE)
		return NULL;
	json = json_object();
	refpath_find(view->heap->graph, view->ways, node, &path);
	refpath_put(json, view->heap, &path);
	refpath_release(&path);
	return json;
}

static struct json *suspect_json(const struct retained_view *view,
				 const struct retained_suspect *suspect)
{
	const struct heap *h = view->heap;
	struct json *json = json_object();

	put_object(json, h, suspect->node);
	json_put_unsigned(json, "instances", suspect->instances);
	json_put_unsigned(json, "retained", suspect->retained);
	json_put(json, "holds", pieces_json(h, &view->suspects->pieces, &suspect->held));
	json_put(json, "path", path_json(view, suspect->node));
	return json;
}

static void put_suspects(const struct retained_view *view, struct json *doc)
{
	struct json *list = json_array();

	for (size_t i = 0; i < view->suspects->n; i++)
		json_put(list, NULL, suspect_json(view, &view->suspects->list[i]));
	json_put(doc, "suspects", list);
}

void retained_put_json(const struct retained_view *view, struct json *doc)
{
	struct json *classes = json_array();

	for (size_t i = 0; i < view->n_rows; i++)
		json_put(classes, NULL, row_json(&view->rows->rows[i]));
	json_put(doc, "classes", classes);
	json_put(doc, "total", count_json(view->rows->instances, view->tree->total));
	json_put(doc, "held", held_json(view->tree));
	json_put(doc, "unreachable", view->unreached ? count_json(view->unreached->instances,
								  view->unreached->shallow)
						     : NULL);
	if (view->top)
		put_tree(view, doc);
	if (view->suspects)
		put_suspects(view, doc);
}
