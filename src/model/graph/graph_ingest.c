/* Adds a heap stream to a graph: numbers the objects and appends the edges. */
#include "model/graph/graph_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define NODES_MAX (UINT32_C(1) << 31)
/*
 * limit for the number of edges: those in the stream, plus one class edge for each node; higher
 * edge numbers have special meanings
 */
#define EDGES_MAX (UINT32_MAX - 99)

struct graph_builder *graph_builder_new(size_t max_bytes)
{
	struct graph_builder *b = xcalloc(1, sizeof(*b));

	b->graph = xcalloc(1, sizeof(*b->graph));
	b->max_bytes = max_bytes;
	b->current.node = GRAPH_NONE;
	b->classes.of_objects = GRAPH_NONE;
	return b;
}

void graph_builder_free(struct graph_builder *b)
{
	if (!b)
		return;
	graph_free(b->graph);
	address_map_release(&b->map);
	mmap_array_free(b->classes.list);
	free(b);
}

uint64_t graph_builder_objects(const struct graph_builder *b)
{
	return b->n_objects;
}

static size_t bytes_of(const struct graph_builder *b)
{
	const struct graph *g = b->graph;

	return address_map_bytes(&b->map) +
	       g->n * (sizeof(*g->class) + sizeof(*g->size) + sizeof(*g->first)) +
	       g->n_edges * (sizeof(*g->to) + sizeof(*g->tag)) + g->n_far * sizeof(*g->far) +
	       g->n_lengths * sizeof(*g->lengths) + g->n_roots * sizeof(*g->roots) +
	       g->n_texts * sizeof(*g->texts) + b->len_text +
	       b->classes.n * sizeof(*b->classes.list);
}

static void add_node(struct graph_builder *b)
{
	struct graph *g = b->graph;

	g->class = mmap_array_grow(g->class, g->n, &b->cap.class, sizeof(*g->class));
	g->size = mmap_array_grow(g->size, g->n, &b->cap.size, sizeof(*g->size));
	g->first = mmap_array_grow(g->first, g->n, &b->cap.first, sizeof(*g->first));
	g->class[g->n] = GRAPH_NUMBER;
	g->size[g->n] = 0;
	g->first[g->n++] = GRAPH_NONE;
}

/*
 * Stores the size of an object.  Each record of a reference to the object may have the object's
 * size; all these sizes must be equal.
 */
static int take_size(struct graph_builder *b, uint32_t node, const struct heap_stream_record *r)
{
	struct graph *g = b->graph;
	uint64_t words = r->size / HEAP_STREAM_WORD;

	if (words == 0 || words == g->size[node])
		return 0;
	if (g->size[node] != 0 || words > UINT32_MAX)
		return -EBADMSG;
	g->size[node] = (uint32_t)words;
	if (!r->is_array)
		return 0;
	g->class[node] |= GRAPH_ARRAY;
	g->lengths =
		mmap_array_grow(g->lengths, g->n_lengths, &b->cap.lengths, sizeof(*g->lengths));
	g->lengths[g->n_lengths++] = (struct graph_length){ node, r->length };
	return 0;
}

static void add_far(struct graph_builder *b, enum graph_via via, uint32_t index)
{
	struct graph *g = b->graph;

	g->far = mmap_array_grow(g->far, g->n_far, &b->cap.far, sizeof(*g->far));
	g->far[g->n_far++] = (struct graph_far){ g->n_edges, index, (uint8_t)via };
}

static uint8_t tag_of(struct graph_builder *b, enum graph_via via, uint32_t index)
{
	const struct graph_code *code = graph_codes;
	struct graph_current *c = &b->current;
	uint32_t delta = index;

	while (code->via != via)
		code++;
	if (via == GRAPH_ELEMENT) {
		delta -= c->element; /* at least 0: heap_stream_read() returns ascending indices */
		c->element = index + 1;
		c->run = c->run % GRAPH_ELEMENT_RUN + 1;
	} else {
		c->element = 0;
	}
	if (delta < code->n && (via != GRAPH_ELEMENT || c->run < GRAPH_ELEMENT_RUN))
		return (uint8_t)(code->first + delta);
	add_far(b, via, index);
	return GRAPH_FAR;
}

/*
 * Returns whether the object belongs to jtool's agent.  Most of the agent's objects are at the
 * start of the stream, and so have low numbers.  For most objects of the application, the
 * comparison with own.below therefore suffices.
 */
static bool is_own(const struct graph_builder *b, uint32_t node)
{
	return node < b->own.below && b->graph->class[node] & GRAPH_OWN;
}

static int take_edge(struct graph_builder *b, uint32_t to, enum graph_via via,
		     const struct heap_stream_record *r)
{
	const uint32_t from = b->current.node;
	struct graph *g = b->graph;
	int rc = take_size(b, to, r);
	uint8_t tag;

	if (rc < 0)
		return rc;
	if (from == GRAPH_NONE || (via == GRAPH_REFERENT && r->index >= HEAP_STREAM_STRENGTHS) ||
	    (via == GRAPH_LINK && r->index >= HEAP_STREAM_LINKS))
		return -EBADMSG;
	if (is_own(b, from) || is_own(b, to))
		return 0;
	tag = tag_of(b, via, r->index);
	if (g->first[from] == GRAPH_NONE) {
		g->first[from] = g->n_edges;
		tag |= GRAPH_FIRST;
	}
	g->to = mmap_array_grow(g->to, g->n_edges, &b->cap.to, sizeof(*g->to));
	g->tag = mmap_array_grow(g->tag, g->n_edges, &b->cap.tag, sizeof(*g->tag));
	g->to[g->n_edges] = to;
	g->tag[g->n_edges++] = tag;
	return 0;
}

/*
 * Remembers `class`, the class number that is in the OBJECT record of a java.lang.Class object.
 * Returns 0; or -EBADMSG if the record of an earlier java.lang.Class object had another number.
 */
static int claim_class_object(struct graph_class_objects *objects, uint32_t class)
{
	if (objects->of_objects != GRAPH_NONE && objects->of_objects != class)
		return -EBADMSG;
	objects->of_objects = class;
	return 0;
}

static int take_object(struct graph_builder *b, uint32_t node, const struct heap_stream_record *r)
{
	uint32_t *class = &b->graph->class[node];

	if (*class & GRAPH_DESCRIBED || r->class >= GRAPH_NUMBER)
		return -EBADMSG;
	b->current = (struct graph_current){ .node = node };
	b->n_objects++;
	*class |= GRAPH_DESCRIBED;
	if (r->kind == HEAP_STREAM_MIRROR) {
		*class |= GRAPH_MIRROR;
		return 0;
	}
	if (r->class >= b->classes.min)
		b->classes.min = r->class + 1;
	if (*class & GRAPH_MIRROR)
		return claim_class_object(&b->classes, r->class);
	*class = (*class & ~GRAPH_NUMBER) | r->class;
	return 0;
}

static int take_class(struct graph_builder *b, uint32_t node, const struct heap_stream_record *r)
{
	struct graph_class_objects *objects = &b->classes;
	uint32_t *class = &b->graph->class[node];
	uint32_t number = *class & GRAPH_NUMBER;
	int rc;

	if (r->class >= GRAPH_NUMBER)
		return -EBADMSG;
	if (*class & GRAPH_MIRROR && number != GRAPH_NUMBER)
		return number == r->class ? 0 : -EBADMSG;
	if (!(*class & GRAPH_MIRROR) && *class & GRAPH_DESCRIBED) {
		rc = claim_class_object(objects, number);
		if (rc < 0)
			return rc;
	}
	*class = (*class & ~GRAPH_NUMBER) | GRAPH_MIRROR | r->class;
	objects->list =
		mmap_array_grow(objects->list, objects->n, &objects->cap, sizeof(*objects->list));
	objects->list[objects->n++] = (struct graph_class_object){ r->class, node };
	return 0;
}

static int take_root(struct graph_builder *b, uint32_t node, const struct heap_stream_record *r)
{
	struct graph *g = b->graph;

	g->roots = mmap_array_grow(g->roots, g->n_roots, &b->cap.roots, sizeof(*g->roots));
	g->roots[g->n_roots++] = (struct graph_root){
		.node = node, .kind = r->root, .thread = r->thread,
		.depth = r->depth, .method = r->method,
	};
	return take_size(b, node, r);
}

static int take_own(struct graph_builder *b, uint32_t node, bool is_new)
{
	b->own.late |= !is_new;
	b->graph->class[node] |= GRAPH_OWN;
	if (node >= b->own.below)
		b->own.below = node + 1;
	return 0;
}

static int take_text(struct graph_builder *b, uint32_t node, const struct heap_stream_record *r)
{
	struct graph *g = b->graph;

	/* >= and not >, so that g->text is never NULL */
	while (b->len_text + r->text_len >= b->cap.text)
		g->text = mmap_array_grow(g->text, b->cap.text, &b->cap.text, 1);
	if (r->text_len > 0)
		memcpy(g->text + b->len_text, r->text, r->text_len);
	g->texts = mmap_array_grow(g->texts, g->n_texts, &b->cap.texts, sizeof(*g->texts));
	g->texts[g->n_texts++] = (struct graph_text_entry){
		.node = node, .len = r->text_len, .at = b->len_text, .form = r->form,
	};
	b->len_text += r->text_len;
	return 0;
}

static int take_record(struct graph_builder *b, size_t block, const struct heap_stream_record *r)
{
	uint32_t node = address_map_number(&b->map, block, r->address);
	bool is_new = node == b->graph->n;

	if (is_new)
		add_node(b);
	switch (r->kind) {
	case HEAP_STREAM_CLASS:
		return take_class(b, node, r);
	case HEAP_STREAM_OBJECT:
	case HEAP_STREAM_MIRROR:
		return take_object(b, node, r);
	case HEAP_STREAM_FIELD:
		return take_edge(b, node, GRAPH_FIELD, r);
	case HEAP_STREAM_STATIC:
		return take_edge(b, node, GRAPH_STATIC, r);
	case HEAP_STREAM_ELEMENT:
		return take_edge(b, node, GRAPH_ELEMENT, r);
	case HEAP_STREAM_REFERENT:
		return take_edge(b, node, GRAPH_REFERENT, r);
	case HEAP_STREAM_LINK:
		return take_edge(b, node, GRAPH_LINK, r);
	case HEAP_STREAM_ROOT:
		return take_root(b, node, r);
	case HEAP_STREAM_SIZE:
		return node == b->current.node ? take_size(b, node, r) : -EBADMSG;
	case HEAP_STREAM_OWN:
		return take_own(b, node, is_new);
	case HEAP_STREAM_TEXT:
		return take_text(b, node, r);
	case HEAP_STREAM_KINDS:
		break;
	}
	return -EBADMSG;
}

/* Returns whether there are too many nodes or edges for numbers of 32 bits. */
static bool is_full(const struct graph *g)
{
	return g->n > NODES_MAX || (uint64_t)g->n + g->n_edges > EDGES_MAX;
}

/* Number of records whose data is prefetched together. */
#define AHEAD 32

struct ahead {
	struct heap_stream_record records[AHEAD];
	size_t blocks[AHEAD];
	unsigned n;
};

static const uint8_t *read_ahead(struct graph_builder *b, struct ahead *ahead,
				 const uint8_t *stream, const uint8_t *end)
{
	for (ahead->n = 0; stream && stream < end && ahead->n < AHEAD; ahead->n++) {
		struct heap_stream_record *r = &ahead->records[ahead->n];

		stream = heap_stream_read(&b->stream_state, stream, end, r);
		ahead->blocks[ahead->n] = address_map_block(&b->map, r->address);
	}
	return stream;
}

static void prefetch_node(const struct graph *g, uint32_t node, enum heap_stream_kind kind)
{
	if (node == GRAPH_NONE)
		return;
	if (kind != HEAP_STREAM_OBJECT) {
		__builtin_prefetch(&g->size[node], 1);
		return;
	}
	__builtin_prefetch(&g->class[node], 1);
	__builtin_prefetch(&g->first[node], 1);
}

static void prefetch(const struct graph_builder *b, const struct ahead *ahead)
{
	for (unsigned i = 0; i < ahead->n; i++)
		address_map_prefetch(&b->map, ahead->blocks[i], ahead->records[i].address);
	for (unsigned i = 0; i < ahead->n; i++) {
		const struct heap_stream_record *r = &ahead->records[i];

		prefetch_node(b->graph, address_map_look(&b->map, ahead->blocks[i], r->address),
			      r->kind);
	}
}

int graph_builder_take(struct graph_builder *b, const uint8_t *stream, size_t len)
{
	const uint8_t *end = stream + len;
	struct ahead ahead;

	while (stream < end) {
		stream = read_ahead(b, &ahead, stream, end);
		if (!stream)
			return -EBADMSG;
		prefetch(b, &ahead);
		for (unsigned i = 0; i < ahead.n; i++) {
			int rc = take_record(b, ahead.blocks[i], &ahead.records[i]);

			if (rc < 0)
				return rc;
		}
		if (is_full(b->graph))
			return -EFBIG;
	}
	return b->max_bytes && bytes_of(b) > b->max_bytes ? -EFBIG : 0;
}
