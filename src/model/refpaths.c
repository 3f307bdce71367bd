#include "model/refpaths.h"

#include <string.h>

#include "base/intern.h"
#include "base/xalloc.h"

/* What is known of a node on one of the ways. */
struct spot {
	uint32_t step;  /* + 1; 0: it is on none, or was not looked at yet */
	uint32_t run;   /* which object of its stretch it is, from 1 */
	uint32_t depth; /* which of the way, from 1 */
	uint32_t seen;  /* the last group, + 1, whose ways were measured from here up */
};

/*
 * A stretch of all ways that are alike so far.  With the steps before, it says all there is to
 * say about them: the steps are the nodes of a tree, whose edges this is interned by.
 */
struct step_key {
	uint32_t before;     /* step; GRAPH_NONE: it begins at a root */
	uint32_t via, index; /* of the edge; of the root, its kind and number among the names */
	uint32_t what;       /* name of the class, twice; + 1: the class object itself */
};

struct step {
	uint32_t level;   /* how many there are before */
	uint32_t count;   /* targets */
	uint32_t example; /* the target with the shortest way so far */
	uint32_t length;  /* of that */
	uint32_t group;   /* + 1; 0: none that is looked into */
};

struct merger {
	const struct heap *heap;
	const struct graph *graph;
	const struct graph_ways *ways;
	struct intern names;   /* of classes and of roots */
	uint32_t *class_names; /* of each class, and behind them of those that are none */
	struct intern keys;    /* of steps */
	struct step *steps;
	size_t n_steps, cap_steps;
	struct spot *spots;    /* touched on the ways only: the rest is never backed by memory */
	uint32_t *climbed;
	size_t cap_climbed;
};

static void merger_init(struct merger *m, const struct heap *h, const struct graph_ways *ways)
{
	*m = (struct merger){ .heap = h, .graph = h->graph, .ways = ways };
	m->class_names = xcalloc(h->n_classes + 1, sizeof(*m->class_names));
	for (uint32_t i = 0; i <= h->n_classes; i++)
		m->class_names[i] = intern_text(&m->names, heap_class_name(h, i));
	m->spots = xcalloc(graph_n(m->graph), sizeof(*m->spots));
}

static void merger_release(struct merger *m)
{
	intern_release(&m->names);
	intern_release(&m->keys);
	free(m->class_names);
	free(m->steps);
	free(m->spots);
	free(m->climbed);
}

static uint32_t name_of(const struct merger *m, uint32_t class)
{
	return m->class_names[class < m->heap->n_classes ? class : m->heap->n_classes];
}

static bool is_class_object(const struct merger *m, uint32_t node)
{
	return graph_stands_for(m->graph, node) != GRAPH_NONE;
}

/* As an object, whatever it is: class objects are all alike. */
static uint32_t what_as_object(const struct merger *m, uint32_t node)
{
	return 2 * name_of(m, graph_class(m->graph, node));
}

static uint32_t what_is(const struct merger *m, uint32_t node)
{
	uint32_t meant = graph_stands_for(m->graph, node);

	return meant == GRAPH_NONE ? what_as_object(m, node) : 2 * name_of(m, meant) + 1;
}

static uint32_t add_step(struct merger *m, const struct step_key *key)
{
	uint32_t step = intern_add(&m->keys, key, sizeof(*key));

	if (step < m->n_steps)
		return step;
	m->steps = xgrow(m->steps, m->n_steps, &m->cap_steps, sizeof(*m->steps));
	m->steps[m->n_steps++] = (struct step){
		.level = key->before == GRAPH_NONE ? 0 : m->steps[key->before].level + 1,
	};
	return step;
}

static uint32_t what_of_step(const struct merger *m, uint32_t step)
{
	struct step_key key;

	memcpy(&key, intern_get(&m->keys, step, NULL), sizeof(key));
	return key.what;
}

void refpaths_thread_kind(const char *name, struct buf *kind)
{
	for (; *name; name++) {
		bool digit = *name >= '0' && *name <= '9';

		if (!digit)
			buf_addc(kind, *name);
		else if (kind->len == 0 || kind->data[kind->len - 1] != '*')
			buf_addc(kind, '*');
	}
}

/* The step that a way begins with. */
static uint32_t first_step(struct merger *m, uint32_t node, uint32_t what)
{
	static const struct graph_root none = { .kind = TAPE_ROOT_VM };
	const struct graph_root *root = graph_root_of(m->graph, node);
	const struct heap_method *method;
	const char *thread;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct step_key key = { .before = GRAPH_NONE, .what = what };

	if (!root)
		root = &none;
	method = heap_method(m->heap, root->method);
	thread = heap_thread_name(m->heap, root->thread);
	refpaths_thread_kind(thread ? thread : "", &text);
	buf_addc(&text, '\0');
	if (method)
		buf_addf(&text, "%s.%s", method->class, method->name);
	key.via = (uint32_t)root->kind;
	key.index = intern_add(&m->names, text.data, text.len);
	return add_step(m, &key);
}

/*
 * How a node is held, as far as it matters here.  The elements of an array are not looked up one
 * by one: there may be millions, and all but its class are held alike.
 */
static struct graph_edge how_held(const struct merger *m, uint32_t node)
{
	uint32_t parent = m->ways->parent[node];
	struct graph_edge edge = { .to = node, .via = GRAPH_ELEMENT };

	if (graph_length(m->graph, parent) >= 0 && !is_class_object(m, node))
		return edge;
	edge = graph_way_edge(m->graph, m->ways, node);
	if (edge.via == GRAPH_ELEMENT)
		edge.index = 0;
	return edge;
}

static uint32_t next_step(struct merger *m, uint32_t before, const struct graph_edge *edge,
			  uint32_t what)
{
	const struct step_key key = { before, (uint32_t)edge->via, edge->index, what };

	return add_step(m, &key);
}

static bool is_plain(enum graph_via via)
{
	return via == GRAPH_FIELD || via == GRAPH_ELEMENT;
}

/* The nodes above are settled. */
static void settle_one(struct merger *m, uint32_t node)
{
	uint32_t parent = m->ways->parent[node], what = what_is(m, node);
	struct spot *spot = &m->spots[node], above = m->spots[parent];
	struct graph_edge edge;

	spot->depth = above.depth + 1;
	spot->run = 1;
	if (parent == node) {
		spot->step = first_step(m, node, what) + 1;
		return;
	}
	edge = how_held(m, node);
	if (is_plain(edge.via) && !is_class_object(m, node) &&
	    what_of_step(m, above.step - 1) == what) {
		spot->step = above.step;
		spot->run = above.run + 1;
		return;
	}
	spot->step = next_step(m, above.step - 1, &edge, what) + 1;
}

static void settle(struct merger *m, uint32_t node)
{
	size_t n = 0;

	while (m->spots[node].step == 0) {
		m->climbed = xgrow(m->climbed, n, &m->cap_climbed, sizeof(*m->climbed));
		m->climbed[n++] = node;
		if (m->ways->parent[node] == node)
			break;
		node = m->ways->parent[node];
	}
	while (n > 0)
		settle_one(m, m->climbed[--n]);
}

/*
 * The step that a target's way ends with, and its length.  On the way to others, a class object
 * is that class; as an instance of java.lang.Class, it is one of many.
 */
static uint32_t last_step(struct merger *m, uint32_t target, uint32_t *length)
{
	uint32_t parent = m->ways->parent[target];
	struct graph_edge edge;

	if (!is_class_object(m, target)) {
		settle(m, target);
		*length = m->spots[target].depth;
		return m->spots[target].step - 1;
	}
	*length = 1;
	if (parent == target)
		return first_step(m, target, what_as_object(m, target));
	settle(m, parent);
	*length += m->spots[parent].depth;
	edge = how_held(m, target);
	return next_step(m, m->spots[parent].step - 1, &edge, what_as_object(m, target));
}

static bool is_reached(const struct graph_ways *ways, uint32_t node)
{
	return ways->parent[node] != GRAPH_NONE;
}

static void count_steps(struct merger *m, const struct refpaths_targets *targets)
{
	for (size_t i = 0; i < targets->n; i++) {
		uint32_t node = targets->nodes[i], length, last;
		struct step *step;

		if (!is_reached(m->ways, node))
			continue;
		last = last_step(m, node, &length);
		step = &m->steps[last];
		if (step->count++ > 0 && step->length <= length)
			continue;
		step->example = node;
		step->length = length;
	}
}

static int compare_groups(const void *a, const void *b)
{
	const struct refpaths_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return x->step < y->step ? -1 : 1;
}

static void make_groups(const struct merger *m, struct refpaths *paths)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < m->n_steps; i++) {
		const struct step *step = &m->steps[i];

		if (step->count == 0)
			continue;
		paths->groups = xgrow(paths->groups, paths->n_groups, &cap,
				      sizeof(*paths->groups));
		paths->groups[paths->n_groups++] = (struct refpaths_group){
			.count = step->count,
			.example = step->example,
			.length = step->length,
			.step = i,
			.n_stretches = (size_t)step->level + 1,
		};
		paths->n_reached += step->count;
	}
	if (paths->n_groups > 0)
		qsort(paths->groups, paths->n_groups, sizeof(*paths->groups), compare_groups);
}

static void note_run(struct refpaths_group *group, uint32_t level, uint32_t run)
{
	struct refpaths_stretch *stretch = &group->stretches[level];

	if (stretch->least == 0 || run < stretch->least)
		stretch->least = run;
	if (run > stretch->most)
		stretch->most = run;
}

static uint64_t thread_of(const struct merger *m, uint32_t node)
{
	const struct graph_root *root = graph_root_of(m->graph, node);

	return root ? root->thread : 0;
}

/* Where a stretch ends on the way up from a target, its number of objects is known. */
static void measure_way(struct merger *m, struct refpaths_group *group, uint32_t mark,
			uint32_t target, uint64_t *thread)
{
	uint32_t step = group->step, node = target;

	note_run(group, m->steps[step].level,
		 is_class_object(m, target) ? 1 : m->spots[target].run);
	while (m->ways->parent[node] != node) {
		struct spot *spot;

		node = m->ways->parent[node];
		spot = &m->spots[node];
		if (spot->step - 1 != step) {
			step = spot->step - 1;
			note_run(group, m->steps[step].level, spot->run);
		}
		if (spot->seen == mark)
			return;
		spot->seen = mark;
	}
	if (*thread == 0)
		*thread = thread_of(m, node);
	else if (*thread != thread_of(m, node))
		group->threads_differ = true;
}

static void measure_group(struct merger *m, struct refpaths_group *group, uint32_t mark,
			  const uint32_t *targets)
{
	uint64_t thread = 0;

	group->stretches = xcalloc(group->n_stretches, sizeof(*group->stretches));
	for (uint64_t i = 0; i < group->count; i++)
		measure_way(m, group, mark, targets[i], &thread);
}

/* The targets of the first groups, sorted by group: there may be many that are in none. */
static uint32_t *sort_targets(struct merger *m, const struct refpaths_targets *targets,
			      const struct refpaths *paths)
{
	_cleanup_free_ size_t *ends = xcalloc(paths->n_looked_into, sizeof(*ends));
	uint32_t *sorted, length;
	size_t n = 0;

	for (uint32_t i = 0; i < paths->n_looked_into; i++) {
		m->steps[paths->groups[i].step].group = i + 1;
		ends[i] = n;
		n += paths->groups[i].count;
	}
	sorted = xreallocarray(NULL, n, sizeof(*sorted));
	for (size_t i = 0; i < targets->n; i++) {
		uint32_t last, group;

		if (!is_reached(m->ways, targets->nodes[i]))
			continue;
		last = last_step(m, targets->nodes[i], &length);
		group = m->steps[last].group;
		if (group > 0)
			sorted[ends[group - 1]++] = targets->nodes[i];
	}
	return sorted;
}

static void look_into_groups(struct merger *m, const struct refpaths_targets *targets,
			     struct refpaths *paths)
{
	_cleanup_free_ uint32_t *sorted = sort_targets(m, targets, paths);
	const uint32_t *at = sorted;

	for (uint32_t i = 0; i < paths->n_looked_into; i++) {
		measure_group(m, &paths->groups[i], i + 1, at);
		at += paths->groups[i].count;
	}
}

/* Of those without a way. */
static uint64_t count_weak(const struct graph *g, const struct refpaths_targets *targets,
			   const struct graph_ways *strong)
{
	struct graph_ways ways;
	uint64_t n = 0;

	graph_find_ways(g, true, &ways);
	for (size_t i = 0; i < targets->n; i++)
		n += !is_reached(strong, targets->nodes[i]) && is_reached(&ways, targets->nodes[i]);
	graph_ways_release(&ways);
	return n;
}

void refpaths_find(const struct heap *h, const struct refpaths_targets *targets, bool weak,
		   size_t n_told, struct refpaths *paths)
{
	struct merger m;

	*paths = (struct refpaths){ .n_targets = targets->n };
	if (targets->n == 0)
		return;
	graph_find_ways_to(h->graph, weak, targets->nodes, targets->n, &paths->ways);
	merger_init(&m, h, &paths->ways);
	count_steps(&m, targets);
	make_groups(&m, paths);
	paths->n_looked_into = n_told < paths->n_groups ? n_told : paths->n_groups;
	look_into_groups(&m, targets, paths);
	merger_release(&m);
	if (!weak && paths->n_reached < targets->n)
		paths->n_weak = count_weak(h->graph, targets, &paths->ways);
}

void refpaths_release(struct refpaths *paths)
{
	for (size_t i = 0; i < paths->n_looked_into; i++)
		free(paths->groups[i].stretches);
	free(paths->groups);
	graph_ways_release(&paths->ways);
	*paths = (struct refpaths){ 0 };
}
