#include "render/heap/heap_object.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"

#define SHOWN 60 /* bytes of a String's text that are shown */

static const char *thread_of(const struct heap *h, uint32_t node)
{
	size_t n;
	const struct graph_root *roots = graph_roots(h->graph, &n);
	const struct graph_root *root = graph_root_of(h->graph, node);

	for (; root && root < roots + n && root->node == node; root++) {
		if (root->kind == HEAP_STREAM_ROOT_THREAD)
			return heap_thread_name(h, root->thread);
	}
	return NULL;
}

static bool add_text_of(struct buf *out, const struct heap *h, uint32_t node)
{
	enum heap_stream_form form = HEAP_STREAM_UTF16;
	uint32_t len = 0;
	const uint8_t *text = graph_text(h->graph, node, &form, &len);

	if (!text)
		return false;
	if (form == HEAP_STREAM_UTF16) {
		utf8_add_utf16(out, text, len, true);
		return true;
	}
	for (uint32_t i = 0; i < len; i++)
		utf8_add_char(out, text[i]);
	return true;
}

/*
 * Appends the text of a String.  The heap stores the text for the String object or for its array.
 * Returns false if the heap has no text for either.
 */
static bool add_characters(struct buf *out, const struct heap *h, uint32_t node)
{
	struct graph_edges edges = graph_edges(h->graph, node);
	struct graph_edge edge;

	if (add_text_of(out, h, node))
		return true;
	while (graph_next(&edges, &edge)) {
		if (edge.via == GRAPH_FIELD && add_text_of(out, h, edge.to))
			return true;
	}
	return false;
}

void heap_object_init(struct heap_object *o, const struct heap *h, uint32_t node)
{
	*o = (struct heap_object){
		.class = heap_node_class(h, node),
		.is_class = graph_stands_for(h->graph, node) != GRAPH_NONE,
		.length = graph_length(h->graph, node),
	};
	if (o->is_class)
		return;
	o->thread = thread_of(h, node);
	o->has_text =
		strcmp(o->class, "java.lang.String") == 0 && add_characters(&o->text, h, node);
}

void heap_object_release(struct heap_object *o)
{
	buf_release(&o->text);
}

static void add_quoted(struct buf *out, const struct buf *text)
{
	size_t len = text->len;

	if (len > SHOWN) {
		len = SHOWN;
		while (len > 0 && ((uint8_t)text->data[len] & 0xc0) == 0x80)
			len--; /* goes back to the start of a character */
	}
	buf_adds(out, " \"");
	buf_add(out, buf_str(text), len);
	buf_adds(out, len < text->len ? "…\"" : "\"");
}

/*
 * Appends the type of an array, with the length in its first brackets, as in a `new` expression of
 * Java.
 */
static void add_array(struct buf *out, const char *name, int64_t length)
{
	const char *bracket = strchr(name, '[');

	if (!bracket) {
		buf_adds(out, name);
		return;
	}
	buf_add(out, name, (size_t)(bracket - name));
	buf_addf(out, "[%" PRId64 "%s", length, bracket + 1);
}

void heap_object_add(const struct heap_object *o, struct buf *out)
{
	if (o->is_class) {
		buf_addf(out, "class %s", o->class);
		return;
	}
	if (o->length >= 0) {
		add_array(out, o->class, o->length);
		return;
	}
	buf_adds(out, o->class);
	if (o->thread)
		buf_addf(out, " \"%s\"", o->thread);
	else if (o->has_text)
		add_quoted(out, &o->text);
}

void heap_object_put(const struct heap_object *o, struct json *json)
{
	json_put_text(json, "class", o->class);
	json_put_bool(json, "class_object", o->is_class);
	json_put_known(json, "length", o->length >= 0, (uint64_t)o->length);
	json_put_text(json, "thread", o->thread);
	json_put_text_len(json, "text", o->has_text ? buf_str(&o->text) : NULL, o->text.len);
}
