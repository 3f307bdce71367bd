#include "model/graph_dfs.h"

/* In place of an edge's number. */
#define AT_CLASS (UINT32_MAX - 1)
#define AT_END UINT32_MAX

/*
 * HotSpot puts what an object refers to on a stack, so what was put there last is walked first,
 * and the tape was written in that order.  To go the same way is to go along the tape.
 */
static uint32_t last_edge(const struct graph *g, uint32_t node)
{
	uint32_t at = g->first[node];

	if (at == GRAPH_NONE)
		return AT_CLASS;
	while (!(g->tag[at + 1] & GRAPH_FIRST))
		at++;
	return at;
}

/* Whether the next nodes were reached is in memory that nobody asked for yet. */
#define AHEAD 4

static void expect(const struct graph_dfs *d, uint32_t number)
{
	const struct graph *g = d->graph;
	uint32_t at = d->edge[number];

	for (unsigned i = 0; i < AHEAD && at < g->n_edges; i++, at--) {
		if (g->to[at] != GRAPH_NONE)
			__builtin_prefetch(&d->place[g->to[at]], 1);
		if (g->tag[at] & GRAPH_FIRST)
			break;
	}
}

static uint32_t enter(struct graph_dfs *d, uint32_t node, uint32_t parent)
{
	uint32_t number = ++d->n;

	d->node[number] = node;
	d->parent[number] = parent;
	d->edge[number] = last_edge(d->graph, node);
	d->place[node].number = number;
	expect(d, number);
	return number;
}

static void note_referent(struct graph_dfs *d, uint32_t to, unsigned strength)
{
	if (to == GRAPH_NONE)
		return;
	d->referents = bigarray_grow(d->referents, d->n_referents, &d->cap_referents,
				  sizeof(*d->referents));
	d->referents[d->n_referents++] = (struct graph_referent){ to, strength };
}

/* The next node that is reached from this one for the first time; GRAPH_NONE: there is none. */
static uint32_t go_along(struct graph_dfs *d, uint32_t number)
{
	const struct graph *g = d->graph;
	uint32_t to;

	while (d->edge[number] < AT_CLASS) {
		uint32_t at = d->edge[number];
		unsigned strength = graph_strength(g->tag[at]);

		d->edge[number] = g->tag[at] & GRAPH_FIRST ? AT_CLASS : at - 1;
		to = g->to[at];
		if (!d->weak && strength < TAPE_STRENGTHS) {
			note_referent(d, to, strength);
			continue;
		}
		if (to == GRAPH_NONE)
			continue;
		if (d->place[to].number == 0) {
			graph_set_bit(d->along, at);
			return to;
		}
		d->place[to].others++;
	}
	if (d->edge[number] == AT_END)
		return GRAPH_NONE;
	d->edge[number] = AT_END;
	to = graph_class_to(d, d->node[number]);
	if (to == GRAPH_NONE)
		return GRAPH_NONE;
	d->place[to].others++;
	return d->place[to].number == 0 ? to : GRAPH_NONE;
}

static void search(struct graph_dfs *d, uint32_t node)
{
	uint32_t number = enter(d, node, 0);

	while (number != 0) {
		uint32_t to = go_along(d, number);

		if (to != GRAPH_NONE) {
			number = enter(d, to, number);
			continue;
		}
		number = d->parent[number];
		expect(d, d->parent[number]);
	}
}

/*
 * What is held by REFERENTs of this strength, and not by stronger ones, hangs on the root above
 * all: everything that one of them refers to, whichever is looked at first.
 */
static void search_referents(struct graph_dfs *d, unsigned strength)
{
	for (size_t i = 0; i < d->n_referents; i++) {
		struct graph_referent referent = d->referents[i];

		if (referent.strength > strength)
			continue;
		if (d->place[referent.to].number == 0)
			search(d, referent.to);
		if (d->place[referent.to].number >= d->below[strength])
			graph_set_bit(d->rooted, d->place[referent.to].number);
	}
	d->below[strength + 1] = d->n + 1;
}

static void set_class_to(struct graph_dfs *d)
{
	const struct graph *g = d->graph;

	d->class_to = bigarray_new(g->n_classes, sizeof(*d->class_to));
	for (uint32_t class = 0; class < g->n_classes; class++) {
		uint32_t to = g->mirrors[class];
		bool none = to == GRAPH_NONE || g->class[to] & (GRAPH_OWN | GRAPH_ROOT);

		d->class_to[class] = none ? GRAPH_NONE : to;
	}
}

void graph_dfs_run(struct graph_dfs *d)
{
	const struct graph *g = d->graph;

	d->node = bigarray_new((size_t)g->n + 1, sizeof(*d->node));
	d->parent = bigarray_new((size_t)g->n + 1, sizeof(*d->parent));
	d->edge = bigarray_new((size_t)g->n + 1, sizeof(*d->edge));
	d->parent[0] = 0;
	d->edge[0] = AT_END;
	d->rooted = bigarray_new_zeroed((size_t)g->n / 64 + 1, sizeof(*d->rooted));
	d->place = bigarray_new_zeroed(g->n, sizeof(*d->place));
	d->along = bigarray_new_zeroed((size_t)g->n_edges / 64 + 1, sizeof(*d->along));
	set_class_to(d);
	for (size_t i = g->n_roots; i-- > 0;) {
		uint32_t node = g->roots[i].node;

		if (d->place[node].number == 0)
			search(d, node);
		graph_set_bit(d->rooted, d->place[node].number);
	}
	d->below[0] = d->n + 1;
	for (unsigned strength = 0; strength < TAPE_STRENGTHS; strength++)
		search_referents(d, strength);
}

void graph_dfs_release(struct graph_dfs *d)
{
	bigarray_free(d->node);
	bigarray_free(d->parent);
	bigarray_free(d->edge);
	bigarray_free(d->rooted);
	bigarray_free(d->place);
	bigarray_free(d->along);
	bigarray_free(d->class_to);
	bigarray_free(d->referents);
	*d = (struct graph_dfs){ 0 };
}
