#include "model/refpaths_steps.h"

#include <string.h>

#include "base/xalloc.h"
#include "model/refpaths.h"

/*
 * What tells a step from others.  As each has the step before, they are a tree, and the number of
 * one says all that ways which end with it have in common.
 */
struct step_key {
	uint32_t before;     /* step; GRAPH_NONE: it begins at a root */
	uint32_t via, index; /* of the edge; of the root, its kind and number among the names */
	uint32_t what;       /* name of the class, twice; + 1: the class object itself */
};

void refpaths_steps_init(struct refpaths_steps *s, const struct heap *h,
			 const struct graph_ways *ways)
{
	*s = (struct refpaths_steps){ .heap = h, .graph = h->graph, .ways = ways };
	s->class_names = xcalloc(h->n_classes + 1, sizeof(*s->class_names));
	for (uint32_t i = 0; i <= h->n_classes; i++)
		s->class_names[i] = intern_text(&s->names, heap_class_name(h, i));
	s->spots = xcalloc(graph_n(s->graph), sizeof(*s->spots));
}

void refpaths_steps_release(struct refpaths_steps *s)
{
	intern_release(&s->names);
	intern_release(&s->keys);
	free(s->class_names);
	free(s->steps);
	free(s->spots);
	free(s->climbed);
}

static uint32_t name_of(const struct refpaths_steps *s, uint32_t class)
{
	return s->class_names[class < s->heap->n_classes ? class : s->heap->n_classes];
}

/* As an object, whatever it is: class objects are all alike. */
static uint32_t what_as_object(const struct refpaths_steps *s, uint32_t node)
{
	return 2 * name_of(s, graph_class(s->graph, node));
}

static uint32_t what_is(const struct refpaths_steps *s, uint32_t node)
{
	uint32_t meant = graph_stands_for(s->graph, node);

	return meant == GRAPH_NONE ? what_as_object(s, node) : 2 * name_of(s, meant) + 1;
}

static uint32_t add_step(struct refpaths_steps *s, const struct step_key *key)
{
	uint32_t step = intern_add(&s->keys, key, sizeof(*key));

	if (step < s->n_steps)
		return step;
	s->steps = xgrow(s->steps, s->n_steps, &s->cap_steps, sizeof(*s->steps));
	s->steps[s->n_steps++] = (struct refpaths_step){
		.level = key->before == GRAPH_NONE ? 0 : s->steps[key->before].level + 1,
	};
	return step;
}

static uint32_t what_of_step(const struct refpaths_steps *s, uint32_t step)
{
	struct step_key key;

	memcpy(&key, intern_get(&s->keys, step, NULL), sizeof(key));
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
static uint32_t first_step(struct refpaths_steps *s, uint32_t node, uint32_t what)
{
	static const struct graph_root none = { .kind = TAPE_ROOT_VM };
	const struct graph_root *root = graph_root_of(s->graph, node);
	const struct heap_method *method;
	const char *thread;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct step_key key = { .before = GRAPH_NONE, .what = what };

	if (!root)
		root = &none;
	method = heap_method(s->heap, root->method);
	thread = heap_thread_name(s->heap, root->thread);
	refpaths_thread_kind(thread ? thread : "", &text);
	buf_addc(&text, '\0');
	if (method)
		buf_addf(&text, "%s.%s", method->class, method->name);
	key.via = (uint32_t)root->kind;
	key.index = intern_add(&s->names, text.data, text.len);
	return add_step(s, &key);
}

/*
 * How a node is held, as far as it matters here.  The elements of an array are not looked up one
 * by one: there may be millions, and all but its class are held alike.
 */
static struct graph_edge how_held(const struct refpaths_steps *s, uint32_t node)
{
	uint32_t parent = s->ways->parent[node];
	struct graph_edge edge = { .to = node, .via = GRAPH_ELEMENT };

	if (graph_length(s->graph, parent) >= 0 && !refpaths_is_class_object(s, node))
		return edge;
	edge = graph_way_edge(s->graph, s->ways, node);
	if (edge.via == GRAPH_ELEMENT)
		edge.index = 0;
	return edge;
}

static uint32_t next_step(struct refpaths_steps *s, uint32_t before, const struct graph_edge *edge,
			  uint32_t what)
{
	const struct step_key key = { before, (uint32_t)edge->via, edge->index, what };

	return add_step(s, &key);
}

static bool is_plain(enum graph_via via)
{
	return via == GRAPH_FIELD || via == GRAPH_ELEMENT;
}

/* The nodes above are settled. */
static void settle_one(struct refpaths_steps *s, uint32_t node)
{
	uint32_t parent = s->ways->parent[node], what = what_is(s, node);
	struct refpaths_spot *spot = &s->spots[node], above = s->spots[parent];
	struct graph_edge edge;

	spot->depth = above.depth + 1;
	spot->run = 1;
	if (parent == node) {
		spot->step = first_step(s, node, what) + 1;
		return;
	}
	edge = how_held(s, node);
	if (is_plain(edge.via) && !refpaths_is_class_object(s, node) &&
	    what_of_step(s, above.step - 1) == what) {
		spot->step = above.step;
		spot->run = above.run + 1;
		return;
	}
	spot->step = next_step(s, above.step - 1, &edge, what) + 1;
}

static void settle(struct refpaths_steps *s, uint32_t node)
{
	size_t n = 0;

	while (s->spots[node].step == 0) {
		s->climbed = xgrow(s->climbed, n, &s->cap_climbed, sizeof(*s->climbed));
		s->climbed[n++] = node;
		if (s->ways->parent[node] == node)
			break;
		node = s->ways->parent[node];
	}
	while (n > 0)
		settle_one(s, s->climbed[--n]);
}

uint32_t refpaths_steps_last(struct refpaths_steps *s, uint32_t target, uint32_t *length)
{
	uint32_t parent = s->ways->parent[target];
	struct graph_edge edge;

	if (!refpaths_is_class_object(s, target)) {
		settle(s, target);
		*length = s->spots[target].depth;
		return s->spots[target].step - 1;
	}
	*length = 1;
	if (parent == target)
		return first_step(s, target, what_as_object(s, target));
	settle(s, parent);
	*length += s->spots[parent].depth;
	edge = how_held(s, target);
	return next_step(s, s->spots[parent].step - 1, &edge, what_as_object(s, target));
}
