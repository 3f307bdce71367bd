#include "model/profile/call_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static uint32_t add_node(struct call_tree *t, uint32_t parent, uint32_t name)
{
	t->nodes = xgrow(t->nodes, t->n, &t->cap, sizeof(*t->nodes));
	t->nodes[t->n] = (struct call_node){ .name = name, .parent = parent };
	return (uint32_t)t->n++;
}

void call_tree_init(struct call_tree *t, const char *unit, const char *other_unit)
{
	*t = (struct call_tree){ .units = { unit, other_unit } };
	(void)add_node(t, 0, intern_text(&t->names, "")); /* node 0, the root */
}

void call_tree_release(struct call_tree *t)
{
	free(t->nodes);
	intern_release(&t->names);
	id_map_release(&t->children);
	*t = (struct call_tree){ 0 };
}

uint32_t call_tree_child(struct call_tree *t, uint32_t parent, const char *name)
{
	uint32_t number = intern_text(&t->names, name);
	uint64_t id = (uint64_t)parent << 32 | number;
	uint32_t existing = id_map_get(&t->children, id);

	if (existing != ID_MAP_NONE)
		return existing;
	if (t->n >= CALL_TREE_NODES_MAX) {
		t->full = true;
		return parent;
	}
	return id_map_add(&t->children, id, add_node(t, parent, number));
}

uint32_t call_tree_cut(struct call_tree *t, uint32_t parent, uint32_t n_frames)
{
	char name[40];

	(void)snprintf(name, sizeof(name), "(%" PRIu32 " frame%s or more)", n_frames,
		       n_frames == 1 ? "" : "s");
	return call_tree_child(t, parent, name);
}

uint32_t call_tree_begin(struct call_tree *t, uint32_t n_frames, uint32_t max_frames)
{
	return n_frames < max_frames ? 0 : call_tree_cut(t, 0, max_frames);
}

void call_tree_add_values(uint64_t sum[CALL_TREE_VALUES], const uint64_t values[CALL_TREE_VALUES])
{
	for (unsigned i = 0; i < CALL_TREE_VALUES; i++) {
		if (__builtin_add_overflow(sum[i], values[i], &sum[i]))
			sum[i] = UINT64_MAX;
	}
}

void call_tree_add(struct call_tree *t, uint32_t node, const uint64_t values[CALL_TREE_VALUES])
{
	call_tree_add_values(t->nodes[node].self, values);
}

const char *call_tree_name(const struct call_tree *t, uint32_t node)
{
	return intern_get(&t->names, t->nodes[node].name, NULL);
}

/*
 * Computes the totals in one pass from the last node to the first, which adds each node's total to
 * its parent's.  A node's total is complete when it is added, because the node's children have
 * higher numbers and were added before.
 */
static void sum_up(struct call_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		memcpy(t->nodes[i].total, t->nodes[i].self, sizeof(t->nodes[i].total));
	for (size_t i = t->n; i-- > 1;) {
		const struct call_node *node = &t->nodes[i];

		call_tree_add_values(t->nodes[node->parent].total, node->total);
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

/* Returns the rank of each name in byte order.  The caller frees the array. */
static uint32_t *rank_names(const struct call_tree *t)
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

/*
 * Returns the numbers of all nodes but the root, sorted by name with a counting sort.  The caller
 * frees the array.
 */
static uint32_t *sort_nodes(const struct call_tree *t)
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

/*
 * Links the children of each node in the order of their names: visits the nodes from the last name
 * to the first, and makes each node the first child of its parent.
 */
static void link_children(struct call_tree *t)
{
	_cleanup_free_ uint32_t *sorted = sort_nodes(t);

	for (size_t i = 0; i < t->n; i++)
		t->nodes[i].first = 0;
	for (size_t i = t->n - 1; i-- > 0;) {
		struct call_node *node = &t->nodes[sorted[i]];
		struct call_node *parent = &t->nodes[node->parent];

		node->next = parent->first;
		parent->first = sorted[i];
	}
}

void call_tree_sum(struct call_tree *t)
{
	sum_up(t);
	link_children(t);
}

uint32_t call_tree_next(const struct call_tree *t, uint32_t node, bool children, size_t *up)
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
