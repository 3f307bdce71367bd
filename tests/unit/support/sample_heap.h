/* Builds heaps from heap streams.  Objects are numbered from 1, classes from 0. */
#ifndef JTOOL_TESTS_SAMPLE_HEAP_H
#define JTOOL_TESTS_SAMPLE_HEAP_H

#include <check.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/heap/heap.h"

struct heap_writer {
	struct heap_stream_state state;
	struct buf stream;
};

static inline void write_record(struct heap_writer *m, struct heap_stream_record record)
{
	uint8_t *to =
		(uint8_t *)buf_reserve(&m->stream, HEAP_STREAM_RECORD_MAX + HEAP_STREAM_TEXT_MAX);

	record.address *= 64;
	m->stream.len += (size_t)(heap_stream_write(&m->state, to, &record) - to);
}

static inline void write_size(struct heap_writer *m, uint32_t object, uint64_t size)
{
	write_record(m, (struct heap_stream_record){
			       .kind = HEAP_STREAM_SIZE, .address = object, .size = size });
}

static inline void write_object(struct heap_writer *m, uint32_t object, uint32_t class,
				uint64_t size)
{
	write_record(m, (struct heap_stream_record){
			       .kind = HEAP_STREAM_OBJECT,
			       .address = object,
			       .class = class,
		       });
	write_size(m, object, size);
}

static inline void write_array(struct heap_writer *m, uint32_t object, uint32_t class,
			       uint64_t size, uint32_t length)
{
	write_record(m, (struct heap_stream_record){
			       .kind = HEAP_STREAM_OBJECT,
			       .address = object,
			       .class = class,
		       });
	write_record(m, (struct heap_stream_record){
			       .kind = HEAP_STREAM_SIZE,
			       .address = object,
			       .size = size,
			       .length = length,
			       .is_array = true,
		       });
}

static inline void write_mirror(struct heap_writer *m, uint32_t object, uint32_t class,
				uint64_t size)
{
	write_record(m, (struct heap_stream_record){
			       .kind = HEAP_STREAM_CLASS,
			       .address = object,
			       .class = class,
		       });
	write_record(m,
		     (struct heap_stream_record){ .kind = HEAP_STREAM_MIRROR, .address = object });
	write_size(m, object, size);
}

/* Writes an edge from the object that was written last. */
static inline void write_edge(struct heap_writer *m, enum heap_stream_kind kind, uint32_t to,
			      uint32_t index)
{
	write_record(m, (struct heap_stream_record){ .kind = kind, .address = to, .index = index });
}

static inline void write_root(struct heap_writer *m, uint32_t to, enum heap_stream_root kind,
			      uint64_t thread)
{
	write_record(m, (struct heap_stream_record){
			       .kind = HEAP_STREAM_ROOT,
			       .address = to,
			       .root = kind,
			       .thread = thread,
		       });
}

/* Builds the heap and empties `m`.  `names`: names of n classes; the first is java.lang.Class. */
static inline struct heap build_heap(struct heap_writer *m, const char *const *names, uint32_t n)
{
	const struct graph_facts facts = { .n_classes = n };
	struct graph_builder *b = graph_builder_new(0);
	struct heap h = { .n_classes = n };
	int error = 0;

	h.classes = xcalloc(n, sizeof(*h.classes));
	for (uint32_t i = 0; i < n; i++) {
		h.classes[i].name = xstrdup(names[i]);
		h.classes[i].loader = xstrdup("app");
	}
	ck_assert_int_eq(graph_builder_take(b, (uint8_t *)m->stream.data, m->stream.len), 0);
	h.graph = graph_build(b, &facts, &error);
	ck_assert_ptr_nonnull(h.graph);
	graph_builder_free(b);
	buf_release(&m->stream);
	*m = (struct heap_writer){ .stream = BUF_INIT };
	return h;
}

#endif
