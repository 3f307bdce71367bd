#include "model/graph/big_objects.h"

#include <stdlib.h>

#include "base/xalloc.h"

uint64_t big_objects_retained(const struct big_objects *b, uint32_t number)
{
	return b->tree->retained[b->list[number].node];
}

uint32_t big_objects_number(const struct big_objects *b, uint32_t node)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->list[middle].node == node)
			return (uint32_t)middle;
		if (b->list[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return GRAPH_NONE;
}

static bool same_class(const struct big_objects *b, uint32_t x, uint32_t y)
{
	return y < b->tree->n && graph_class(b->graph, x) == graph_class(b->graph, y);
}

bool big_objects_continues(const struct big_objects *b, uint32_t node)
{
	const uint32_t *dominator = b->tree->dominator;
	uint32_t above = dominator[node];

	if (above >= b->tree->n || graph_stands_for(b->graph, node) != GRAPH_NONE)
		return false;
	return same_class(b, node, above) || same_class(b, node, dominator[above]);
}

struct ranked {
	uint64_t retained;
	uint32_t number;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void put_in_order(struct big_objects *b)
{
	_cleanup_free_ struct ranked *ranked = xreallocarray(NULL, b->n + 1, sizeof(*ranked));

	for (uint32_t i = 0; i < b->n; i++)
		ranked[i] = (struct ranked){ big_objects_retained(b, i), i };
	if (b->n > 1)
		qsort(ranked, b->n, sizeof(*ranked), compare_ranked);
	b->order = xreallocarray(NULL, b->n + 1, sizeof(*b->order));
	for (size_t i = 0; i < b->n; i++)
		b->order[i] = ranked[i].number;
}

void big_objects_find(struct big_objects *b, const struct graph *g, const struct dominators *tree,
		      uint64_t least)
{
	*b = (struct big_objects){ .graph = g, .tree = tree, .least = least > 0 ? least : 1 };
	for (uint32_t node = 0; node < tree->n; node++) {
		if (!big_objects_has(b, node))
			continue;
		b->list = xgrow(b->list, b->n, &b->cap, sizeof(*b->list));
		b->list[b->n++] = (struct big_object){ .node = node };
	}
	for (size_t i = 0; i < b->n; i++)
		b->list[i].above = big_objects_number(b, tree->dominator[b->list[i].node]);
	put_in_order(b);
}

void big_objects_release(struct big_objects *b)
{
	free(b->list);
	free(b->order);
	*b = (struct big_objects){ 0 };
}
