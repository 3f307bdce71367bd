/* Parses the agent's frames, frame by frame: a class index, the answer of a walk, and class
 * fields. */
#include "base/xalloc.h"
#include "model/heap/heap_wire.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct agents {
	struct classes classes;
	struct class_info info;
	struct heap heap;
	struct heap_wire wire;
	struct graph_builder *builder;
	unsigned answers; /* complete answers */
};

/* Returns 1 if an answer is complete, or -EBADMSG. */
static int take(struct agents *a, uint16_t type, struct wire_reader *payload)
{
	if (a->answers == 0)
		return classes_take(&a->classes, type, payload);
	if (a->answers > 1)
		return class_info_take(&a->info, &a->classes.origins, type, payload);
	if (type == WIRE_HEAP_STREAM)
		return graph_builder_take(a->builder, payload->at,
					  (size_t)(payload->end - payload->at));
	return heap_wire_take(&a->wire, type, payload);
}

static void take_all(struct agents *a, const uint8_t *data, size_t size)
{
	struct wire_header header;
	int rc = 0;

	while (rc >= 0 && size >= WIRE_HEADER_LEN && wire_header_read(data, &header) &&
	       header.len <= size - WIRE_HEADER_LEN) {
		struct wire_reader payload = wire_reader_init(data + WIRE_HEADER_LEN, header.len);

		rc = take(a, header.type, &payload);
		a->answers += rc == 1;
		data += WIRE_HEADER_LEN + header.len;
		size -= WIRE_HEADER_LEN + header.len;
	}
}

static void name_fields(struct agents *a, uint32_t n_classes)
{
	struct shapes shapes;

	shapes_init(&shapes, n_classes);
	if (n_classes > 0) {
		heap_wire_shape(&a->classes, &a->info, &shapes.list[0]);
		(void)heap_fields_missing(&shapes, 0);
		heap_fields_fill(&a->heap, &shapes, 0);
	}
	shapes_release(&shapes);
}

static void look_at(struct agents *a)
{
	struct graph_facts facts;
	bool *permanent;
	int error;

	classes_sort(&a->classes);
	heap_wire_finish(&a->wire, &facts);
	permanent = xcalloc(a->heap.n_classes + 1, sizeof(*permanent));
	facts.permanent = permanent;
	a->heap.graph = graph_build(a->builder, &facts, &error);
	free(permanent);
	name_fields(a, facts.n_classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agents a = { .answers = 0 };

	a.wire = (struct heap_wire){ .classes = &a.classes, .heap = &a.heap };
	a.builder = graph_builder_new(1 << 20);
	take_all(&a, data, size);
	if (a.answers > 1)
		look_at(&a);
	graph_builder_free(a.builder);
	class_info_release(&a.info);
	heap_release(&a.heap);
	classes_release(&a.classes);
	return 0;
}
