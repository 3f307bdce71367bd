/* The graph built from a heap stream, compared with the results of brute force. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph/graph.h"

#define CLASS_CLASS 0
#define BASE UINT64_C(0x700000000)

/* Writes a heap stream into a graph builder. */
struct writer {
	struct graph_builder *builder;
	struct heap_stream_state state;
	uint8_t *stream;
	size_t len, cap;
	int rc;
};

static void begin(struct writer *w)
{
	*w = (struct writer){ .builder = graph_builder_new(0), .cap = 1 << 16 };
	w->stream = malloc(w->cap);
	ck_assert_ptr_nonnull(w->stream);
}

static void flush(struct writer *w)
{
	if (w->rc == 0)
		w->rc = graph_builder_take(w->builder, w->stream, w->len);
	w->len = 0;
}

static void put(struct writer *w, struct heap_stream_record r)
{
	if (w->cap - w->len < HEAP_STREAM_RECORD_MAX + HEAP_STREAM_TEXT_MAX)
		flush(w);
	w->len = (size_t)(heap_stream_write(&w->state, w->stream + w->len, &r) - w->stream);
}

static struct graph *end_with(struct writer *w, const struct graph_facts *facts, int *error)
{
	struct graph *g = NULL;

	flush(w);
	*error = w->rc;
	if (w->rc == 0)
		g = graph_build(w->builder, facts, error);
	graph_builder_free(w->builder);
	free(w->stream);
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

static int error_of(struct writer *w)
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
	put(w, (struct heap_stream_record){
		       .kind = HEAP_STREAM_OBJECT, .address = at(i), .class = class });
}

static void put_reference(struct writer *w, enum heap_stream_kind kind, uint32_t to, uint32_t index,
			  uint64_t size)
{
	put(w, (struct heap_stream_record){
		       .kind = kind, .address = at(to), .index = index, .size = size });
}

static void put_root(struct writer *w, uint32_t i)
{
	put(w, (struct heap_stream_record){ .kind = HEAP_STREAM_ROOT,
					    .address = at(i),
					    .root = HEAP_STREAM_ROOT_JNI_GLOBAL });
}

/*
 * Random graphs.  Each node is identified by its size: node i has 8 * (i + 1) bytes.
 */
#define NODES 14
#define CLASSES 4

struct sample_edge {
	uint32_t to, index;
	enum heap_stream_kind kind;
};

struct sample {
	uint32_t n;
	uint32_t class[NODES];     /* GRAPH_NONE: the node has no OBJECT record */
	uint32_t mirror_of[NODES]; /* the class whose mirror it is; GRAPH_NONE: none */
	uint32_t mirror[CLASSES];  /* node of the mirror; GRAPH_NONE: none */
	/* own: the agent's objects; own_late: the OWN records are the last ones of the stream */
	bool own[NODES], own_late, root[NODES];
	struct sample_edge edges[NODES][8];
	uint32_t n_edges[NODES];
	bool strong[NODES][NODES]; /* [from][to]; includes edges to mirrors, omits own objects */
	bool weakly[HEAP_STREAM_STRENGTHS][NODES][NODES];
};

static uint32_t pick(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static void add_edges(struct sample *m, uint32_t i)
{
	bool elements = pick(3) == 0;
	uint32_t n = pick(5), index = 0;

	for (uint32_t k = 0; k < n; k++) {
		struct sample_edge *e = &m->edges[i][m->n_edges[i]++];

		e->to = pick(m->n);
		if (m->mirror_of[i] != GRAPH_NONE) {
			e->kind = pick(2) ? HEAP_STREAM_STATIC : HEAP_STREAM_LINK;
			e->index =
				e->kind == HEAP_STREAM_LINK ? pick(HEAP_STREAM_LINKS) : pick(40);
		} else if (elements) {
			e->kind = HEAP_STREAM_ELEMENT;
			index += pick(2) ? 0 : pick(100);
			e->index = index++;
		} else if (pick(3) == 0) {
			e->kind = HEAP_STREAM_REFERENT;
			e->index = pick(HEAP_STREAM_STRENGTHS);
		} else {
			e->kind = HEAP_STREAM_FIELD;
			e->index = pick(80);
		}
	}
}

static void note_edge(struct sample *m, uint32_t from, const struct sample_edge *e)
{
	if (m->own[from] || m->own[e->to])
		return;
	if (e->kind == HEAP_STREAM_REFERENT)
		m->weakly[e->index][from][e->to] = true;
	else
		m->strong[from][e->to] = true;
}

static void make_sample(struct sample *m)
{
	memset(m, 0, sizeof(*m));
	m->n = 1 + pick(NODES);
	m->own_late = pick(2);
	for (uint32_t i = 0; i < m->n; i++) {
		m->class[i] = pick(8) == 0 ? GRAPH_NONE : 1 + pick(CLASSES - 1);
		m->mirror_of[i] = GRAPH_NONE;
		m->own[i] = pick(10) == 0;
		m->root[i] = pick(5) == 0;
	}
	for (uint32_t c = 0; c < CLASSES; c++) {
		m->mirror[c] = pick(m->n);
		if (pick(2) || m->mirror_of[m->mirror[c]] != GRAPH_NONE) {
			m->mirror[c] = GRAPH_NONE;
			continue;
		}
		m->mirror_of[m->mirror[c]] = c;
		m->class[m->mirror[c]] = CLASS_CLASS;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t mirror;

		if (m->class[i] == GRAPH_NONE)
			continue;
		add_edges(m, i);
		for (uint32_t k = 0; k < m->n_edges[i]; k++)
			note_edge(m, i, &m->edges[i][k]);
		mirror = m->mirror[m->class[i]];
		if (mirror != GRAPH_NONE && !m->own[i] && !m->own[mirror])
			m->strong[i][mirror] = true;
	}
}

static void write_own(struct writer *w, const struct sample *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->own[i])
			put(w, (struct heap_stream_record){ .kind = HEAP_STREAM_OWN,
							    .address = at(i) });
	}
}

static struct graph *write_sample(const struct sample *m)
{
	struct writer w;

	begin(&w);
	if (!m->own_late)
		write_own(&w, m);
	for (uint32_t c = 0; c < CLASSES; c++) {
		if (m->mirror[c] != GRAPH_NONE)
			put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_CLASS,
							     .class = c,
							     .address = at(m->mirror[c]) });
	}
	for (uint32_t k = 0, i = pick(m->n); k < m->n; k++, i = (i + 1) % m->n) {
		uint64_t size = (i + 1) * 8;

		put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_ROOT,
						     .address = at(i),
						     .size = size,
						     .root = HEAP_STREAM_ROOT_STACK,
						     .thread = m->root[i] ? 7 : 99 });
		if (m->mirror_of[i] != GRAPH_NONE && pick(2))
			put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_MIRROR,
							     .address = at(i) });
		else if (m->class[i] != GRAPH_NONE)
			put_object(&w, i, m->class[i]);
		for (uint32_t e = 0; e < m->n_edges[i]; e++) {
			const struct sample_edge *edge = &m->edges[i][e];

			put_reference(&w, edge->kind, edge->to, edge->index, (edge->to + 1) * 8);
		}
	}
	if (m->own_late)
		write_own(&w, m);
	{
		/* Thread 99 is the agent's: its stack is not a root. */
		struct graph_facts facts = { CLASSES, CLASS_CLASS, NULL, 99, false };
		int error;
		struct graph *g = end_with(&w, &facts, &error);

		ck_assert_ptr_nonnull(g);
		return g;
	}
}

/* The results of brute force. */
struct expected {
	bool edge[NODES][NODES]; /* [from][to]: strong edges; with `weak`, also weak ones */
	bool root[NODES];        /* whether the root of the dominator tree refers to it */
	unsigned phase[NODES];   /* 0: strong; 1 + strength: weak; UINT32_MAX: unreachable */
	uint32_t dominator[NODES];
	uint64_t retained[NODES];
};

static void reach(const struct expected *t, uint32_t n, uint32_t without, bool reached[NODES])
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

static bool refers(const struct sample *m, unsigned strength, uint32_t from, uint32_t to)
{
	for (unsigned s = 0; s <= strength; s++) {
		if (m->weakly[s][from][to])
			return true;
	}
	return false;
}

/* Adds roots: the nodes that are reachable only through REFERENTs of at most this strength. */
static void add_phase(struct expected *t, const struct sample *m, unsigned strength)
{
	bool reached[NODES];
	bool more = true;

	while (more) {
		more = false;
		reach(t, m->n, NODES, reached);
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

static void find_phases(struct expected *t, const struct sample *m, bool weak)
{
	bool reached[NODES];

	reach(t, m->n, NODES, reached);
	for (uint32_t i = 0; i < m->n; i++)
		t->phase[i] = reached[i] ? 0 : UINT32_MAX;
	for (unsigned s = 0; s < HEAP_STREAM_STRENGTHS && !weak; s++)
		add_phase(t, m, s);
	/* An object that only a soft reference reaches keeps no strongly reachable one alive. */
	for (uint32_t i = 0; i < m->n; i++) {
		for (uint32_t j = 0; j < m->n; j++)
			t->edge[i][j] &= t->phase[i] <= t->phase[j];
	}
}

static void find_expected(struct expected *t, const struct sample *m, bool weak)
{
	bool dominates[NODES][NODES];
	unsigned depth[NODES] = { 0 };
	bool reached[NODES];

	memset(t, 0, sizeof(*t));
	for (uint32_t i = 0; i < m->n; i++) {
		t->root[i] = m->root[i] && !m->own[i];
		for (uint32_t j = 0; j < m->n; j++)
			t->edge[i][j] =
				m->strong[i][j] || (weak && refers(m, HEAP_STREAM_PHANTOM, i, j));
	}
	find_phases(t, m, weak);
	for (uint32_t d = 0; d < m->n; d++) {
		reach(t, m->n, d, reached);
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

/* Maps the nodes of the sample to those of the graph, and back. */
struct numbers {
	uint32_t node[NODES], sample[NODES];
};

static void match_nodes(const struct graph *g, const struct sample *m, struct numbers *numbers)
{
	ck_assert_uint_eq(graph_n(g), m->n);
	for (uint32_t node = 0; node < m->n; node++) {
		uint32_t i = (uint32_t)(graph_size(g, node) / 8 - 1);

		ck_assert_uint_lt(i, m->n);
		numbers->node[i] = node;
		numbers->sample[node] = i;
		ck_assert_uint_eq(graph_class(g, node), m->class[i]);
		ck_assert_uint_eq(graph_stands_for(g, node), m->mirror_of[i]);
		ck_assert_uint_eq(graph_is_own(g, node), m->own[i]);
		ck_assert_int_eq(graph_length(g, node), -1);
	}
	for (uint32_t c = 0; c < CLASSES; c++)
		ck_assert_uint_eq(graph_mirror(g, c), m->mirror[c] == GRAPH_NONE ? GRAPH_NONE :
						      numbers->node[m->mirror[c]]);
}

static const enum graph_via expected_via[] = {
	[HEAP_STREAM_FIELD] = GRAPH_FIELD,     [HEAP_STREAM_STATIC] = GRAPH_STATIC,
	[HEAP_STREAM_ELEMENT] = GRAPH_ELEMENT, [HEAP_STREAM_REFERENT] = GRAPH_REFERENT,
	[HEAP_STREAM_LINK] = GRAPH_LINK,
};

static void check_edges(const struct graph *g, const struct sample *m, const struct numbers *x)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct graph_edges edges = graph_edges(g, x->node[i]);
		struct graph_edge edge;
		uint32_t mirror = m->class[i] == GRAPH_NONE ? GRAPH_NONE : m->mirror[m->class[i]];

		for (uint32_t k = 0; k < m->n_edges[i]; k++) {
			const struct sample_edge *e = &m->edges[i][k];

			if (m->own[i] || m->own[e->to])
				continue;
			ck_assert(graph_next(&edges, &edge));
			ck_assert_uint_eq(x->sample[edge.to], e->to);
			ck_assert_uint_eq(edge.via, expected_via[e->kind]);
			ck_assert_uint_eq(edge.index, e->index);
		}
		if (mirror != GRAPH_NONE && m->strong[i][mirror] && !m->own[i]) {
			ck_assert(graph_next(&edges, &edge));
			ck_assert_uint_eq(x->sample[edge.to], mirror);
			ck_assert_uint_eq(edge.via, GRAPH_CLASS);
		}
		ck_assert(!graph_next(&edges, &edge));
		ck_assert(!graph_next(&edges, &edge));
	}
}

static void check_bfs_edge(const struct graph *g, const struct graph_bfs *bfs, uint32_t node,
			   bool weak)
{
	uint32_t from = bfs->parent[node];
	struct graph_edges edges = graph_edges(g, from);
	struct graph_edge found = graph_bfs_edge(g, bfs, node), edge;

	do
		ck_assert(graph_next(&edges, &edge));
	while (edge.to != node || (!weak && edge.via == GRAPH_REFERENT));
	ck_assert_uint_eq(found.to, node);
	ck_assert_uint_eq(found.via, edge.via);
	ck_assert_uint_eq(found.index, edge.index);
}

static void check_bfs(const struct graph *g, const struct sample *m, const struct numbers *x,
		      bool weak)
{
	uint32_t distance[NODES];
	struct graph_bfs bfs;

	graph_bfs(g, weak, &bfs);
	for (uint32_t i = 0; i < m->n; i++)
		distance[i] = m->root[i] && !m->own[i] ? 0 : NODES;
	for (uint32_t k = 0; k < m->n; k++) {
		for (uint32_t i = 0; i < m->n; i++) {
			for (uint32_t j = 0; j < m->n; j++) {
				if ((m->strong[i][j] ||
				     (weak && refers(m, HEAP_STREAM_PHANTOM, i, j))) &&
				    distance[i] + 1 < distance[j])
					distance[j] = distance[i] + 1;
			}
		}
	}
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t node = x->node[i], length = 0;

		ck_assert_uint_eq(!graph_root_of(g, node), m->mirror_of[i] == GRAPH_NONE &&
							   (!m->root[i] || m->own[i]));
		if (distance[i] == NODES) {
			ck_assert_uint_eq(bfs.parent[node], GRAPH_NONE);
			continue;
		}
		for (; bfs.parent[node] != node; node = bfs.parent[node], length++)
			check_bfs_edge(g, &bfs, node, weak);
		ck_assert_uint_eq(length, distance[i]);
		ck_assert_ptr_nonnull(graph_root_of(g, node));
		ck_assert_uint_eq(graph_root_of(g, node)->node, node);
	}
	graph_bfs_release(&bfs);
}

static void check_sums(const struct graph *g, const struct sample *m, const struct expected *t,
		       const struct dominators *tree)
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

static void check_tree(const struct graph *g, const struct sample *m, const struct numbers *x,
		       bool weak)
{
	struct dominators tree;
	struct expected t;
	uint64_t n = 0, total = 0, held[1 + HEAP_STREAM_STRENGTHS] = { 0 };

	find_expected(&t, m, weak);
	dominators_find(g, weak, &tree);
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
	for (unsigned s = 0; s < HEAP_STREAM_STRENGTHS; s++)
		ck_assert_uint_eq(tree.held[s].bytes, held[1 + s]);
	check_sums(g, m, &t, &tree);
	dominators_release(&tree);
}

START_TEST(random_graphs_agree_with_brute_force)
{
	struct numbers numbers;
	struct sample m;

	srand(20);
	for (unsigned k = 0; k < 2000; k++) {
		struct graph *g;

		make_sample(&m);
		g = write_sample(&m);
		match_nodes(g, &m, &numbers);
		check_edges(g, &m, &numbers);
		for (int weak = 0; weak < 2; weak++) {
			check_bfs(g, &m, &numbers, weak);
			check_tree(g, &m, &numbers, weak);
		}
		graph_free(g);
	}
}
END_TEST

/* Recursion over so many nodes would overflow the stack. */
#define LONG 2000000u

START_TEST(two_million_nodes_in_a_list_need_no_recursion)
{
	struct graph_sum sums[2];
	const uint32_t group[2] = { 0, 1 };
	struct dominators tree;
	struct graph_bfs bfs;
	struct graph *g;
	struct writer w;
	uint32_t last = 0, length = 0, wrong = 0; /* counted: an assertion per node is slow */

	begin(&w);
	put(&w,
	    (struct heap_stream_record){ .kind = HEAP_STREAM_ROOT, .address = at(0), .size = 24 });
	for (uint32_t i = 0; i < LONG; i++) {
		put_object(&w, i, 1);
		if (i + 1 < LONG)
			put_reference(&w, HEAP_STREAM_FIELD, i + 1, 0, 24);
	}
	g = end(&w, 2);
	ck_assert_uint_eq(graph_n(g), LONG);
	ck_assert_uint_eq(graph_n_edges(g), LONG - 1);
	dominators_find(g, false, &tree);
	ck_assert_uint_eq(tree.total, UINT64_C(24) * LONG);
	graph_sum_up(g, &tree, group, 2, sums);
	ck_assert_uint_eq(sums[1].retained, UINT64_C(24) * LONG);
	ck_assert_uint_eq(sums[1].instances, LONG);
	for (uint32_t node = 0; node < LONG; node++) {
		if (tree.retained[node] == 24)
			last = node;
	}
	graph_bfs(g, false, &bfs);
	for (uint32_t node = last; bfs.parent[node] != node; node = bfs.parent[node]) {
		wrong += bfs.parent[node] != tree.dominator[node];
		length++;
	}
	ck_assert_uint_eq(length, LONG - 1);
	ck_assert_uint_eq(wrong, 0);
	graph_bfs_release(&bfs);
	dominators_release(&tree);
	graph_free(g);
}
END_TEST

/*
 * Writes a list of n nodes whose elements are also in an array, and returns the graph.  The list's
 * nodes are objects 1 to n, the elements n + 1 to 2 n, the array object 0.  The array and the first
 * node are roots.  The depth-first search reaches the list first, because the last root has the
 * highest number.
 */
static struct graph *write_shared_list(uint32_t n)
{
	struct writer w;

	begin(&w);
	put_root(&w, 0);
	put_root(&w, 1);
	for (uint32_t i = 1; i <= n; i++) {
		put_object(&w, i, 1);
		put_reference(&w, HEAP_STREAM_FIELD, n + i, 0, 16);
		if (i < n)
			put_reference(&w, HEAP_STREAM_FIELD, i + 1, 1, 24);
	}
	put_object(&w, 0, 1);
	for (uint32_t i = 0; i < n; i++)
		put_reference(&w, HEAP_STREAM_ELEMENT, n + 1 + i, i, 16);
	return end(&w, 2);
}

/* A search for dominators that goes up one node at a time would take hours. */
START_TEST(dominators_of_a_list_with_shared_elements_are_found_fast)
{
	struct graph *g = write_shared_list(LONG);
	struct dominators tree;
	uint32_t shared = 0, last = 0, length = 0;

	ck_assert_uint_eq(graph_n(g), 2 * LONG + 1);
	dominators_find(g, false, &tree);
	ck_assert_uint_eq(tree.n_reached, 2 * LONG + 1);
	for (uint32_t node = 0; node < tree.n; node++) {
		if (graph_size(g, node) == 16)
			shared += tree.dominator[node] == tree.n;
		else if (tree.retained[node] == 24)
			last = node;
	}
	ck_assert_uint_eq(shared, LONG);
	for (uint32_t node = last; node != tree.n; node = tree.dominator[node])
		length++;
	ck_assert_uint_eq(length, LONG);
	dominators_release(&tree);
	graph_free(g);
}
END_TEST

/*
 * Random graphs with deep dominator trees: a list of DEEP nodes from the root 0 on, with references
 * that mostly lead a short distance up or down the list.
 */
#define DEEP 150u
#define DEEP_EDGES 3

struct deep_sample {
	uint32_t n_edges[DEEP], to[DEEP][DEEP_EDGES];
};

static void make_deep_sample(struct deep_sample *m)
{
	const uint32_t one_in = 1 + pick(20);

	for (uint32_t i = 0; i < DEEP; i++) {
		uint32_t *n = &m->n_edges[i];

		*n = 0;
		if (pick(one_in) == 0)
			m->to[i][(*n)++] = pick(8) == 0 ? pick(DEEP) : (i + pick(8)) % DEEP;
		if (i + 1 < DEEP)
			m->to[i][(*n)++] = i + 1;
		if (pick(one_in) == 0)
			m->to[i][(*n)++] = (i + DEEP - pick(8)) % DEEP;
	}
}

/* Sets reached[i] to whether node i can be reached from node 0 without passing `avoided`. */
static void reach_deep(const struct deep_sample *m, uint32_t avoided, bool reached[DEEP])
{
	uint32_t stack[DEEP * DEEP_EDGES + 1], n = 0;

	memset(reached, 0, DEEP * sizeof(*reached));
	stack[n++] = 0;
	while (n > 0) {
		const uint32_t i = stack[--n];

		if (i == avoided || reached[i])
			continue;
		reached[i] = true;
		for (uint32_t k = 0; k < m->n_edges[i]; k++)
			stack[n++] = m->to[i][k];
	}
}

/* Node i of the sample has 8 * (i + 1) bytes. */
static struct graph *write_deep_sample(const struct deep_sample *m)
{
	struct writer w;

	begin(&w);
	put(&w,
	    (struct heap_stream_record){ .kind = HEAP_STREAM_ROOT, .address = at(0), .size = 8 });
	for (uint32_t i = 0; i < DEEP; i++) {
		put_object(&w, i, 1);
		for (uint32_t k = 0; k < m->n_edges[i]; k++)
			put_reference(&w, HEAP_STREAM_FIELD, m->to[i][k], k,
				      (m->to[i][k] + 1) * 8);
	}
	return end(&w, 2);
}

/*
 * Checks that each node's dominator dominates it, and that each node retains as much as it should.
 * Then no node that dominates another one is missing in the tree.
 */
static void check_deep_tree(const struct deep_sample *m, const struct graph *g)
{
	struct dominators tree;
	uint32_t node[DEEP];

	dominators_find(g, false, &tree);
	ck_assert_uint_eq(tree.n_reached, DEEP);
	for (uint32_t i = 0; i < DEEP; i++)
		node[graph_size(g, i) / 8 - 1] = i;
	ck_assert_uint_eq(tree.dominator[node[0]], DEEP);
	for (uint32_t i = 0; i < DEEP; i++) {
		uint64_t retained = 0;
		bool reached[DEEP];

		reach_deep(m, i, reached);
		for (uint32_t k = 0; k < DEEP; k++) {
			if (!reached[k])
				retained += (k + 1) * 8;
			ck_assert(!reached[k] || tree.dominator[node[k]] != node[i]);
		}
		ck_assert_uint_eq(tree.retained[node[i]], retained);
		ck_assert(i == 0 || tree.dominator[node[i]] < DEEP);
	}
	dominators_release(&tree);
}

START_TEST(deep_random_graphs_agree_with_brute_force)
{
	srand(21);
	for (unsigned k = 0; k < 300; k++) {
		struct deep_sample m;
		struct graph *g;

		make_deep_sample(&m);
		g = write_deep_sample(&m);
		ck_assert_uint_eq(graph_n(g), DEEP);
		check_deep_tree(&m, g);
		graph_free(g);
	}
}
END_TEST

START_TEST(array_gaps_of_all_lengths_are_encoded)
{
	struct graph_edges edges;
	struct graph_edge edge;
	struct graph_bfs bfs;
	struct graph *g;
	struct writer w;
	uint32_t gap = 0, index = 0, n = 0;

	begin(&w);
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_ROOT,
					     .address = at(0),
					     .size = 80000016,
					     .is_array = true,
					     .length = 10000000 });
	put_object(&w, 0, 1);
	for (uint32_t i = 0; i < 10000000; n++, i += 1 + gap++ % 1000)
		put_reference(&w, HEAP_STREAM_ELEMENT, 1 + n, i, 16);
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
	graph_bfs(g, false, &bfs);
	for (uint32_t k = 0; k < n; index += 1 + k++ % 1000)
		ck_assert_uint_eq(graph_bfs_edge(g, &bfs, 1 + k).index, index);
	graph_bfs_release(&bfs);
	graph_free(g);
}
END_TEST

/* The time to find an edge does not grow with its index. */
START_TEST(edge_lookup_in_a_full_array_is_fast)
{
	struct graph_bfs bfs;
	struct graph *g;
	struct writer w;
	uint32_t wrong = 0;

	begin(&w);
	put_root(&w, 0);
	put_object(&w, 0, 1);
	for (uint32_t i = 0; i < LONG; i++)
		put_reference(&w, HEAP_STREAM_ELEMENT, 1 + i, i, 16);
	g = end(&w, 2);
	graph_bfs(g, false, &bfs);
	for (uint32_t i = 0; i < LONG; i += 7)
		wrong += graph_bfs_edge(g, &bfs, 1 + i).index != i;
	ck_assert_uint_eq(wrong, 0);
	graph_bfs_release(&bfs);
	graph_free(g);
}
END_TEST

/* Returns the node with `size` bytes. */
static uint32_t node_of_size(const struct graph *g, uint64_t size)
{
	uint32_t node = 0;

	while (node < graph_n(g) && graph_size(g, node) != size)
		node++;
	ck_assert_uint_lt(node, graph_n(g));
	return node;
}

/*
 * Numbers are objects.  A root refers to 5, 5 to the loader 2, and 2 to the class object 0.  Static
 * fields of the class objects 0 and 4 refer to 3, which is the only instance of the class of 4.
 */
START_TEST(paths_begin_at_classes)
{
	static const struct graph_facts facts = { .n_classes = 4, .class_class = CLASS_CLASS };
	uint32_t root, loader, class, target;
	struct graph_bfs bfs;
	struct graph *g;
	struct writer w;
	int error;

	begin(&w);
	put(&w,
	    (struct heap_stream_record){ .kind = HEAP_STREAM_CLASS, .address = at(0), .class = 1 });
	put(&w,
	    (struct heap_stream_record){ .kind = HEAP_STREAM_CLASS, .address = at(4), .class = 2 });
	put_root(&w, 5);
	put_object(&w, 5, 3);
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_SIZE, .size = 56 });
	put_reference(&w, HEAP_STREAM_FIELD, 2, 0, 32);
	put_object(&w, 2, 3);
	put_reference(&w, HEAP_STREAM_FIELD, 0, 0, 16);
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_MIRROR, .address = at(0) });
	put_reference(&w, HEAP_STREAM_LINK, 2, HEAP_STREAM_LOADER, 32);
	put_reference(&w, HEAP_STREAM_STATIC, 3, 0, 40);
	put_object(&w, 3, 2);
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_MIRROR, .address = at(4) });
	put_reference(&w, HEAP_STREAM_STATIC, 3, 1, 40);
	g = end_with(&w, &facts, &error);
	ck_assert_ptr_nonnull(g);
	root = node_of_size(g, 56);
	loader = node_of_size(g, 32);
	target = node_of_size(g, 40);
	class = graph_mirror(g, 1);

	graph_bfs_to(g, false, &target, 1, &bfs);
	ck_assert_uint_eq(bfs.parent[target], class);
	ck_assert_uint_eq(bfs.parent[class], class);
	ck_assert_uint_eq(graph_root_of(g, class)->kind, HEAP_STREAM_ROOT_CLASS);
	/* The path to the target does not begin at a class that only the target reaches. */
	ck_assert_uint_eq(bfs.parent[graph_mirror(g, 2)], target);
	graph_bfs_release(&bfs);

	graph_bfs_to(g, false, &loader, 1, &bfs);
	ck_assert_uint_eq(bfs.parent[loader], root);
	ck_assert_uint_eq(bfs.parent[root], root);
	graph_bfs_release(&bfs);
	graph_free(g);
}
END_TEST

static void put_root_of(struct writer *w, uint32_t i, enum heap_stream_root kind)
{
	put(w, (struct heap_stream_record){
		       .kind = HEAP_STREAM_ROOT, .address = at(i), .root = kind });
}

/*
 * A local variable, a JNI local and a monitor refer to 3, and the local variable to 4.  JNI refers
 * to 1, 1 to 2, and 2 to 3.  A local variable and JNI refer to 5.  The sizes are 8 times 1 more.
 */
START_TEST(roots_of_threads_are_the_last)
{
	struct graph_bfs bfs;
	struct graph *g;
	struct writer w;

	begin(&w);
	put_root_of(&w, 3, HEAP_STREAM_ROOT_STACK);
	put_root_of(&w, 3, HEAP_STREAM_ROOT_JNI_LOCAL);
	put_root_of(&w, 3, HEAP_STREAM_ROOT_MONITOR);
	put_root_of(&w, 4, HEAP_STREAM_ROOT_STACK);
	put_root_of(&w, 5, HEAP_STREAM_ROOT_STACK);
	put_root_of(&w, 5, HEAP_STREAM_ROOT_JNI_GLOBAL);
	put_root(&w, 1);
	for (uint32_t i = 1; i <= 5; i++) {
		put_object(&w, i, 1);
		put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_SIZE,
						     .size = (i + 1) * 8 });
		if (i < 3)
			put_reference(&w, HEAP_STREAM_FIELD, i + 1, 0, 0);
	}
	g = end(&w, CLASSES);
	ck_assert_ptr_nonnull(g);
	graph_bfs(g, false, &bfs);
	for (uint32_t i = 2; i <= 3; i++)
		ck_assert_uint_eq(bfs.parent[node_of_size(g, (i + 1) * 8)],
				  node_of_size(g, i * 8));
	ck_assert_uint_eq(bfs.parent[node_of_size(g, 40)], node_of_size(g, 40));
	ck_assert_uint_eq(graph_root_of(g, node_of_size(g, 40))->kind, HEAP_STREAM_ROOT_STACK);
	ck_assert_uint_eq(graph_root_of(g, node_of_size(g, 48))->kind,
			  HEAP_STREAM_ROOT_JNI_GLOBAL);
	graph_bfs_release(&bfs);
	graph_free(g);
}
END_TEST

START_TEST(lasting_classes_are_roots_once)
{
	const bool permanent[3] = { false, true, true };
	struct graph_facts facts = { 3, CLASS_CLASS, permanent, 0, false };
	const struct graph_root *roots;
	struct graph *g;
	struct writer w;
	size_t n;
	int error;

	begin(&w);
	put(&w,
	    (struct heap_stream_record){ .kind = HEAP_STREAM_CLASS, .address = at(0), .class = 1 });
	put(&w,
	    (struct heap_stream_record){ .kind = HEAP_STREAM_CLASS, .address = at(1), .class = 0 });
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_ROOT,
					     .address = at(0),
					     .root = HEAP_STREAM_ROOT_MONITOR });
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_ROOT,
					     .address = at(0),
					     .root = HEAP_STREAM_ROOT_CLASS });
	g = end_with(&w, &facts, &error);
	ck_assert_ptr_nonnull(g);
	roots = graph_roots(g, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(roots[0].kind, HEAP_STREAM_ROOT_CLASS);
	ck_assert_uint_eq(graph_root_of(g, 0)->kind, HEAP_STREAM_ROOT_CLASS);
	ck_assert_uint_eq(graph_root_of(g, 1)->kind, HEAP_STREAM_ROOT_CLASS);
	ck_assert_uint_eq(graph_root_of(g, 1)->node, 1);
	ck_assert_uint_eq(graph_class(g, 0), CLASS_CLASS);
	graph_free(g);
}
END_TEST

START_TEST(texts_belong_to_their_strings)
{
	enum heap_stream_form form;
	const uint8_t *text;
	struct graph *g;
	struct writer w;
	uint32_t len;

	begin(&w);
	put_object(&w, 5, 1);
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_TEXT,
					     .address = at(5),
					     .form = HEAP_STREAM_UTF16,
					     .text = (const uint8_t *)"" });
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_TEXT,
					     .address = at(3),
					     .form = HEAP_STREAM_BYTES,
					     .text = (const uint8_t *)"hello",
					     .text_len = 5 });
	put_object(&w, 1, 1);
	g = end(&w, 2);
	text = graph_text(g, 1, &form, &len);
	ck_assert_ptr_nonnull(text);
	ck_assert_mem_eq(text, "hello", 5);
	ck_assert_uint_eq(len, 5);
	ck_assert_uint_eq(form, HEAP_STREAM_BYTES);
	ck_assert_ptr_nonnull(graph_text(g, 0, &form, &len));
	ck_assert_uint_eq(len, 0);
	ck_assert_ptr_null(graph_text(g, 2, &form, &len));
	graph_free(g);
}
END_TEST

START_TEST(mirror_of_a_primitive_type_has_no_class)
{
	struct graph *g;
	struct writer w;

	begin(&w);
	put(&w, (struct heap_stream_record){ .kind = HEAP_STREAM_MIRROR, .address = at(0) });
	g = end(&w, 1);
	ck_assert_uint_eq(graph_class(g, 0), CLASS_CLASS);
	ck_assert_uint_eq(graph_stands_for(g, 0), GRAPH_NONE);
	graph_free(g);
}
END_TEST

START_TEST(empty_stream_makes_an_empty_graph)
{
	struct graph_facts facts = { 0, GRAPH_NONE, NULL, 0, false };
	struct graph_sum sum;
	struct dominators tree;
	struct graph_bfs bfs;
	struct graph *g;
	struct writer w;
	uint32_t group = 0;
	int error;

	begin(&w);
	g = end_with(&w, &facts, &error);
	ck_assert_ptr_nonnull(g);
	ck_assert_uint_eq(graph_n(g), 0);
	graph_bfs(g, false, &bfs);
	dominators_find(g, false, &tree);
	ck_assert_uint_eq(tree.n_reached, 0);
	graph_sum_up(g, &tree, &group, 1, &sum);
	ck_assert_uint_eq(sum.instances, 0);
	graph_bfs_release(&bfs);
	dominators_release(&tree);
	graph_free(g);
	graph_free(NULL);
	graph_builder_free(NULL);
}
END_TEST

START_TEST(inconsistent_records_are_rejected)
{
	static const struct {
		struct heap_stream_record r[3];
	} inconsistent[] = {
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8 },
		    { .kind = HEAP_STREAM_OBJECT, .address = 8 } } },
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8 },
		    { .kind = HEAP_STREAM_MIRROR, .address = 8 } } },
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8, .class = 3 } } },
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8, .class = UINT32_MAX } } },
		{ { { .kind = HEAP_STREAM_FIELD, .address = 8 } } },
		{ { { .kind = HEAP_STREAM_SIZE, .size = 8 } } },
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8 },
		    { .kind = HEAP_STREAM_FIELD, .address = 16, .size = 16 },
		    { .kind = HEAP_STREAM_FIELD, .address = 16, .size = 24 } } },
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8 },
		    { .kind = HEAP_STREAM_FIELD, .address = 16, .size = UINT64_C(1) << 36 } } },
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8 },
		    { .kind = HEAP_STREAM_REFERENT,
		      .address = 16,
		      .index = HEAP_STREAM_STRENGTHS } } },
		{ { { .kind = HEAP_STREAM_MIRROR, .address = 8 },
		    { .kind = HEAP_STREAM_LINK, .address = 16, .index = HEAP_STREAM_LINKS } } },
		{ { { .kind = HEAP_STREAM_CLASS, .address = 8, .class = 1 },
		    { .kind = HEAP_STREAM_CLASS, .address = 16, .class = 1 } } },
		{ { { .kind = HEAP_STREAM_CLASS, .address = 8, .class = 1 },
		    { .kind = HEAP_STREAM_CLASS, .address = 8, .class = 2 } } },
		{ { { .kind = HEAP_STREAM_CLASS, .address = 8, .class = 3 } } },
		{ { { .kind = HEAP_STREAM_CLASS, .address = 8, .class = 1 },
		    { .kind = HEAP_STREAM_OBJECT, .address = 8, .class = 1 } } },
		{ { { .kind = HEAP_STREAM_OBJECT, .address = 8, .class = 1 },
		    { .kind = HEAP_STREAM_CLASS, .address = 8, .class = 1 } } },
	};
	struct writer w;

	begin(&w);
	put(&w, inconsistent[_i].r[0]);
	for (unsigned i = 1; i < 3 && inconsistent[_i].r[i].address; i++)
		put(&w, inconsistent[_i].r[i]);
	ck_assert_int_eq(error_of(&w), -EBADMSG);
}
END_TEST

START_TEST(truncated_stream_is_rejected_or_ends_after_a_record)
{
	static const enum heap_stream_kind kinds[] = { HEAP_STREAM_FIELD, HEAP_STREAM_ELEMENT,
						       HEAP_STREAM_REFERENT };
	struct graph_facts facts = { .n_classes = 3, .class_class = CLASS_CLASS };
	size_t built = 0;
	struct writer w;

	begin(&w);
	put(&w,
	    (struct heap_stream_record){ .kind = HEAP_STREAM_CLASS, .address = at(1), .class = 1 });
	put_root(&w, 2);
	for (uint32_t i = 0; i < 3; i++) {
		put_object(&w, 7 * i + 2, 1);
		put_reference(&w, kinds[i], 9, i, 24);
	}
	for (size_t len = 0; len <= w.len; len++) {
		struct graph_builder *b = graph_builder_new(0);
		int error = graph_builder_take(b, w.stream, len);
		struct graph *g = error == 0 ? graph_build(b, &facts, &error) : NULL;

		ck_assert(g || error == -EBADMSG);
		built += g != NULL;
		graph_free(g);
		graph_builder_free(b);
	}
	ck_assert_uint_eq(built, 9); /* cut before, between or after the 8 records */
	graph_builder_free(w.builder);
	free(w.stream);
}
END_TEST

START_TEST(memory_limit_is_enforced)
{
	struct writer w;

	begin(&w);
	graph_builder_free(w.builder);
	w.builder = graph_builder_new(100000);
	for (uint32_t i = 0; i < 10000; i++)
		put_object(&w, i, 1);
	ck_assert_int_eq(error_of(&w), -EFBIG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/graph/graph");
	TCase *c = tcase_create("model/graph/graph");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(c, 60); /* seconds; sanitisers and parallel tests are slow */
	tcase_add_test(c, random_graphs_agree_with_brute_force);
	tcase_add_test(c, two_million_nodes_in_a_list_need_no_recursion);
	tcase_add_test(c, dominators_of_a_list_with_shared_elements_are_found_fast);
	tcase_add_test(c, deep_random_graphs_agree_with_brute_force);
	tcase_add_test(c, array_gaps_of_all_lengths_are_encoded);
	tcase_add_test(c, edge_lookup_in_a_full_array_is_fast);
	tcase_add_test(c, paths_begin_at_classes);
	tcase_add_test(c, roots_of_threads_are_the_last);
	tcase_add_test(c, lasting_classes_are_roots_once);
	tcase_add_test(c, texts_belong_to_their_strings);
	tcase_add_test(c, mirror_of_a_primitive_type_has_no_class);
	tcase_add_test(c, empty_stream_makes_an_empty_graph);
	tcase_add_loop_test(c, inconsistent_records_are_rejected, 0, 15);
	tcase_add_test(c, truncated_stream_is_rejected_or_ends_after_a_record);
	tcase_add_test(c, memory_limit_is_enforced);
	suite_add_tcase(s, c);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
