/* From the tape to a graph in the making: what is met is numbered, edges are put in a row. */
#include "model/graph_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define NODES_MAX (UINT32_C(1) << 31)
#define EDGES_MAX (UINT32_MAX - 99) /* class edges included; the numbers above mean other things */

struct graph_builder *graph_builder_new(size_t max_bytes)
{
	struct graph_builder *b = xcalloc(1, sizeof(*b));

	b->graph = xcalloc(1, sizeof(*b->graph));
	b->max_bytes = max_bytes;
	b->told = GRAPH_NONE;
	b->class_object = GRAPH_NONE;
	return b;
}

void graph_builder_free(struct graph_builder *b)
{
	if (!b)
		return;
	graph_free(b->graph);
	graph_map_release(&b->map);
	bigarray_free(b->classes);
	free(b);
}

uint64_t graph_builder_objects(const struct graph_builder *b)
{
	return b->n_told;
}

static size_t bytes_of(const struct graph_builder *b)
{
	const struct graph *g = b->graph;

	return graph_map_bytes(&b->map) +
	       g->n * (sizeof(*g->class) + sizeof(*g->size) + sizeof(*g->first)) +
	       g->n_edges * (sizeof(*g->to) + sizeof(*g->tag)) + g->n_far * sizeof(*g->far) +
	       g->n_lengths * sizeof(*g->lengths) + g->n_roots * sizeof(*g->roots) +
	       g->n_texts * sizeof(*g->texts) + b->len_text +
	       b->n_classes * sizeof(*b->classes);
}

static void add_node(struct graph_builder *b)
{
	struct graph *g = b->graph;

	g->class = bigarray_grow(g->class, g->n, &b->cap_class, sizeof(*g->class));
	g->size = bigarray_grow(g->size, g->n, &b->cap_size, sizeof(*g->size));
	g->first = bigarray_grow(g->first, g->n, &b->cap_first, sizeof(*g->first));
	g->class[g->n] = GRAPH_NUMBER;
	g->size[g->n] = 0;
	g->first[g->n++] = GRAPH_NONE;
}

/* Whoever refers to an object tells its size, and all the same. */
static int take_size(struct graph_builder *b, uint32_t node, const struct tape_record *r)
{
	struct graph *g = b->graph;
	uint64_t words = r->size / TAPE_WORD;

	if (words == 0 || words == g->size[node])
		return 0;
	if (g->size[node] != 0 || words > UINT32_MAX)
		return -EBADMSG;
	g->size[node] = (uint32_t)words;
	if (!r->is_array)
		return 0;
	g->class[node] |= GRAPH_ARRAY;
	g->lengths = bigarray_grow(g->lengths, g->n_lengths, &b->cap_lengths, sizeof(*g->lengths));
	g->lengths[g->n_lengths++] = (struct graph_length){ node, r->length };
	return 0;
}

static void add_far(struct graph_builder *b, enum graph_via via, uint32_t index)
{
	struct graph *g = b->graph;

	g->far = bigarray_grow(g->far, g->n_far, &b->cap_far, sizeof(*g->far));
	g->far[g->n_far++] = (struct graph_far){ g->n_edges, index, (uint8_t)via };
}

static uint8_t tag_of(struct graph_builder *b, enum graph_via via, uint32_t index)
{
	const struct graph_code *code = graph_codes;
	uint32_t told = index;

	while (code->via != via)
		code++;
	if (via == GRAPH_ELEMENT) {
		told -= b->element; /* wraps to far beyond where they do not ascend */
		b->element = index + 1;
		b->run = b->run % GRAPH_ELEMENT_RUN + 1;
	} else {
		b->element = 0;
	}
	if (told < code->n && (via != GRAPH_ELEMENT || b->run < GRAPH_ELEMENT_RUN))
		return (uint8_t)(code->first + told);
	add_far(b, via, index);
	return GRAPH_FAR;
}

/* Own objects are told first, mostly, so their numbers are low. */
static bool is_own(const struct graph_builder *b, uint32_t node)
{
	return node < b->own_below && b->graph->class[node] & GRAPH_OWN;
}

static int take_edge(struct graph_builder *b, uint32_t to, enum graph_via via,
		     const struct tape_record *r)
{
	struct graph *g = b->graph;
	int rc = take_size(b, to, r);
	uint8_t tag;

	if (rc < 0)
		return rc;
	if (b->told == GRAPH_NONE || (via == GRAPH_REFERENT && r->index >= TAPE_STRENGTHS) ||
	    (via == GRAPH_LINK && r->index >= TAPE_LINKS))
		return -EBADMSG;
	if (is_own(b, b->told) || is_own(b, to))
		return 0;
	tag = tag_of(b, via, r->index);
	if (g->first[b->told] == GRAPH_NONE) {
		g->first[b->told] = g->n_edges;
		tag |= GRAPH_FIRST;
	}
	g->to = bigarray_grow(g->to, g->n_edges, &b->cap_to, sizeof(*g->to));
	g->tag = bigarray_grow(g->tag, g->n_edges, &b->cap_tag, sizeof(*g->tag));
	g->to[g->n_edges] = to;
	g->tag[g->n_edges++] = tag;
	return 0;
}

/* A java.lang.Class may be told as an object of its class, too: graph_build() knows which it is. */
static int claim_class_object(struct graph_builder *b, uint32_t class)
{
	if (b->class_object != GRAPH_NONE && b->class_object != class)
		return -EBADMSG;
	b->class_object = class;
	return 0;
}

static int take_object(struct graph_builder *b, uint32_t node, const struct tape_record *r)
{
	uint32_t *class = &b->graph->class[node];

	if (*class & GRAPH_TOLD || r->class >= GRAPH_NUMBER)
		return -EBADMSG;
	b->told = node;
	b->element = 0;
	b->run = 0;
	b->n_told++;
	*class |= GRAPH_TOLD;
	if (r->kind == TAPE_MIRROR) {
		*class |= GRAPH_MIRROR;
		return 0;
	}
	if (r->class >= b->min_classes)
		b->min_classes = r->class + 1;
	if (*class & GRAPH_MIRROR)
		return claim_class_object(b, r->class);
	*class = (*class & ~GRAPH_NUMBER) | r->class;
	return 0;
}

static int take_class(struct graph_builder *b, uint32_t node, const struct tape_record *r)
{
	uint32_t *class = &b->graph->class[node];
	uint32_t number = *class & GRAPH_NUMBER;
	int rc;

	if (r->class >= GRAPH_NUMBER)
		return -EBADMSG;
	if (*class & GRAPH_MIRROR && number != GRAPH_NUMBER)
		return number == r->class ? 0 : -EBADMSG;
	if (!(*class & GRAPH_MIRROR) && *class & GRAPH_TOLD) {
		rc = claim_class_object(b, number);
		if (rc < 0)
			return rc;
	}
	*class = (*class & ~GRAPH_NUMBER) | GRAPH_MIRROR | r->class;
	b->classes = bigarray_grow(b->classes, b->n_classes, &b->cap_classes, sizeof(*b->classes));
	b->classes[b->n_classes++] = (struct graph_told_class){ r->class, node };
	return 0;
}

static int take_root(struct graph_builder *b, uint32_t node, const struct tape_record *r)
{
	struct graph *g = b->graph;

	g->roots = bigarray_grow(g->roots, g->n_roots, &b->cap_roots, sizeof(*g->roots));
	g->roots[g->n_roots++] = (struct graph_root){
		.node = node, .kind = r->root, .thread = r->thread,
		.depth = r->depth, .method = r->method,
	};
	return take_size(b, node, r);
}

static int take_own(struct graph_builder *b, uint32_t node, bool is_new)
{
	b->own_late |= !is_new;
	b->graph->class[node] |= GRAPH_OWN;
	if (node >= b->own_below)
		b->own_below = node + 1;
	return 0;
}

static int take_text(struct graph_builder *b, uint32_t node, const struct tape_record *r)
{
	struct graph *g = b->graph;

	while (b->len_text + r->text_len >= b->cap_text) /* so that none has no place */
		g->text = bigarray_grow(g->text, b->cap_text, &b->cap_text, 1);
	if (r->text_len > 0)
		memcpy(g->text + b->len_text, r->text, r->text_len);
	g->texts = bigarray_grow(g->texts, g->n_texts, &b->cap_texts, sizeof(*g->texts));
	g->texts[g->n_texts++] = (struct graph_told_text){
		.node = node, .len = r->text_len, .at = b->len_text, .form = r->form,
	};
	b->len_text += r->text_len;
	return 0;
}

static int take_record(struct graph_builder *b, size_t block, const struct tape_record *r)
{
	uint32_t node = graph_map_number(&b->map, block, r->address);
	bool is_new = node == b->graph->n;

	if (is_new)
		add_node(b);
	switch (r->kind) {
	case TAPE_CLASS:
		return take_class(b, node, r);
	case TAPE_OBJECT:
	case TAPE_MIRROR:
		return take_object(b, node, r);
	case TAPE_FIELD:
		return take_edge(b, node, GRAPH_FIELD, r);
	case TAPE_STATIC:
		return take_edge(b, node, GRAPH_STATIC, r);
	case TAPE_ELEMENT:
		return take_edge(b, node, GRAPH_ELEMENT, r);
	case TAPE_REFERENT:
		return take_edge(b, node, GRAPH_REFERENT, r);
	case TAPE_LINK:
		return take_edge(b, node, GRAPH_LINK, r);
	case TAPE_ROOT:
		return take_root(b, node, r);
	case TAPE_SIZE:
		return node == b->told ? take_size(b, node, r) : -EBADMSG;
	case TAPE_OWN:
		return take_own(b, node, is_new);
	case TAPE_TEXT:
		return take_text(b, node, r);
	case TAPE_KINDS:
		break;
	}
	return -EBADMSG;
}

/* Numbers are of 32 bits, also of edges. */
static bool is_full(const struct graph *g)
{
	return g->n > NODES_MAX || (uint64_t)g->n + g->n_edges > EDGES_MAX;
}

/* So many records at once: objects that lie anywhere are all asked of the memory together. */
#define AHEAD 32

struct ahead {
	struct tape_record records[AHEAD];
	size_t blocks[AHEAD];
	unsigned n;
};

static const uint8_t *read_ahead(struct graph_builder *b, struct ahead *ahead,
				 const uint8_t *tape, const uint8_t *end)
{
	for (ahead->n = 0; tape && tape < end && ahead->n < AHEAD; ahead->n++) {
		struct tape_record *r = &ahead->records[ahead->n];

		tape = tape_read(&b->place, tape, end, r);
		ahead->blocks[ahead->n] = graph_map_block(&b->map, r->address);
	}
	return tape;
}

static void expect_node(const struct graph *g, uint32_t node, enum tape_kind kind)
{
	if (node == GRAPH_NONE)
		return;
	if (kind != TAPE_OBJECT) {
		__builtin_prefetch(&g->size[node], 1);
		return;
	}
	__builtin_prefetch(&g->class[node], 1);
	__builtin_prefetch(&g->first[node], 1);
}

static void expect(const struct graph_builder *b, const struct ahead *ahead)
{
	for (unsigned i = 0; i < ahead->n; i++)
		graph_map_expect(&b->map, ahead->blocks[i], ahead->records[i].address);
	for (unsigned i = 0; i < ahead->n; i++) {
		const struct tape_record *r = &ahead->records[i];

		expect_node(b->graph, graph_map_look(&b->map, ahead->blocks[i], r->address),
			    r->kind);
	}
}

int graph_builder_take(struct graph_builder *b, const uint8_t *tape, size_t len)
{
	const uint8_t *end = tape + len;
	struct ahead ahead;

	while (tape < end) {
		tape = read_ahead(b, &ahead, tape, end);
		if (!tape)
			return -EBADMSG;
		expect(b, &ahead);
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
