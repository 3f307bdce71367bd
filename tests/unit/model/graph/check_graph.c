/* The graph of a heap: what the tape says, and what brute force finds in it. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph.h"

#define CLASS_CLASS 0
#define BASE UINT64_C(0x700000000)

/* A tape, built as it is written. */
struct writer {
	struct graph_builder *builder;
	struct tape_place place;
	uint8_t *tape;
	size_t len, cap;
	int rc;
};

static void begin(struct writer *w)
{
	*w = (struct writer){ .builder = graph_builder_new(0), .cap = 1 << 16 };
	w->tape = malloc(w->cap);
	ck_assert_ptr_nonnull(w->tape);
}

static void flush(struct writer *w)
{
	if (w->rc == 0)
		w->rc = graph_builder_take(w->builder, w->tape, w->len);
	w->len = 0;
}

static void put(struct writer *w, struct tape_record r)
{
	if (w->cap - w->len < TAPE_RECORD_MAX + TAPE_TEXT_MAX)
		flush(w);
	w->len = (size_t)(tape_write(&w->place, w->tape + w->len, &r) - w->tape);
}

static struct graph *end_with(struct writer *w, const struct graph_facts *facts, int *error)
{
	struct graph *g = NULL;

	flush(w);
	*error = w->rc;
	if (w->rc == 0)
		g = graph_build(w->builder, facts, error);
	graph_builder_free(w->builder);
	free(w->tape);
	return g;
}

static struct graph *end(struct writer *w, uint32_t n_classes)
{
	struct graph_facts facts = { .n_classes = n_classes, .class_class = CLASS_CLASS };
	int error;
	struct graph *g = end_with(w, &facts, &error);

	ck_assert_ptr_nonnull(g);
	return g;
}

static int refused(struct writer *w)
{
	struct graph_facts facts = { .n_classes = 3, .class_class = CLASS_CLASS };
	int error;

	ck_assert_ptr_null(end_with(w, &facts, &error));
	return error;
}

static uint64_t at(uint32_t i)
{
	return BASE + (uint64_t)i * 24;
}

static void put_object(struct writer *w, uint32_t i, uint32_t class)
{
	put(w, (struct tape_record){ .kind = TAPE_OBJECT, .address = at(i), .class = class });
}

static void put_edge(struct writer *w, enum tape_kind kind, uint32_t to, uint32_t index,
		     uint64_t size)
{
	put(w, (struct tape_record){ .kind = kind, .address = at(to), .index = index,
				     .size = size });
}

static void put_root(struct writer *w, uint32_t i)
{
	put(w, (struct tape_record){ .kind = TAPE_ROOT, .address = at(i),
				     .root = TAPE_ROOT_JNI_GLOBAL });
}

/*
 * Random graphs.  Sizes tell the nodes apart: node i has i + 1 words.
 */
#define NODES 14
#define CLASSES 4

struct made_edge {
	uint32_t to, index;
	enum tape_kind kind;
};

struct made {
	uint32_t n;
	uint32_t class[NODES];    /* GRAPH_NONE: not told of */
	uint32_t stands[NODES];   /* GRAPH_NONE: for no class */
	uint32_t mirror[CLASSES];
	bool own[NODES], own_late, root[NODES];
	struct made_edge edges[NODES][8];
	uint32_t n_edges[NODES];
	bool strong[NODES][NODES];                /* own objects' left out, classes' included */
	bool weakly[TAPE_STRENGTHS][NODES][NODES];
};

static uint32_t below(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static void make_edges(struct made *m, uint32_t i)
{
	bool elements = below(3) == 0;
	uint32_t n = below(5), index = 0;

	for (uint32_t k = 0; k < n; k++) {
		struct made_edge *e = &m->edges[i][m->n_edges[i]++];

		e->to = below(m->n);
		if (m->stands[i] != GRAPH_NONE) {
			e->kind = below(2) ? TAPE_STATIC : TAPE_LINK;
			e->index = e->kind == TAPE_LINK ? below(TAPE_LINKS) : below(40);
		} else if (elements) {
			e->kind = TAPE_ELEMENT;
			index += below(2) ? 0 : below(100);
			e->index = index++;
		} else if (below(3) == 0) {
			e->kind = TAPE_REFERENT;
			e->index = below(TAPE_STRENGTHS);
		} else {
			e->kind = TAPE_FIELD;
			e->index = below(80);
		}
	}
}

static void know(struct made *m, uint32_t from, const struct made_edge *e)
{
	if (m->own[from] || m->own[e->to])
		return;
	if (e->kind == TAPE_REFERENT)
		m->weakly[e->index][from][e->to] = true;
	else
		m->strong[from][e->to] = true;
}

static void make(struct made *m)
{
	memset(m, 0, sizeof(*m));
	m->n = 1 + below(NODES);
	m->own_late = below(2);
	for (uint32_t i = 0; i < m->n; i++) {
		m->class[i] = below(8) == 0 ? GRAPH_NONE : 1 + below(CLASSES - 1);
		m->stands[i] = GRAPH_NONE;
		m->own[i] = below(10) == 0;
		m->root[i] = below(5) == 0;
	}
	for (uint32_t c = 0; c < CLASSES; c++) {
		m->mirror[c] = below(m->n);
		if (below(2) || m->stands[m->mirror[c]] != GRAPH_NONE) {
			m->mirror[c] = GRAPH_NONE;
			continue;
		}
		m->stands[m->mirror[c]] = c;
		m->class[m->mirror[c]] = CLASS_CLASS;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t mirror;

		if (m->class[i] == GRAPH_NONE)
			continue;
		make_edges(m, i);
		for (uint32_t k = 0; k < m->n_edges[i]; k++)
			know(m, i, &m->edges[i][k]);
		mirror = m->mirror[m->class[i]];
		if (mirror != GRAPH_NONE && !m->own[i] && !m->own[mirror])
			m->strong[i][mirror] = true;
	}
}

static void write_own(struct writer *w, const struct made *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->own[i])
			put(w, (struct tape_record){ .kind = TAPE_OWN, .address = at(i) });
	}
}

static struct graph *write_made(const struct made *m)
{
	struct writer w;

	begin(&w);
	if (!m->own_late)
		write_own(&w, m);
	for (uint32_t c = 0; c < CLASSES; c++) {
		if (m->mirror[c] != GRAPH_NONE)
			put(&w, (struct tape_record){ .kind = TAPE_CLASS, .class = c,
						      .address = at(m->mirror[c]) });
	}
	for (uint32_t k = 0, i = below(m->n); k < m->n; k++, i = (i + 1) % m->n) {
		uint64_t size = (i + 1) * 8;

		put(&w, (struct tape_record){ .kind = TAPE_ROOT, .address = at(i), .size = size,
					      .root = TAPE_ROOT_STACK,
					      .thread = m->root[i] ? 7 : 99 });
		if (m->stands[i] != GRAPH_NONE && below(2))
			put(&w, (struct tape_record){ .kind = TAPE_MIRROR, .address = at(i) });
		else if (m->class[i] != GRAPH_NONE)
			put_object(&w, i, m->class[i]);
		for (uint32_t e = 0; e < m->n_edges[i]; e++) {
			const struct made_edge *edge = &m->edges[i][e];

			put_edge(&w, edge->kind, edge->to, edge->index, (edge->to + 1) * 8);
		}
	}
	if (m->own_late)
		write_own(&w, m);
	{
		/* 99 is the thread whose stack is no root. */
		struct graph_facts facts = { CLASSES, CLASS_CLASS, NULL, 99, false };
		int error;
		struct graph *g = end_with(&w, &facts, &error);

		ck_assert_ptr_nonnull(g);
		return g;
	}
}

/* What brute force says of it. */
struct truth {
	bool edge[NODES][NODES]; /* those that count */
	bool root[NODES];        /* that the tree hangs on */
	unsigned phase[NODES];   /* 0: strongly, 1 + strength, UINT_MAX: not */
	uint32_t dominator[NODES];
	uint64_t retained[NODES];
};

static void spread(const struct truth *t, uint32_t n, uint32_t without, bool reached[NODES])
{
	bool more = true;

	for (uint32_t i = 0; i < n; i++)
		reached[i] = t->root[i] && i != without;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t j = 0; j < n; j++) {
				if (reached[i] && t->edge[i][j] && !reached[j] && j != without)
					more = reached[j] = true;
			}
		}
	}
}

static bool refers(const struct made *m, unsigned strength, uint32_t from, uint32_t to)
{
	for (unsigned s = 0; s <= strength; s++) {
		if (m->weakly[s][from][to])
			return true;
	}
	return false;
}

/* Add to the roots what REFERENTs of up to this strength lead to and stronger ones do not. */
static void add_phase(struct truth *t, const struct made *m, unsigned strength)
{
	bool reached[NODES];
	bool more = true;

	while (more) {
		more = false;
		spread(t, m->n, NODES, reached);
		for (uint32_t i = 0; i < m->n; i++) {
			if (reached[i] && t->phase[i] == UINT32_MAX)
				t->phase[i] = 1 + strength;
		}
		for (uint32_t i = 0; i < m->n; i++) {
			for (uint32_t j = 0; j < m->n; j++) {
				if (reached[i] && refers(m, strength, i, j) && !t->root[j] &&
				    t->phase[j] > strength)
					more = t->root[j] = true;
			}
		}
	}
}

static void find_phases(struct truth *t, const struct made *m, bool weak)
{
	bool reached[NODES];

	spread(t, m->n, NODES, reached);
	for (uint32_t i = 0; i < m->n; i++)
		t->phase[i] = reached[i] ? 0 : UINT32_MAX;
	for (unsigned s = 0; s < TAPE_STRENGTHS && !weak; s++)
		add_phase(t, m, s);
}

static void find_truth(struct truth *t, const struct made *m, bool weak)
{
	bool dominates[NODES][NODES];
	unsigned depth[NODES] = { 0 };
	bool reached[NODES];

	memset(t, 0, sizeof(*t));
	for (uint32_t i = 0; i < m->n; i++) {
		t->root[i] = m->root[i] && !m->own[i];
		for (uint32_t j = 0; j < m->n; j++)
			t->edge[i][j] = m->strong[i][j] ||
					(weak && refers(m, TAPE_PHANTOM, i, j));
	}
	find_phases(t, m, weak);
	for (uint32_t d = 0; d < m->n; d++) {
		spread(t, m->n, d, reached);
		for (uint32_t i = 0; i < m->n; i++) {
			dominates[d][i] = t->phase[i] != UINT32_MAX && !reached[i];
			depth[i] += dominates[d][i];
			if (dominates[d][i])
				t->retained[d] += (i + 1) * 8;
		}
	}
	for (uint32_t i = 0; i < m->n; i++) {
		t->dominator[i] = t->phase[i] == UINT32_MAX ? GRAPH_NONE : m->n;
		for (uint32_t d = 0; d < m->n; d++) {
			if (d != i && dominates[d][i] && depth[d] + 1 == depth[i])
				t->dominator[i] = d;
		}
	}
}

/* From nodes as made to those of the graph, and back. */
struct numbers {
	uint32_t node[NODES], made[NODES];
};

static void match(const struct graph *g, const struct made *m, struct numbers *numbers)
{
	ck_assert_uint_eq(graph_n(g), m->n);
	for (uint32_t node = 0; node < m->n; node++) {
		uint32_t i = (uint32_t)(graph_size(g, node) / 8 - 1);

		ck_assert_uint_lt(i, m->n);
		numbers->node[i] = node;
		numbers->made[node] = i;
		ck_assert_uint_eq(graph_class(g, node), m->class[i]);
		ck_assert_uint_eq(graph_stands_for(g, node), m->stands[i]);
		ck_assert_uint_eq(graph_is_own(g, node), m->own[i]);
		ck_assert_int_eq(graph_length(g, node), -1);
	}
	for (uint32_t c = 0; c < CLASSES; c++)
		ck_assert_uint_eq(graph_mirror(g, c), m->mirror[c] == GRAPH_NONE ? GRAPH_NONE :
						      numbers->node[m->mirror[c]]);
}

static const enum graph_via vias[] = {
	[TAPE_FIELD] = GRAPH_FIELD,       [TAPE_STATIC] = GRAPH_STATIC,
	[TAPE_ELEMENT] = GRAPH_ELEMENT,   [TAPE_REFERENT] = GRAPH_REFERENT,
	[TAPE_LINK] = GRAPH_LINK,
};

static void check_edges(const struct graph *g, const struct made *m, const struct numbers *x)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct graph_edges edges = graph_edges(g, x->node[i]);
		struct graph_edge edge;
		uint32_t mirror = m->class[i] == GRAPH_NONE ? GRAPH_NONE : m->mirror[m->class[i]];

		for (uint32_t k = 0; k < m->n_edges[i]; k++) {
			const struct made_edge *e = &m->edges[i][k];

			if (m->own[i] || m->own[e->to])
				continue;
			ck_assert(graph_next(&edges, &edge));
			ck_assert_uint_eq(x->made[edge.to], e->to);
			ck_assert_uint_eq(edge.via, vias[e->kind]);
			ck_assert_uint_eq(edge.index, e->index);
		}
		if (mirror != GRAPH_NONE && m->strong[i][mirror] && !m->own[i]) {
			ck_assert(graph_next(&edges, &edge));
			ck_assert_uint_eq(x->made[edge.to], mirror);
			ck_assert_uint_eq(edge.via, GRAPH_CLASS);
		}
		ck_assert(!graph_next(&edges, &edge));
		ck_assert(!graph_next(&edges, &edge));
	}
}

static void check_way(const struct graph *g, const struct graph_ways *ways, uint32_t node,
		      bool weak)
{
	uint32_t from = ways->parent[node];
	struct graph_edges edges = graph_edges(g, from);
	struct graph_edge told = graph_way_edge(g, ways, node), edge;

	do
		ck_assert(graph_next(&edges, &edge));
	while (edge.to != node || (!weak && edge.via == GRAPH_REFERENT));
	ck_assert_uint_eq(told.to, node);
	ck_assert_uint_eq(told.via, edge.via);
	ck_assert_uint_eq(told.index, edge.index);
}

static void check_ways(const struct graph *g, const struct made *m, const struct numbers *x,
		       bool weak)
{
	uint32_t far[NODES];
	struct graph_ways ways;

	graph_find_ways(g, weak, &ways);
	for (uint32_t i = 0; i < m->n; i++)
		far[i] = m->root[i] && !m->own[i] ? 0 : NODES;
	for (uint32_t k = 0; k < m->n; k++) {
		for (uint32_t i = 0; i < m->n; i++) {
			for (uint32_t j = 0; j < m->n; j++) {
				if ((m->strong[i][j] || (weak && refers(m, TAPE_PHANTOM, i, j))) &&
				    far[i] + 1 < far[j])
					far[j] = far[i] + 1;
			}
		}
	}
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t node = x->node[i], steps = 0;

		ck_assert_uint_eq(!graph_root_of(g, node), m->stands[i] == GRAPH_NONE &&
							   (!m->root[i] || m->own[i]));
		if (far[i] == NODES) {
			ck_assert_uint_eq(ways.parent[node], GRAPH_NONE);
			continue;
		}
		for (; ways.parent[node] != node; node = ways.parent[node], steps++)
			check_way(g, &ways, node, weak);
		ck_assert_uint_eq(steps, far[i]);
		ck_assert_ptr_nonnull(graph_root_of(g, node));
		ck_assert_uint_eq(graph_root_of(g, node)->node, node);
	}
	graph_ways_release(&ways);
}

static void check_sums(const struct graph *g, const struct made *m, const struct truth *t,
		       const struct graph_tree *tree)
{
	const uint32_t group[CLASSES] = { 0, 1, 2, 1 };
	struct graph_sum sums[3], want[3] = { { 0, 0, 0 } };

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t above;
		struct graph_sum *sum;

		if (t->phase[i] == UINT32_MAX || m->class[i] == GRAPH_NONE)
			continue;
		sum = &want[group[m->class[i]]];
		sum->instances++;
		sum->shallow += (i + 1) * 8;
		for (above = t->dominator[i]; above != m->n; above = t->dominator[above]) {
			if (m->class[above] != GRAPH_NONE &&
			    group[m->class[above]] == group[m->class[i]])
				break;
		}
		if (above == m->n)
			sum->retained += t->retained[i];
	}
	graph_sum_up(g, tree, group, 3, sums);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(sums[i].instances, want[i].instances);
		ck_assert_uint_eq(sums[i].shallow, want[i].shallow);
		ck_assert_uint_eq(sums[i].retained, want[i].retained);
	}
}

static void check_tree(const struct graph *g, const struct made *m, const struct numbers *x,
		       bool weak)
{
	struct graph_tree tree;
	struct truth t;
	uint64_t n = 0, total = 0, held[1 + TAPE_STRENGTHS] = { 0 };

	find_truth(&t, m, weak);
	graph_find_tree(g, weak, &tree);
	ck_assert_uint_eq(tree.n, m->n);
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t want = t.dominator[i];

		if (want < m->n)
			want = x->node[want];
		ck_assert_uint_eq(tree.dominator[x->node[i]], want);
		ck_assert_uint_eq(tree.retained[x->node[i]], t.retained[i]);
		if (t.phase[i] == UINT32_MAX)
			continue;
		n++;
		total += (i + 1) * 8;
		held[t.phase[i]] += (i + 1) * 8;
	}
	ck_assert_uint_eq(tree.n_reached, n);
	ck_assert_uint_eq(tree.total, total);
	for (unsigned s = 0; s < TAPE_STRENGTHS; s++)
		ck_assert_uint_eq(tree.held[s].bytes, held[1 + s]);
	check_sums(g, m, &t, &tree);
	graph_tree_release(&tree);
}

START_TEST(random_graphs)
{
	struct numbers numbers;
	struct made m;

	srand(20);
	for (unsigned k = 0; k < 2000; k++) {
		struct graph *g;

		make(&m);
		g = write_made(&m);
		match(g, &m, &numbers);
		check_edges(g, &m, &numbers);
		for (int weak = 0; weak < 2; weak++) {
			check_ways(g, &m, &numbers, weak);
			check_tree(g, &m, &numbers, weak);
		}
		graph_free(g);
	}
}
END_TEST

/* So many that nothing which recurs for each would live through it. */
#define LONG 2000000u

START_TEST(long_list)
{
	struct graph_sum sums[2];
	const uint32_t group[2] = { 0, 1 };
	struct graph_tree tree;
	struct graph_ways ways;
	struct graph *g;
	struct writer w;
	uint32_t last = 0, steps = 0, wrong = 0; /* check writes down each of its assertions */

	begin(&w);
	put(&w, (struct tape_record){ .kind = TAPE_ROOT, .address = at(0), .size = 24 });
	for (uint32_t i = 0; i < LONG; i++) {
		put_object(&w, i, 1);
		if (i + 1 < LONG)
			put_edge(&w, TAPE_FIELD, i + 1, 0, 24);
	}
	g = end(&w, 2);
	ck_assert_uint_eq(graph_n(g), LONG);
	ck_assert_uint_eq(graph_n_edges(g), LONG - 1);
	graph_find_tree(g, false, &tree);
	ck_assert_uint_eq(tree.total, UINT64_C(24) * LONG);
	graph_sum_up(g, &tree, group, 2, sums);
	ck_assert_uint_eq(sums[1].retained, UINT64_C(24) * LONG);
	ck_assert_uint_eq(sums[1].instances, LONG);
	for (uint32_t node = 0; node < LONG; node++) {
		if (tree.retained[node] == 24)
			last = node;
	}
	graph_find_ways(g, false, &ways);
	for (uint32_t node = last; ways.parent[node] != node; node = ways.parent[node]) {
		wrong += ways.parent[node] != tree.dominator[node];
		steps++;
	}
	ck_assert_uint_eq(steps, LONG - 1);
	ck_assert_uint_eq(wrong, 0);
	graph_ways_release(&ways);
	graph_tree_release(&tree);
	graph_free(g);
}
END_TEST

/* An array with gaps of all lengths. */
START_TEST(array)
{
	struct graph_edges edges;
	struct graph_edge edge;
	struct graph_ways ways;
	struct graph *g;
	struct writer w;
	uint32_t gap = 0, index = 0, n = 0;

	begin(&w);
	put(&w, (struct tape_record){ .kind = TAPE_ROOT, .address = at(0), .size = 80000016,
				      .is_array = true, .length = 10000000 });
	put_object(&w, 0, 1);
	for (uint32_t i = 0; i < 10000000; n++, i += 1 + gap++ % 1000)
		put_edge(&w, TAPE_ELEMENT, 1 + n, i, 16);
	g = end(&w, 2);
	edges = graph_edges(g, 0);
	for (uint32_t i = 0, k = 0; i < 10000000; i += 1 + k++ % 1000) {
		ck_assert(graph_next(&edges, &edge));
		ck_assert_uint_eq(edge.index, i);
		ck_assert_uint_eq(edge.via, GRAPH_ELEMENT);
	}
	ck_assert(!graph_next(&edges, &edge));
	ck_assert_int_eq(graph_length(g, 0), 10000000);
	ck_assert_int_eq(graph_length(g, 1), -1);
	ck_assert_uint_eq(graph_size(g, 0), 80000016);
	graph_find_ways(g, false, &ways);
	for (uint32_t k = 0; k < n; index += 1 + k++ % 1000)
		ck_assert_uint_eq(graph_way_edge(g, &ways, 1 + k).index, index);
	graph_ways_release(&ways);
	graph_free(g);
}
END_TEST

/* Of a full array, to ask for one edge does not take longer the further on it is. */
START_TEST(full_array)
{
	struct graph_ways ways;
	struct graph *g;
	struct writer w;
	uint32_t wrong = 0;

	begin(&w);
	put_root(&w, 0);
	put_object(&w, 0, 1);
	for (uint32_t i = 0; i < LONG; i++)
		put_edge(&w, TAPE_ELEMENT, 1 + i, i, 16);
	g = end(&w, 2);
	graph_find_ways(g, false, &ways);
	for (uint32_t i = 0; i < LONG; i += 7)
		wrong += graph_way_edge(g, &ways, 1 + i).index != i;
	ck_assert_uint_eq(wrong, 0);
	graph_ways_release(&ways);
	graph_free(g);
}
END_TEST

/* The node of this size. */
static uint32_t sized(const struct graph *g, uint64_t size)
{
	uint32_t node = 0;

	while (node < graph_n(g) && graph_size(g, node) != size)
		node++;
	ck_assert_uint_lt(node, graph_n(g));
	return node;
}

/*
 * A root keeps 5, that a loader, 2, and that a class, 0; it holds 3 in a static field, and so
 * does the class, 4, whose only instance 3 is.
 */
START_TEST(ways_begin_at_classes)
{
	static const struct graph_facts facts = { .n_classes = 4, .class_class = CLASS_CLASS };
	uint32_t root, loader, class, held;
	struct graph_ways ways;
	struct graph *g;
	struct writer w;
	int error;

	begin(&w);
	put(&w, (struct tape_record){ .kind = TAPE_CLASS, .address = at(0), .class = 1 });
	put(&w, (struct tape_record){ .kind = TAPE_CLASS, .address = at(4), .class = 2 });
	put_root(&w, 5);
	put_object(&w, 5, 3);
	put(&w, (struct tape_record){ .kind = TAPE_SIZE, .size = 56 });
	put_edge(&w, TAPE_FIELD, 2, 0, 32);
	put_object(&w, 2, 3);
	put_edge(&w, TAPE_FIELD, 0, 0, 16);
	put(&w, (struct tape_record){ .kind = TAPE_MIRROR, .address = at(0) });
	put_edge(&w, TAPE_LINK, 2, TAPE_LOADER, 32);
	put_edge(&w, TAPE_STATIC, 3, 0, 40);
	put_object(&w, 3, 2);
	put(&w, (struct tape_record){ .kind = TAPE_MIRROR, .address = at(4) });
	put_edge(&w, TAPE_STATIC, 3, 1, 40);
	g = end_with(&w, &facts, &error);
	ck_assert_ptr_nonnull(g);
	root = sized(g, 56);
	loader = sized(g, 32);
	held = sized(g, 40);
	class = graph_mirror(g, 1);

	graph_find_ways_to(g, false, &held, 1, &ways);
	ck_assert_uint_eq(ways.parent[held], class);
	ck_assert_uint_eq(ways.parent[class], class);
	ck_assert_uint_eq(graph_root_of(g, class)->kind, TAPE_ROOT_CLASS);
	/* What only the object itself keeps is no beginning. */
	ck_assert_uint_eq(ways.parent[graph_mirror(g, 2)], held);
	graph_ways_release(&ways);

	graph_find_ways_to(g, false, &loader, 1, &ways);
	ck_assert_uint_eq(ways.parent[loader], root);
	ck_assert_uint_eq(ways.parent[root], root);
	graph_ways_release(&ways);
	graph_free(g);
}
END_TEST

START_TEST(lasting_classes)
{
	const bool lasting[3] = { false, true, true };
	struct graph_facts facts = { 3, CLASS_CLASS, lasting, 0, false };
	const struct graph_root *roots;
	struct graph *g;
	struct writer w;
	size_t n;
	int error;

	begin(&w);
	put(&w, (struct tape_record){ .kind = TAPE_CLASS, .address = at(0), .class = 1 });
	put(&w, (struct tape_record){ .kind = TAPE_CLASS, .address = at(1), .class = 0 });
	put(&w, (struct tape_record){ .kind = TAPE_ROOT, .address = at(0),
				      .root = TAPE_ROOT_MONITOR });
	put(&w, (struct tape_record){ .kind = TAPE_ROOT, .address = at(0),
				      .root = TAPE_ROOT_CLASS });
	g = end_with(&w, &facts, &error);
	ck_assert_ptr_nonnull(g);
	roots = graph_roots(g, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(roots[0].kind, TAPE_ROOT_CLASS);
	ck_assert_uint_eq(graph_root_of(g, 0)->kind, TAPE_ROOT_CLASS);
	ck_assert_uint_eq(graph_root_of(g, 1)->kind, TAPE_ROOT_CLASS);
	ck_assert_uint_eq(graph_root_of(g, 1)->node, 1);
	ck_assert_uint_eq(graph_class(g, 0), CLASS_CLASS);
	graph_free(g);
}
END_TEST

START_TEST(texts)
{
	enum tape_form form;
	const uint8_t *text;
	struct graph *g;
	struct writer w;
	uint32_t len;

	begin(&w);
	put_object(&w, 5, 1);
	put(&w, (struct tape_record){ .kind = TAPE_TEXT, .address = at(5), .form = TAPE_UTF16,
				      .text = (const uint8_t *)"" });
	put(&w, (struct tape_record){ .kind = TAPE_TEXT, .address = at(3), .form = TAPE_BYTES,
				      .text = (const uint8_t *)"hello", .text_len = 5 });
	put_object(&w, 1, 1);
	g = end(&w, 2);
	text = graph_text(g, 1, &form, &len);
	ck_assert_ptr_nonnull(text);
	ck_assert_mem_eq(text, "hello", 5);
	ck_assert_uint_eq(len, 5);
	ck_assert_uint_eq(form, TAPE_BYTES);
	ck_assert_ptr_nonnull(graph_text(g, 0, &form, &len));
	ck_assert_uint_eq(len, 0);
	ck_assert_ptr_null(graph_text(g, 2, &form, &len));
	graph_free(g);
}
END_TEST

/* Mirrors of primitive types stand for no class of the table. */
START_TEST(nameless_mirror)
{
	struct graph *g;
	struct writer w;

	begin(&w);
	put(&w, (struct tape_record){ .kind = TAPE_MIRROR, .address = at(0) });
	g = end(&w, 1);
	ck_assert_uint_eq(graph_class(g, 0), CLASS_CLASS);
	ck_assert_uint_eq(graph_stands_for(g, 0), GRAPH_NONE);
	graph_free(g);
}
END_TEST

START_TEST(nothing)
{
	struct graph_facts facts = { 0, GRAPH_NONE, NULL, 0, false };
	struct graph_sum sum;
	struct graph_tree tree;
	struct graph_ways ways;
	struct graph *g;
	struct writer w;
	uint32_t group = 0;
	int error;

	begin(&w);
	g = end_with(&w, &facts, &error);
	ck_assert_ptr_nonnull(g);
	ck_assert_uint_eq(graph_n(g), 0);
	graph_find_ways(g, false, &ways);
	graph_find_tree(g, false, &tree);
	ck_assert_uint_eq(tree.n_reached, 0);
	graph_sum_up(g, &tree, &group, 1, &sum);
	ck_assert_uint_eq(sum.instances, 0);
	graph_ways_release(&ways);
	graph_tree_release(&tree);
	graph_free(g);
	graph_free(NULL);
	graph_builder_free(NULL);
}
END_TEST

START_TEST(contradictions)
{
	static const struct {
		struct tape_record r[3];
	} lies[] = {
		{ { { .kind = TAPE_OBJECT, .address = 8 },
		    { .kind = TAPE_OBJECT, .address = 8 } } },
		{ { { .kind = TAPE_OBJECT, .address = 8 },
		    { .kind = TAPE_MIRROR, .address = 8 } } },
		{ { { .kind = TAPE_OBJECT, .address = 8, .class = 3 } } },
		{ { { .kind = TAPE_OBJECT, .address = 8, .class = UINT32_MAX } } },
		{ { { .kind = TAPE_FIELD, .address = 8 } } },
		{ { { .kind = TAPE_SIZE, .size = 8 } } },
		{ { { .kind = TAPE_OBJECT, .address = 8 },
		    { .kind = TAPE_FIELD, .address = 16, .size = 16 },
		    { .kind = TAPE_FIELD, .address = 16, .size = 24 } } },
		{ { { .kind = TAPE_OBJECT, .address = 8 },
		    { .kind = TAPE_FIELD, .address = 16, .size = UINT64_C(1) << 36 } } },
		{ { { .kind = TAPE_OBJECT, .address = 8 },
		    { .kind = TAPE_REFERENT, .address = 16, .index = TAPE_STRENGTHS } } },
		{ { { .kind = TAPE_MIRROR, .address = 8 },
		    { .kind = TAPE_LINK, .address = 16, .index = TAPE_LINKS } } },
		{ { { .kind = TAPE_CLASS, .address = 8, .class = 1 },
		    { .kind = TAPE_CLASS, .address = 16, .class = 1 } } },
		{ { { .kind = TAPE_CLASS, .address = 8, .class = 1 },
		    { .kind = TAPE_CLASS, .address = 8, .class = 2 } } },
		{ { { .kind = TAPE_CLASS, .address = 8, .class = 3 } } },
		{ { { .kind = TAPE_CLASS, .address = 8, .class = 1 },
		    { .kind = TAPE_OBJECT, .address = 8, .class = 1 } } },
		{ { { .kind = TAPE_OBJECT, .address = 8, .class = 1 },
		    { .kind = TAPE_CLASS, .address = 8, .class = 1 } } },
	};
	struct writer w;

	begin(&w);
	put(&w, lies[_i].r[0]);
	for (unsigned i = 1; i < 3 && lies[_i].r[i].address; i++)
		put(&w, lies[_i].r[i]);
	ck_assert_int_eq(refused(&w), -EBADMSG);
}
END_TEST

/* Cut off anywhere: refused, or built from the records that are whole. */
START_TEST(cut_off)
{
	static const enum tape_kind kinds[] = { TAPE_FIELD, TAPE_ELEMENT, TAPE_REFERENT };
	struct graph_facts facts = { .n_classes = 3, .class_class = CLASS_CLASS };
	size_t built = 0;
	struct writer w;

	begin(&w);
	put(&w, (struct tape_record){ .kind = TAPE_CLASS, .address = at(1), .class = 1 });
	put_root(&w, 2);
	for (uint32_t i = 0; i < 3; i++) {
		put_object(&w, 7 * i + 2, 1);
		put_edge(&w, kinds[i], 9, i, 24);
	}
	for (size_t len = 0; len <= w.len; len++) {
		struct graph_builder *b = graph_builder_new(0);
		int error = graph_builder_take(b, w.tape, len);
		struct graph *g = error == 0 ? graph_build(b, &facts, &error) : NULL;

		ck_assert(g || error == -EBADMSG);
		built += g != NULL;
		graph_free(g);
		graph_builder_free(b);
	}
	ck_assert_uint_eq(built, 9); /* before, between and behind the records */
	graph_builder_free(w.builder);
	free(w.tape);
}
END_TEST

START_TEST(limit)
{
	struct writer w;

	begin(&w);
	graph_builder_free(w.builder);
	w.builder = graph_builder_new(100000);
	for (uint32_t i = 0; i < 10000; i++)
		put_object(&w, i, 1);
	ck_assert_int_eq(refused(&w), -EFBIG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("graph");
	TCase *c = tcase_create("graph");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(c, 60); /* millions of nodes, under sanitisers, beside other tests */
	tcase_add_test(c, random_graphs);
	tcase_add_test(c, long_list);
	tcase_add_test(c, array);
	tcase_add_test(c, full_array);
	tcase_add_test(c, ways_begin_at_classes);
	tcase_add_test(c, lasting_classes);
	tcase_add_test(c, texts);
	tcase_add_test(c, nameless_mirror);
	tcase_add_test(c, nothing);
	tcase_add_loop_test(c, contradictions, 0, 15);
	tcase_add_test(c, cut_off);
	tcase_add_test(c, limit);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
