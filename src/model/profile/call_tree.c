#include "model/stacktree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static uint32_t add_node(struct stacktree *t, uint32_t parent, uint32_t name)
{
	t->nodes = xgrow(t->nodes, t->n, &t->cap, sizeof(*t->nodes));
	t->nodes[t->n] = (struct stacknode){ .name = name, .parent = parent };
	return (uint32_t)t->n++;
}

void stacktree_init(struct stacktree *t, const char *unit, const char *other_unit)
{
	*t = (struct stacktree){ .units = { unit, other_unit } };
	(void)add_node(t, 0, intern_text(&t->names, "")); /* node 0 */
}

void stacktree_release(struct stacktree *t)
{
	free(t->nodes);
	intern_release(&t->names);
	idmap_release(&t->children);
	*t = (struct stacktree){ 0 };
}

uint32_t stacktree_child(struct stacktree *t, uint32_t parent, const char *name)
{
	uint32_t number = intern_text(&t->names, name);
	uint64_t id = (uint64_t)parent << 32 | number;
	uint32_t there = idmap_get(&t->children, id);

	if (there != IDMAP_NONE)
		return there;
	if (t->n >= STACKTREE_NODES_MAX) {
		t->full = true;
		return parent;
	}
	return idmap_add(&t->children, id, add_node(t, parent, number));
}

uint32_t stacktree_begin(struct stacktree *t, uint32_t n_frames, uint32_t most)
{
	char name[40];

	if (n_frames < most)
		return 0;
	(void)snprintf(name, sizeof(name), "(%" PRIu32 " frame%s or more)", most,
		       most == 1 ? "" : "s");
	return stacktree_child(t, 0, name);
}

static void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

void stacktree_add(struct stacktree *t, uint32_t node, const uint64_t values[STACKTREE_VALUES])
{
	for (unsigned i = 0; i < STACKTREE_VALUES; i++)
		add_up(&t->nodes[node].self[i], values[i]);
}

const char *stacktree_name(const struct stacktree *t, uint32_t node)
{
	return intern_get(&t->names, t->nodes[node].name, NULL);
}

/* Parents have the lower numbers: from the last on, a node's children are done before it. */
static void sum_up(struct stacktree *t)
{
	for (size_t i = 0; i < t->n; i++)
		memcpy(t->nodes[i].total, t->nodes[i].self, sizeof(t->nodes[i].total));
	for (size_t i = t->n; i-- > 1;) {
		const struct stacknode *node = &t->nodes[i];

		for (unsigned v = 0; v < STACKTREE_VALUES; v++)
			add_up(&t->nodes[node->parent].total[v], node->total[v]);
	}
}

struct named {
	const char *text;
	uint32_t number;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->text, ((const struct named *)b)->text);
}

/* The place of each name among all, in the order of their bytes. */
static uint32_t *rank_names(const struct stacktree *t)
{
	_cleanup_free_ struct named *sorted = xcalloc(t->names.n, sizeof(*sorted));
	uint32_t *ranks = xcalloc(t->names.n, sizeof(*ranks));

	for (uint32_t i = 0; i < t->names.n; i++)
		sorted[i] = (struct named){ intern_get(&t->names, i, NULL), i };
	qsort(sorted, t->names.n, sizeof(*sorted), by_text);
	for (uint32_t i = 0; i < t->names.n; i++)
		ranks[sorted[i].number] = i;
	return ranks;
}

/* All nodes but the root, in the order of their names: sorted by counting. */
static uint32_t *sort_nodes(const struct stacktree *t)
{
	_cleanup_free_ uint32_t *ranks = rank_names(t);
	_cleanup_free_ uint32_t *begins = xcalloc(t->names.n + 1, sizeof(*begins));
	uint32_t *sorted = xcalloc(t->n, sizeof(*sorted));

	for (size_t i = 1; i < t->n; i++)
		begins[ranks[t->nodes[i].name] + 1]++;
	for (size_t i = 1; i <= t->names.n; i++)
		begins[i] += begins[i - 1];
	for (uint32_t i = 1; i < t->n; i++)
		sorted[begins[ranks[t->nodes[i].name]]++] = i;
	return sorted;
}

/* Put in front of its brothers one by one, from the last name on. */
static void link_children(struct stacktree *t)
{
	_cleanup_free_ uint32_t *sorted = sort_nodes(t);

	for (size_t i = 0; i < t->n; i++)
		t->nodes[i].first = 0;
	for (size_t i = t->n - 1; i-- > 0;) {
		struct stacknode *node = &t->nodes[sorted[i]];
		struct stacknode *parent = &t->nodes[node->parent];

		node->next = parent->first;
		parent->first = sorted[i];
	}
}

void stacktree_sum(struct stacktree *t)
{
	sum_up(t);
	link_children(t);
}

uint32_t stacktree_next(const struct stacktree *t, uint32_t node, bool children, size_t *up)
{
	*up = 0;
	if (children && t->nodes[node].first != 0)
		return t->nodes[node].first;
	for (; node != 0; node = t->nodes[node].parent) {
		++*up;
		if (t->nodes[node].next != 0)
			return t->nodes[node].next;
	}
	return 0;
}
