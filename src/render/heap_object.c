#include "render/heap_object.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define SHOWN 60 /* characters of a String, in bytes */

const char *heap_object_thread(const struct heap *h, uint32_t node)
{
	size_t n;
	const struct graph_root *roots = graph_roots(h->graph, &n), *root;

	if (graph_stands_for(h->graph, node) != GRAPH_NONE)
		return NULL;
	root = graph_root_of(h->graph, node);
	for (; root && root < roots + n && root->node == node; root++) {
		if (root->kind == TAPE_ROOT_THREAD)
			return heap_thread_name(h, root->thread);
	}
	return NULL;
}

static bool add_text_of(struct buf *out, const struct heap *h, uint32_t node)
{
	enum tape_form form = TAPE_UTF16;
	uint32_t len = 0;
	const uint8_t *text = graph_text(h->graph, node, &form, &len);

	if (!text)
		return false;
	if (form == TAPE_UTF16) {
		text_add_utf16(out, text, len, true);
		return true;
	}
	for (uint32_t i = 0; i < len; i++)
		text_add_char(out, text[i]);
	return true;
}

static bool is_string(const struct heap *h, uint32_t node)
{
	return graph_stands_for(h->graph, node) == GRAPH_NONE &&
	       strcmp(heap_node_class(h, node), "java.lang.String") == 0;
}

/* Told of the String itself, or of the array that it has its characters in. */
bool heap_object_text(struct buf *out, const struct heap *h, uint32_t node)
{
	struct graph_edges edges;
	struct graph_edge edge;

	if (!is_string(h, node))
		return false;
	if (add_text_of(out, h, node))
		return true;
	edges = graph_edges(h->graph, node);
	while (graph_next(&edges, &edge)) {
		if (edge.via == GRAPH_FIELD && add_text_of(out, h, edge.to))
			return true;
	}
	return false;
}

static void add_quoted(struct buf *out, const struct buf *text)
{
	size_t len = text->len;

	if (len > SHOWN) {
		len = SHOWN;
		while (len > 0 && ((uint8_t)text->data[len] & 0xc0) == 0x80)
			len--; /* not in the middle of a character */
	}
	buf_adds(out, " \"");
	buf_add(out, buf_str(text), len);
	buf_adds(out, len < text->len ? "…\"" : "\"");
}

/* The length stands in the first brackets, where Java's `new` has it. */
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

void heap_object_name(struct buf *out, const struct heap *h, uint32_t node)
{
	const char *name = heap_node_class(h, node);
	int64_t length = graph_length(h->graph, node);
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *thread;

	if (graph_stands_for(h->graph, node) != GRAPH_NONE) {
		buf_addf(out, "class %s", name);
		return;
	}
	if (length >= 0) {
		add_array(out, name, length);
		return;
	}
	buf_adds(out, name);
	thread = heap_object_thread(h, node);
	if (thread)
		buf_addf(out, " \"%s\"", thread);
	else if (heap_object_text(&text, h, node))
		add_quoted(out, &text);
}
