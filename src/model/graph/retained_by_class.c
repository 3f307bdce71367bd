/* Retained sizes of groups of classes. */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/graph/graph_internal.h"

/* The dominator tree, for a walk from its root: each node's first child and next sibling. */
struct children {
	uint32_t *first, *next;
};

static void children_init(struct children *f, const struct dominators *tree)
{
	f->first = mmap_array_new((size_t)tree->n + 1, sizeof(*f->first));
	f->next = mmap_array_new(tree->n, sizeof(*f->next));
	for (uint32_t node = 0; node <= tree->n; node++)
		f->first[node] = GRAPH_NONE;
	for (uint32_t node = tree->n; node-- > 0;) {
		uint32_t above = tree->dominator[node];

		if (above == GRAPH_NONE)
			continue;
		f->next[node] = f->first[above];
		f->first[above] = node;
	}
}

static void children_release(struct children *f)
{
	mmap_array_free(f->first);
	mmap_array_free(f->next);
}

struct summing {
	const struct graph *graph;
	const struct dominators *tree;
	const uint32_t *group;
	struct graph_sum *sums;
	/* indexed by group: number of the group's nodes that were entered and not left yet */
	uint32_t *open;
};

static void enter(struct summing *s, uint32_t node)
{
	uint32_t class = graph_class(s->graph, node);
	struct graph_sum *sum;

	if (class == GRAPH_NONE)
		return;
	sum = &s->sums[s->group[class]];
	sum->instances++;
	sum->shallow += graph_size(s->graph, node);
	if (s->open[s->group[class]]++ == 0)
		sum->retained += s->tree->retained[node];
}

static void leave(struct summing *s, uint32_t node)
{
	uint32_t class = graph_class(s->graph, node);

	if (class != GRAPH_NONE)
		s->open[s->group[class]]--;
}

void graph_sum_up(const struct graph *g, const struct dominators *tree, const uint32_t *group,
		  uint32_t n_groups, struct graph_sum *sums)
{
	struct summing s = { g, tree, group, sums, xcalloc(n_groups, sizeof(uint32_t)) };
	uint32_t node = tree->n;
	struct children f;

	memset(sums, 0, n_groups * sizeof(*sums));
	children_init(&f, tree);
	for (;;) {
		uint32_t child = f.first[node];

		if (child != GRAPH_NONE) {
			/* Remove the child from the node's children, so that it is visited once. */
			f.first[node] = f.next[child];
			enter(&s, child);
			node = child;
		} else if (node != tree->n) {
			leave(&s, node);
			node = tree->dominator[node];
		} else {
			break;
		}
	}
	children_release(&f);
	free(s.open);
}

struct graph_sum graph_sum_unreached(const struct graph *g, const struct dominators *tree)
{
	struct graph_sum sum = { 0 };

	for (uint32_t node = 0; node < tree->n; node++) {
		if (tree->dominator[node] != GRAPH_NONE || graph_is_own(g, node) ||
		    graph_class(g, node) == GRAPH_NONE)
			continue;
		sum.instances++;
		sum.shallow += graph_size(g, node);
	}
	return sum;
}
