#include "model/profile/hot_methods.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define NOT_A_METHOD UINT32_MAX

struct finder {
	struct hot_methods *h;
	const struct call_tree *t;
	bool by_thread;
	uint32_t *methods;     /* indexed like t->names: number in h->names, or NOT_A_METHOD */
	struct id_map rows;    /* maps thread << 32 | method to its row: the index in h->list */
	uint32_t *path;        /* rows of the frames from the root to the current node */
	size_t path_cap;
	uint32_t *on_path;     /* indexed by row: how often the row is in `path` */
	size_t on_path_cap;
	uint32_t thread;
};

void hot_methods_release(struct hot_methods *h)
{
	free(h->list);
	intern_release(&h->names);
	*h = (struct hot_methods){ 0 };
}

const char *hot_methods_name(const struct hot_methods *h, uint32_t name)
{
	return intern_get(&h->names, name, NULL);
}

static uint32_t intern_name(struct hot_methods *h, const char *text, size_t len)
{
	_cleanup_free_ char *copy = xstrndup(text, len);

	return intern_text(&h->names, copy);
}

/* Fills f->methods. */
static void find_methods(struct finder *f)
{
	f->methods = xcalloc(f->t->names.n, sizeof(*f->methods));
	(void)intern_text(&f->h->names, ""); /* "" gets number 0, see hot_methods.h */
	for (uint32_t i = 0; i < f->t->names.n; i++) {
		const char *text = intern_get(&f->t->names, i, NULL);

		if (*text == '(' || *text == '[' || *text == '\0')
			f->methods[i] = NOT_A_METHOD;
		else
			f->methods[i] = intern_name(f->h, text, call_tree_name_len(text));
	}
}

static uint32_t row_of(struct finder *f, uint32_t method)
{
	struct hot_methods *h = f->h;
	uint32_t row = id_map_add(&f->rows, (uint64_t)f->thread << 32 | method, (uint32_t)h->n);

	if (row == h->n) {
		h->list = xgrow(h->list, h->n, &h->cap, sizeof(*h->list));
		h->list[h->n] = (struct hot_method){ .name = method, .thread = f->thread };
		f->on_path = xgrow(f->on_path, h->n, &f->on_path_cap, sizeof(*f->on_path));
		f->on_path[h->n++] = 0;
	}
	return row;
}

/* Returns the row of the last method among path[0] to path[level - 1], or NOT_A_METHOD. */
static uint32_t innermost(const struct finder *f, size_t level)
{
	while (level > 0) {
		if (f->path[--level] != NOT_A_METHOD)
			return f->path[level];
	}
	return NOT_A_METHOD;
}

/*
 * Adds the node's total to the row of its method, if the node is a method.  Adds the node's self
 * value to that row or, if the node is not a method, to the row of its nearest ancestor that is a
 * method.  `level` is 1 for the root's children.
 */
static void enter(struct finder *f, uint32_t node, size_t level)
{
	const struct call_node *n = &f->t->nodes[node];
	bool is_class = f->t->ends_in_classes && n->first == 0;
	uint32_t row = NOT_A_METHOD;

	if (f->by_thread && level == 1)
		f->thread = intern_text(&f->h->names, call_tree_name(f->t, node));
	else if (!is_class && f->methods[n->name] != NOT_A_METHOD)
		row = row_of(f, f->methods[n->name]);
	f->path = xgrow(f->path, level - 1, &f->path_cap, sizeof(*f->path));
	f->path[level - 1] = row;
	if (row != NOT_A_METHOD && f->on_path[row]++ == 0)
		call_tree_add_values(f->h->list[row].total, n->total);
	row = innermost(f, level);
	if (row != NOT_A_METHOD)
		call_tree_add_values(f->h->list[row].self, n->self);
}

static void leave(struct finder *f, size_t level)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): enter() has allocated `path` */
	uint32_t row = f->path[level - 1];

	if (row != NOT_A_METHOD)
		f->on_path[row]--;
}

static void walk(struct finder *f)
{
	size_t level = 0, up;
	uint32_t node = 0;

	while ((node = call_tree_next(f->t, node, true, &up)) != 0) {
		for (; up > 0; up--)
			leave(f, level--);
		enter(f, node, ++level);
	}
}

static int by_self(const void *a, const void *b, void *methods)
{
	const struct hot_method *x = a, *y = b;

	for (unsigned v = 0; v < CALL_TREE_VALUES; v++) {
		if (x->self[v] != y->self[v])
			return x->self[v] < y->self[v] ? 1 : -1;
	}
	if (x->total[0] != y->total[0])
		return x->total[0] < y->total[0] ? 1 : -1;
	return strcmp(hot_methods_name(methods, x->name), hot_methods_name(methods, y->name));
}

void hot_methods_find(struct hot_methods *h, const struct call_tree *t, bool by_thread)
{
	struct finder f = { .h = h, .t = t, .by_thread = by_thread };

	*h = (struct hot_methods){ .n = 0 };
	find_methods(&f);
	walk(&f);
	if (h->n > 0)
		qsort_r(h->list, h->n, sizeof(*h->list), by_self, h);
	free(f.methods);
	free(f.path);
	free(f.on_path);
	id_map_release(&f.rows);
}
