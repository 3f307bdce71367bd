/* Heaps made by hand: objects are called by numbers from 1, classes by their place. */
#ifndef JTOOL_TESTS_MADE_HEAP_H
#define JTOOL_TESTS_MADE_HEAP_H

#include <check.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/heap.h"

struct made {
	struct tape_place place;
	struct buf tape;
};

static inline void made_record(struct made *m, struct tape_record record)
{
	uint8_t *to = (uint8_t *)buf_reserve(&m->tape, TAPE_RECORD_MAX + TAPE_TEXT_MAX);

	record.address *= 64;
	m->tape.len += (size_t)(tape_write(&m->place, to, &record) - to);
}

static inline void made_size(struct made *m, uint32_t object, uint64_t size)
{
	made_record(m, (struct tape_record){ .kind = TAPE_SIZE, .address = object, .size = size });
}

static inline void made_object(struct made *m, uint32_t object, uint32_t class, uint64_t size)
{
	made_record(m, (struct tape_record){
		.kind = TAPE_OBJECT, .address = object, .class = class,
	});
	made_size(m, object, size);
}

static inline void made_array(struct made *m, uint32_t object, uint32_t class, uint64_t size,
			      uint32_t length)
{
	made_record(m, (struct tape_record){
		.kind = TAPE_OBJECT, .address = object, .class = class,
	});
	made_record(m, (struct tape_record){
		.kind = TAPE_SIZE, .address = object, .size = size, .length = length,
		.is_array = true,
	});
}

static inline void made_mirror(struct made *m, uint32_t object, uint32_t class, uint64_t size)
{
	made_record(m, (struct tape_record){
		.kind = TAPE_CLASS, .address = object, .class = class,
	});
	made_record(m, (struct tape_record){ .kind = TAPE_MIRROR, .address = object });
	made_size(m, object, size);
}

/* From the object that was made last. */
static inline void made_edge(struct made *m, enum tape_kind kind, uint32_t to, uint32_t index)
{
	made_record(m, (struct tape_record){ .kind = kind, .address = to, .index = index });
}

static inline void made_root(struct made *m, uint32_t to, enum tape_root kind, uint64_t thread)
{
	made_record(m, (struct tape_record){
		.kind = TAPE_ROOT, .address = to, .root = kind, .thread = thread,
	});
}

/* The classes are called by these names, the first is java.lang.Class; empties m. */
static inline struct heap made_heap(struct made *m, const char *const *names, uint32_t n)
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
	ck_assert_int_eq(graph_builder_take(b, (uint8_t *)m->tape.data, m->tape.len), 0);
	h.graph = graph_build(b, &facts, &error);
	ck_assert_ptr_nonnull(h.graph);
	graph_builder_free(b);
	buf_release(&m->tape);
	*m = (struct made){ .tape = BUF_INIT };
	return h;
}

#endif
