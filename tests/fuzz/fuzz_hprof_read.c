/* Reads a heap dump into a graph in pieces; the first byte is their size. */
#include <stdlib.h>
#include <string.h>

#include "model/hprof/hprof_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(struct hprof_reader *r, const uint8_t *data, size_t size, size_t piece)
{
	struct err err = { 0 };

	for (size_t at = 0; at < size; at += piece) {
		if (hprof_feed(r, data + at, size - at < piece ? size - at : piece, &err) < 0)
			return -1;
	}
	return hprof_end(r, &err);
}

static struct object_layout look(const uint8_t *data, size_t size, size_t piece,
				 struct hprof_names *names)
{
	const struct hprof_wants wants = { .names = names };
	struct heap heap = { 0 };
	struct hprof_reader *r = hprof_reader_new(&heap, &wants);
	struct object_layout layout = { 0 };

	if (feed(r, data, size, piece) == 0)
		layout = hprof_guess_layout(r);
	hprof_reader_free(r);
	heap_release(&heap);
	return layout;
}

static void build(struct hprof_reader *r, struct graph_builder *builder, struct heap *heap)
{
	struct graph_facts facts = { .class_class = hprof_class_class(r) };
	int error;

	facts.n_classes = (uint32_t)heap->n_classes;
	heap->graph = graph_build(builder, &facts, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hprof_names names = { 0 };
	struct hprof_wants wants = { .texts_from = 2, .names = &names };
	struct heap heap = { 0 };
	struct hprof_reader *r;
	size_t piece;

	if (size == 0)
		return 0;
	piece = data[0] ? data[0] : size;
	wants.layout = look(data + 1, size - 1, piece, &names);
	wants.builder = graph_builder_new(16 << 20);
	r = hprof_reader_new(&heap, &wants);
	if (feed(r, data + 1, size - 1, piece) == 0)
		build(r, wants.builder, &heap);
	hprof_reader_free(r);
	graph_builder_free(wants.builder);
	heap_release(&heap);
	hprof_names_release(&names);
	return 0;
}
