#include "model/heap/heap.h"

#include <inttypes.h>

#include "base/xalloc.h"

static void fields_free(struct heap_field *fields, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(fields[i].name);
	free(fields);
}

void heap_release(struct heap *h)
{
	for (size_t i = 0; i < h->n_classes; i++) {
		struct heap_class *c = &h->classes[i];

		free(c->name);
		free(c->loader);
		free(c->module);
		fields_free(c->fields, c->n_fields);
		fields_free(c->statics, c->n_statics);
	}
	for (size_t i = 0; i < h->n_threads; i++)
		free(h->threads[i].name);
	for (size_t i = 0; i < h->n_methods; i++) {
		free(h->methods[i].class);
		free(h->methods[i].name);
	}
	free(h->classes);
	free(h->threads);
	id_map_release(&h->thread_ids);
	free(h->methods);
	graph_free(h->graph);
	*h = (struct heap){ 0 };
}

static const struct heap_class *class_at(const struct heap *h, uint32_t class)
{
	return class < h->n_classes ? &h->classes[class] : NULL;
}

const char *heap_class_name(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = class_at(h, class);

	return c && c->name ? c->name : "?";
}

const char *heap_class_loader(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = class_at(h, class);

	return c ? c->loader : NULL;
}

const char *heap_node_class(const struct heap *h, uint32_t node)
{
	uint32_t class = graph_stands_for(h->graph, node);

	return heap_class_name(h, class != GRAPH_NONE ? class : graph_class(h->graph, node));
}

static void add_name(struct buf *text, const char *what, const struct heap_field *fields,
		     uint32_t n, uint32_t index)
{
	if (index < n && fields[index].name)
		buf_addf(text, "%s %s", what, fields[index].name);
	else
		buf_addf(text, "%s #%" PRIu32, what, index);
}

static const char *pick(const char *const *texts, size_t n, uint32_t index)
{
	return index < n ? texts[index] : "?";
}

static const char *link_text(uint32_t link)
{
	static const char *const texts[HEAP_STREAM_LINKS] = {
		[HEAP_STREAM_SUPERCLASS] = "superclass", [HEAP_STREAM_INTERFACE] = "interface",
		[HEAP_STREAM_LOADER] = "class loader",	 [HEAP_STREAM_DOMAIN] = "protection domain",
		[HEAP_STREAM_SIGNERS] = "signers",	 [HEAP_STREAM_CONSTANT] = "constant pool",
	};

	return pick(texts, HEAP_STREAM_LINKS, link);
}

const char *heap_strength(uint32_t strength)
{
	static const char *const texts[HEAP_STREAM_STRENGTHS] = {
		[HEAP_STREAM_SOFT] = "soft",
		[HEAP_STREAM_WEAK] = "weak",
		[HEAP_STREAM_FINAL] = "final",
		[HEAP_STREAM_PHANTOM] = "phantom",
	};

	return pick(texts, HEAP_STREAM_STRENGTHS, strength);
}

/*
 * Returns a shallow copy of a class, for its members `fields` and `statics`.  If the class number
 * is invalid, the copy has no fields.
 */
static struct heap_class fields_of(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = class_at(h, class);

	return c ? *c : (struct heap_class){ 0 };
}

uint32_t heap_via_class(const struct heap *h, uint32_t node, const struct graph_edge *edge)
{
	if (edge->via == GRAPH_FIELD)
		return graph_class(h->graph, node);
	return edge->via == GRAPH_STATIC ? graph_stands_for(h->graph, node) : GRAPH_NONE;
}

void heap_via(const struct heap *h, uint32_t node, const struct graph_edge *edge, struct buf *text)
{
	struct heap_class c = fields_of(h, heap_via_class(h, node, edge));

	switch (edge->via) {
	case GRAPH_FIELD:
		add_name(text, "field", c.fields, c.n_fields, edge->index);
		return;
	case GRAPH_STATIC:
		add_name(text, "static", c.statics, c.n_statics, edge->index);
		return;
	case GRAPH_ELEMENT:
		buf_addf(text, "[%" PRIu32 "]", edge->index);
		return;
	case GRAPH_REFERENT:
		buf_addf(text, "field referent (%s)", heap_strength(edge->index));
		return;
	case GRAPH_LINK:
		buf_adds(text, link_text(edge->index));
		return;
	case GRAPH_CLASS:
		buf_adds(text, "class");
	}
}

void heap_add_thread(struct heap *h, uint64_t id, char *name)
{
	(void)id_map_add(&h->thread_ids, id, (uint32_t)h->n_threads);
	h->threads = xgrow(h->threads, h->n_threads, &h->cap_threads, sizeof(*h->threads));
	h->threads[h->n_threads++] = (struct heap_thread){ id, name };
}

const char *heap_thread_name(const struct heap *h, uint64_t id)
{
	uint32_t i = id_map_get(&h->thread_ids, id);

	return i == ID_MAP_NONE ? NULL : h->threads[i].name;
}

const struct heap_method *heap_method(const struct heap *h, uint32_t method)
{
	if (method == 0 || method > h->n_methods || !h->methods[method - 1].name)
		return NULL;
	return &h->methods[method - 1];
}

const char *heap_root_kind(enum heap_stream_root kind)
{
	static const char *const texts[HEAP_STREAM_ROOTS] = {
		[HEAP_STREAM_ROOT_CLASS] = "class",
		[HEAP_STREAM_ROOT_JNI_GLOBAL] = "jni global",
		[HEAP_STREAM_ROOT_JNI_LOCAL] = "jni local",
		[HEAP_STREAM_ROOT_STACK] = "stack local",
		[HEAP_STREAM_ROOT_THREAD] = "thread",
		[HEAP_STREAM_ROOT_MONITOR] = "monitor",
		[HEAP_STREAM_ROOT_VM] = "vm",
	};

	return pick(texts, HEAP_STREAM_ROOTS, kind);
}
