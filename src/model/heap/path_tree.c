#include "model/heap/path_tree.h"

#include <string.h>

#include "base/xalloc.h"
#include "model/heap/refpaths.h"

/*
 * The key that distinguishes a step from all other steps.  The key contains the previous step, so
 * steps form a tree, and the number of a step identifies the complete path from the root to it.
 */
struct step_key {
	uint32_t before;     /* previous step; GRAPH_NONE: the path begins here */
	/*
	 * The edge to the step's first object.  Exception: in the first step of a path, `via` is
	 * the kind of the root, and path_tree.names[index] is the description of the root.
	 */
	uint32_t via, index;
	/* 2 * index of the class name in path_tree.names; + 1 for the class's java.lang.Class */
	uint32_t kind;
};

void path_tree_init(struct path_tree *s, const struct heap *h, const struct graph_bfs *bfs)
{
	*s = (struct path_tree){ .heap = h, .graph = h->graph, .bfs = bfs };
	s->class_names = xcalloc(h->n_classes + 1, sizeof(*s->class_names));
	for (uint32_t i = 0; i <= h->n_classes; i++)
		s->class_names[i] = intern_text(&s->names, heap_class_name(h, i));
	s->nodes = xcalloc(graph_n(s->graph), sizeof(*s->nodes));
}

void path_tree_release(struct path_tree *s)
{
	intern_release(&s->names);
	intern_release(&s->keys);
	free(s->class_names);
	free(s->steps);
	free(s->nodes);
	free(s->stack);
}

static uint32_t name_of(const struct path_tree *s, uint32_t class)
{
	return s->class_names[class < s->heap->n_classes ? class : s->heap->n_classes];
}

/* Returns step_key.kind of a node; a class object counts as an instance of java.lang.Class. */
static uint32_t kind_as_object(const struct path_tree *s, uint32_t node)
{
	return 2 * name_of(s, graph_class(s->graph, node));
}

static uint32_t kind_of(const struct path_tree *s, uint32_t node)
{
	uint32_t class = graph_stands_for(s->graph, node);

	return class == GRAPH_NONE ? kind_as_object(s, node) : 2 * name_of(s, class) + 1;
}

static uint32_t add_step(struct path_tree *s, const struct step_key *key)
{
	uint32_t step = intern_add(&s->keys, key, sizeof(*key));

	if (step < s->n_steps)
		return step;
	s->steps = xgrow(s->steps, s->n_steps, &s->cap_steps, sizeof(*s->steps));
	s->steps[s->n_steps++] = (struct path_tree_step){
		.level = key->before == GRAPH_NONE ? 0 : s->steps[key->before].level + 1,
	};
	return step;
}

static uint32_t kind_of_step(const struct path_tree *s, uint32_t step)
{
	struct step_key key;

	memcpy(&key, intern_get(&s->keys, step, NULL), sizeof(key));
	return key.kind;
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

/* Returns the first step of a path, which begins at the root `node`. */
static uint32_t first_step(struct path_tree *s, uint32_t node, uint32_t kind)
{
	static const struct graph_root none = { .kind = HEAP_STREAM_ROOT_VM };
	const struct graph_root *root = graph_root_of(s->graph, node);
	const struct heap_method *method;
	const char *thread;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct step_key key = { .before = GRAPH_NONE, .kind = kind };

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
 * Returns the edge by which the path reaches a node.  If the edge is an array element, its index is
 * 0, because paths that differ only in array indices are merged.  This also saves a search for the
 * real index in arrays of millions of elements.
 */
static struct graph_edge distinguishing_edge(const struct path_tree *s, uint32_t node)
{
	uint32_t parent = s->bfs->parent[node];
	struct graph_edge edge = { .to = node, .via = GRAPH_ELEMENT };

	if (graph_length(s->graph, parent) >= 0 && !refpaths_is_class_object(s, node))
		return edge;
	edge = graph_bfs_edge(s->graph, s->bfs, node);
	if (edge.via == GRAPH_ELEMENT)
		edge.index = 0;
	return edge;
}

static uint32_t next_step(struct path_tree *s, uint32_t before, const struct graph_edge *edge,
			  uint32_t kind)
{
	const struct step_key key = { before, (uint32_t)edge->via, edge->index, kind };

	return add_step(s, &key);
}

static bool is_plain(enum graph_via via)
{
	return via == GRAPH_FIELD || via == GRAPH_ELEMENT;
}

/* Computes the step of a node whose parent has a step already. */
static void compute_step(struct path_tree *s, uint32_t node)
{
	uint32_t parent = s->bfs->parent[node], kind = kind_of(s, node);
	struct path_tree_node *state = &s->nodes[node], above = s->nodes[parent];
	struct graph_edge edge;

	state->depth = above.depth + 1;
	state->run = 1;
	if (parent == node) {
		state->step = first_step(s, node, kind) + 1;
		return;
	}
	edge = distinguishing_edge(s, node);
	if (is_plain(edge.via) && !refpaths_is_class_object(s, node) &&
	    kind_of_step(s, above.step - 1) == kind) {
		state->step = above.step;
		state->run = above.run + 1;
		return;
	}
	state->step = next_step(s, above.step - 1, &edge, kind) + 1;
}

static void compute_steps(struct path_tree *s, uint32_t node)
{
	size_t n = 0;

	while (s->nodes[node].step == 0) {
		s->stack = xgrow(s->stack, n, &s->cap_stack, sizeof(*s->stack));
		s->stack[n++] = node;
		if (s->bfs->parent[node] == node)
			break;
		node = s->bfs->parent[node];
	}
	while (n > 0)
		compute_step(s, s->stack[--n]);
}

uint32_t path_tree_last(struct path_tree *s, uint32_t target, uint32_t *length)
{
	uint32_t parent = s->bfs->parent[target];
	struct graph_edge edge;

	if (!refpaths_is_class_object(s, target)) {
		compute_steps(s, target);
		*length = s->nodes[target].depth;
		return s->nodes[target].step - 1;
	}
	*length = 1;
	if (parent == target)
		return first_step(s, target, kind_as_object(s, target));
	compute_steps(s, parent);
	*length += s->nodes[parent].depth;
	edge = distinguishing_edge(s, target);
	return next_step(s, s->nodes[parent].step - 1, &edge, kind_as_object(s, target));
}
