/* Counts the objects by class instead of writing them. */
#include "jvm/dump/dump_internal.h"

#define LAYOUT_HELPER 8 /* offset of Klass::_layout_helper, after the pointer to the vtable */
#define ALIGNMENT_MAX 256 /* maximum of -XX:ObjectAlignmentInBytes */
#define CLASSES_AT_ONCE 1024 /* number of classes in a frame of counts */

int ag_dump_count_make(struct ag_dump *d)
{
	d->tallies = ag_dump_map(d->list->n * sizeof(*d->tallies));
	d->n_tallies = d->list->n;
	d->heap.tallies = d->tallies;
	return d->tallies ? 0 : -1;
}

void ag_dump_count_release(struct ag_dump *d)
{
	ag_dump_unmap(d->tallies, d->n_tallies * sizeof(*d->tallies));
}

static bool is_array(const struct ag_dump_class *c)
{
	return c->kind == AG_DUMP_OBJECTS || c->kind == AG_DUMP_PRIMITIVES;
}

static void read_layout_helpers(struct ag_dump_heap *h)
{
	for (uint32_t i = 0; i < h->layout->n; i++) {
		struct ag_dump_class *c = &h->layout->classes[i];
		uint64_t klass = ag_dump_word64(c->address + h->probe.encoding.mirror_offset);

		c->layout_helper = (int32_t)ag_dump_word32(klass + LAYOUT_HELPER);
		if (is_array(c) != (c->layout_helper < 0))
			ag_exit(AG_CHILD_LAYOUT);
	}
}

void ag_dump_count_prepare(struct ag_dump *d)
{
	read_layout_helpers(&d->heap);
	d->heap.size_offsets = UINT64_MAX;
	for (uint32_t i = 0; i < d->own.n; i++)
		ag_dump_skip(&d->heap, ag_graph_address(d->own.objects[i]));
	for (uint32_t i = 0; i < d->sampled.n; i++)
		ag_dump_skip(&d->heap, ag_graph_address(d->sampled.objects[i]));
}

/* Clears bit i of size_offsets if this java.lang.Class does not have its size at offset 4 * i. */
static void narrow_offsets(struct ag_dump_heap *h, uint64_t mirror, uint64_t size)
{
	for (uint64_t i = 0; i < 64; i++) {
		if (4 * i >= size || ag_dump_word32(mirror + 4 * i) != size / AG_DUMP_WORD)
			h->size_offsets &= ~((uint64_t)1 << i);
	}
}

void ag_dump_count_verify(struct ag_dump_heap *h, uint64_t object, uint64_t size)
{
	struct ag_dump_class *c = &h->layout->classes[ag_dump_class_of(h, object)];
	uint64_t computed;

	h->sizes |= size;
	if (c->kind == AG_DUMP_CLASS) {
		narrow_offsets(h, object, size);
		return;
	}
	if (c->kind == AG_DUMP_STACK)
		return;
	computed = ag_dump_size(h, c, object); /* without an array's padding: it is not known yet */
	if (size < computed || size - computed >= (is_array(c) ? ALIGNMENT_MAX : 1))
		ag_exit(AG_CHILD_LAYOUT);
}

void ag_dump_count_begin(struct ag_dump_heap *h)
{
	/*
	 * The lowest bit that any size has: every size is a multiple of the alignment, and some
	 * sizes are odd multiples of it.
	 */
	uint64_t alignment = h->sizes & -h->sizes;

	if (alignment < AG_DUMP_WORD || alignment > ALIGNMENT_MAX || h->size_offsets == 0)
		ag_exit(AG_CHILD_LAYOUT);
	h->padding = alignment - 1;
	h->size_at = 4 * (unsigned)__builtin_ctzll(h->size_offsets);
}

void ag_dump_count_send(struct ag_dump *d)
{
	for (uint32_t i = 0; i < d->n_tallies;) {
		struct wire_writer *w = ag_chan_begin(d->chan);

		for (uint32_t n = 0; n < CLASSES_AT_ONCE && i < d->n_tallies; n++, i++) {
			wire_put_u64(w, d->tallies[i].instances);
			wire_put_u64(w, d->tallies[i].bytes);
		}
		(void)ag_chan_end(d->chan, AG_DUMP_COUNTS); /* an error breaks the channel */
	}
}

void ag_dump_count_take(struct ag_dump *d, const struct wire_writer *frame)
{
	struct wire_reader r = wire_reader_init(frame->data, frame->len);

	while (r.at < r.end && d->n_received < d->n_tallies) {
		struct ag_tally *tally = &d->tallies[d->n_received++];

		tally->instances = wire_get_u64(&r);
		tally->bytes = wire_get_u64(&r);
	}
}
