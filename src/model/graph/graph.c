#include "model/graph/graph_internal.h"

#include <stdlib.h>

/*
 * The codes of edge tags.  Only low indices have codes, because most objects have few fields and
 * most classes have few static fields.  The index of a GRAPH_ELEMENT is encoded as the number of
 * elements without an edge (null) between the previous edge and this one.  This number is low in
 * most arrays.
 */
const struct graph_code graph_codes[GRAPH_CODES] = {
	{ GRAPH_FIELD, 0, 56 },
	{ GRAPH_ELEMENT, 56, 48 },
	{ GRAPH_STATIC, 104, 12 },
	{ GRAPH_REFERENT, GRAPH_REFERENT_CODE, HEAP_STREAM_STRENGTHS },
	{ GRAPH_LINK, GRAPH_REFERENT_CODE + HEAP_STREAM_STRENGTHS, HEAP_STREAM_LINKS },
};

void graph_free(struct graph *g)
{
	if (!g)
		return;
	mmap_array_free(g->class);
	mmap_array_free(g->size);
	mmap_array_free(g->first);
	mmap_array_free(g->to);
	mmap_array_free(g->tag);
	mmap_array_free(g->far);
	mmap_array_free(g->lengths);
	mmap_array_free(g->mirrors);
	mmap_array_free(g->class_roots);
	mmap_array_free(g->roots);
	mmap_array_free(g->texts);
	mmap_array_free(g->text);
	free(g);
}

uint32_t graph_n(const struct graph *g)
{
	return g->n;
}

uint64_t graph_n_edges(const struct graph *g)
{
	return g->n_held;
}

uint32_t graph_class(const struct graph *g, uint32_t node)
{
	uint32_t class = g->class[node];

	if (class & GRAPH_MIRROR)
		return g->class_class;
	return class & GRAPH_DESCRIBED ? class & GRAPH_NUMBER : GRAPH_NONE;
}

uint64_t graph_size(const struct graph *g, uint32_t node)
{
	return (uint64_t)g->size[node] * HEAP_STREAM_WORD;
}

static int by_node(const void *key, const void *element)
{
	uint32_t node = *(const uint32_t *)key;
	/* the node or edge number is the first member of each table's entries */
	uint32_t other = *(const uint32_t *)element;

	return node < other ? -1 : node > other;
}

/* Returns the table entry with this node or edge number, or NULL.  Tables are sorted. */
static const void *find(uint32_t node, const void *table, size_t n, size_t size)
{
	return n > 0 ? bsearch(&node, table, n, size, by_node) : NULL;
}

int64_t graph_length(const struct graph *g, uint32_t node)
{
	const struct graph_length *length;

	if (!(g->class[node] & GRAPH_ARRAY))
		return -1;
	length = find(node, g->lengths, g->n_lengths, sizeof(*g->lengths));
	return length->length;
}

uint32_t graph_stands_for(const struct graph *g, uint32_t node)
{
	uint32_t class = g->class[node];

	if (!(class & GRAPH_MIRROR) || (class & GRAPH_NUMBER) == GRAPH_NUMBER)
		return GRAPH_NONE;
	return class & GRAPH_NUMBER;
}

uint32_t graph_mirror(const struct graph *g, uint32_t class)
{
	return class < g->n_classes ? g->mirrors[class] : GRAPH_NONE;
}

bool graph_is_own(const struct graph *g, uint32_t node)
{
	return g->class[node] & GRAPH_OWN;
}

const uint8_t *graph_text(const struct graph *g, uint32_t node, enum heap_stream_form *form,
			  uint32_t *len)
{
	const struct graph_text_entry *text = find(node, g->texts, g->n_texts, sizeof(*g->texts));

	if (!text)
		return NULL;
	*form = text->form;
	*len = text->len;
	return g->text + text->at;
}

const struct graph_root *graph_roots(const struct graph *g, size_t *n)
{
	*n = g->n_roots;
	return g->roots;
}

const struct graph_root *graph_root_of(const struct graph *g, uint32_t node)
{
	const struct graph_root *root = find(node, g->roots, g->n_roots, sizeof(*g->roots));
	uint32_t class = graph_stands_for(g, node);

	while (root && root > g->roots && root[-1].node == node)
		root--;
	if (!root && class != GRAPH_NONE)
		root = &g->class_roots[class];
	return root;
}

uint32_t graph_class_edge(const struct graph *g, uint32_t node)
{
	uint32_t to;

	if (graph_is_own(g, node))
		return GRAPH_NONE;
	to = graph_mirror(g, graph_class(g, node));
	return to == GRAPH_NONE || graph_is_own(g, to) ? GRAPH_NONE : to;
}

static struct graph_edge far_edge(const struct graph *g, uint32_t at)
{
	const struct graph_far *far = find(at, g->far, g->n_far, sizeof(*g->far));

	/* NOLINTNEXTLINE(analyzer-null-dereference): an edge with GRAPH_FAR has an entry */
	return (struct graph_edge){ g->to[at], (enum graph_via)far->via, far->index };
}

static struct graph_edge near_edge(const struct graph *g, uint32_t at, uint32_t element)
{
	const struct graph_code *code = graph_codes;
	uint32_t index = g->tag[at] & GRAPH_CODE;

	while (index - code->first >= code->n)
		code++;
	index -= code->first;
	if (code->via == GRAPH_ELEMENT)
		index += element;
	return (struct graph_edge){ g->to[at], (enum graph_via)code->via, index };
}

/*
 * Reads the edge `at`.  Before the call, *element is 1 + the index of the previous edge if that
 * edge is a GRAPH_ELEMENT, else 0; after the call, it is the same for the edge `at`.
 */
static struct graph_edge read_edge(const struct graph *g, uint32_t at, uint32_t *element)
{
	struct graph_edge edge;

	edge = (g->tag[at] & GRAPH_CODE) == GRAPH_FAR ? far_edge(g, at) :
							near_edge(g, at, *element);
	*element = edge.via == GRAPH_ELEMENT ? edge.index + 1 : 0;
	return edge;
}

static bool is_relative(uint8_t tag)
{
	return (uint8_t)((tag & GRAPH_CODE) - graph_codes[1].first) < graph_codes[1].n &&
	       !(tag & GRAPH_FIRST);
}

struct graph_edge graph_edge_at(const struct graph *g, uint32_t at)
{
	uint32_t from = at, element = 0;

	while (is_relative(g->tag[from]))
		from--;
	while (from < at)
		(void)read_edge(g, from++, &element); /* computes `element` */
	return read_edge(g, at, &element);
}

struct graph_edges graph_edges(const struct graph *g, uint32_t node)
{
	return (struct graph_edges){ .graph = g, .node = node, .at = g->first[node] };
}

bool graph_next(struct graph_edges *e, struct graph_edge *edge)
{
	const struct graph *g = e->graph;

	while (e->at != GRAPH_NONE) {
		*edge = read_edge(g, e->at, &e->element);
		e->at = graph_next_edge(g, e->at);
		if (edge->to != GRAPH_NONE)
			return true;
	}
	if (e->class_done)
		return false;
	e->class_done = true;
	*edge = (struct graph_edge){ graph_class_edge(g, e->node), GRAPH_CLASS, 0 };
	return edge->to != GRAPH_NONE;
}

uint32_t graph_loader(const struct graph *g, uint32_t class)
{
	uint32_t mirror = graph_mirror(g, class);
	struct graph_edges edges;
	struct graph_edge edge;

	if (mirror == GRAPH_NONE)
		return GRAPH_NONE;
	edges = graph_edges(g, mirror);
	while (graph_next(&edges, &edge)) {
		if (edge.via == GRAPH_LINK && edge.index == HEAP_STREAM_LOADER)
			return edge.to;
	}
	return GRAPH_NONE;
}
