/*
 * Limits the memory that the reader needs for names, classes, threads and stacks, because a small
 * compressed dump can contain any number of them.
 */
#include "model/hprof/hprof_internal.h"

#define BLOCK_OVERHEAD 16 /* bytes that malloc(3) adds to each block */

void hprof_charge(struct hprof_reader *r, size_t bytes)
{
	r->charged += bytes + BLOCK_OVERHEAD;
}

static size_t of_map(const struct id_map *m)
{
	return m->cap * sizeof(*m->entries);
}

static size_t of_tables(const struct hprof_tables *t)
{
	return t->texts.cap + t->cap_symbols * sizeof(*t->symbols) +
	       t->cap_frames * sizeof(*t->frames) + t->cap_traces * sizeof(*t->traces) +
	       of_map(&t->symbol_ids) + of_map(&t->frame_ids) + of_map(&t->thread_traces) +
	       of_map(&t->class_serials) + of_map(&t->methods);
}

static size_t of_classes(const struct hprof_classes *c)
{
	return c->cap * sizeof(*c->list) + of_map(&c->ids) + of_map(&c->of_loaders);
}

static size_t of_names(const struct hprof_names *n)
{
	if (!n)
		return 0;
	return n->cap * (sizeof(*n->names) + HPROF_NAME_MAX) + of_map(&n->threads) +
	       of_map(&n->strings) + of_map(&n->arrays) + of_map(&n->tids);
}

static size_t of_heap(const struct heap *h)
{
	return h->cap_classes * sizeof(*h->classes) + h->cap_threads * sizeof(*h->threads) +
	       h->cap_methods * sizeof(*h->methods) + of_map(&h->thread_ids);
}

int hprof_check_memory(const struct hprof_reader *r, struct err *err)
{
	size_t max = r->wants.max_memory;
	size_t used = r->charged + of_tables(&r->tables) + of_classes(&r->classes) +
		      of_names(r->wants.names) + of_heap(r->heap) + r->in.carry.cap +
		      r->cap_thread_objects * sizeof(*r->thread_objects);

	if (max == 0 || used <= max)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "the names and classes of the dump need more than %zu MB of memory%s%s",
		       max >> 20, r->wants.advice ? "; " : ", which is jtool's limit",
		       r->wants.advice ? r->wants.advice : "");
}
