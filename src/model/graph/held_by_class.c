#include "model/graph/held_by_class.h"

#include <stdlib.h>

#include "base/id_map.h"
#include "base/xalloc.h"

/* The rows while objects are counted.  `by_key` maps a holder and a class to an index in `rows`. */
struct counts {
	struct held_row *rows;
	size_t n, cap;
	struct id_map by_key;
};

static struct held_row *row_of(struct counts *c, uint32_t holder, uint32_t class)
{
	uint64_t key = (uint64_t)holder << 32 | class;
	uint32_t number = id_map_add(&c->by_key, key, (uint32_t)c->n);

	if (number == c->n) {
		c->rows = xgrow(c->rows, c->n, &c->cap, sizeof(*c->rows));
		c->rows[c->n++] = (struct held_row){ .holder = holder, .class = class };
	}
	return &c->rows[number];
}

static void count(struct counts *c, const struct big_objects *b, uint32_t holder, uint32_t node,
		  uint64_t bytes)
{
	struct held_row *row = row_of(c, holder, graph_class(b->graph, node));
	const uint64_t *retained = b->tree->retained;

	if (row->n == 0 || retained[node] > retained[row->biggest])
		row->biggest = node;
	row->n++;
	row->bytes += bytes;
}

struct finder {
	const struct big_objects *bigs;
	const struct held_by_class_wanted *wanted;
	/*
	 * Indexed by node; used for nodes that are not big: 1 + the holder whose list or tree
	 * contains the node; 0: not computed yet; GRAPH_NONE: no holder.  `known` is NULL if
	 * wanted->follow is false.
	 */
	uint32_t *known;
	struct counts counts;
};

/* Returns the holder for the objects that `node` dominates directly; GRAPH_NONE: no holder. */
static uint32_t owner_of(const struct finder *f, uint32_t node)
{
	const struct big_objects *b = f->bigs;
	uint32_t at = node, owner = GRAPH_NONE;

	if (node >= b->tree->n)
		return f->wanted->roots;
	while (f->known && !big_objects_has(b, at) && f->known[at] == 0 &&
	       big_objects_continues(b, at))
		at = b->tree->dominator[at];
	if (big_objects_has(b, at))
		owner = f->wanted->holders[big_objects_number(b, at)];
	else if (!f->known)
		return GRAPH_NONE;
	else if (f->known[at] > 0 && f->known[at] < GRAPH_NONE)
		owner = f->known[at] - 1;
	for (; node != at; node = b->tree->dominator[node])
		f->known[node] = owner == GRAPH_NONE ? GRAPH_NONE : owner + 1;
	return owner;
}

static enum held_role role_of(const struct finder *f, uint32_t node)
{
	if (big_objects_has(f->bigs, node))
		return f->wanted->roles[big_objects_number(f->bigs, node)];
	return owner_of(f, node) != GRAPH_NONE ? HELD_SHALLOW : HELD_RETAINED;
}

static void count_node(struct finder *f, uint32_t node)
{
	const struct big_objects *b = f->bigs;
	uint32_t dominator = b->tree->dominator[node];
	uint32_t holder = dominator == GRAPH_NONE ? GRAPH_NONE : owner_of(f, dominator);

	if (holder == GRAPH_NONE)
		return;
	switch (role_of(f, node)) {
	case HELD_RETAINED:
		count(&f->counts, b, holder, node, b->tree->retained[node]);
		return;
	case HELD_SHALLOW:
		count(&f->counts, b, holder, node, graph_size(b->graph, node));
		return;
	case HELD_APART:
		return;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct held_row *x = a, *y = b;

	if (x->holder != y->holder)
		return x->holder < y->holder ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

void held_by_class_find(struct held_by_class *p, const struct big_objects *b,
			const struct held_by_class_wanted *wanted)
{
	struct finder f = { .bigs = b, .wanted = wanted };

	if (wanted->follow)
		f.known = xcalloc((size_t)b->tree->n + 1, sizeof(*f.known));
	for (uint32_t node = 0; node < b->tree->n; node++)
		count_node(&f, node);
	free(f.known);
	id_map_release(&f.counts.by_key);
	*p = (struct held_by_class){ .list = f.counts.rows, .n = f.counts.n };
	if (p->n > 1)
		qsort(p->list, p->n, sizeof(*p->list), compare_rows);
}

void held_by_class_release(struct held_by_class *p)
{
	free(p->list);
	*p = (struct held_by_class){ 0 };
}

/* Returns the index of the holder's first row. */
static size_t first_of(const struct held_by_class *p, uint32_t holder)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->list[middle].holder < holder)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct held_by_class_sum held_by_class_of(const struct held_by_class *p, uint32_t holder)
{
	struct held_by_class_sum sum = { .first = first_of(p, holder) };

	for (size_t i = sum.first; i < p->n && p->list[i].holder == holder; i++) {
		sum.n_classes++;
		sum.n += p->list[i].n;
		sum.bytes += p->list[i].bytes;
	}
	return sum;
}
