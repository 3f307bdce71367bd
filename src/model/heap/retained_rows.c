#include "model/heap/retained_rows.h"

#include <string.h>

#include "base/xalloc.h"
#include "model/class/type_name.h"

/* The groups (classes, packages or loaders) into which classes are divided. */
struct groups {
	uint32_t *of;  /* indexed by class: number of the class's group */
	char **names;
	uint32_t n;
};

struct named {
	char *name;
	uint32_t class;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static char *name_for(const struct heap *h, uint32_t class, enum histo_group by)
{
	const struct heap_class *c = &h->classes[class];

	if (by == HISTO_PACKAGE)
		return histo_package(heap_class_name(h, class));
	return xstrdup(c->loader ? c->loader : "(unknown)");
}

static struct groups group_classes(const struct heap *h)
{
	uint32_t n = (uint32_t)h->n_classes;
	struct groups g = { .n = n };

	g.of = xreallocarray(NULL, (size_t)n + 1, sizeof(*g.of));
	g.names = xreallocarray(NULL, (size_t)n + 1, sizeof(*g.names));
	for (uint32_t i = 0; i < n; i++) {
		g.of[i] = i;
		g.names[i] = xstrdup(heap_class_name(h, i));
	}
	return g;
}

static struct groups group_by_name(const struct heap *h, enum histo_group by)
{
	uint32_t n = (uint32_t)h->n_classes;
	_cleanup_free_ struct named *named = xreallocarray(NULL, (size_t)n + 1, sizeof(*named));
	struct groups g = { 0 };

	for (uint32_t i = 0; i < n; i++)
		named[i] = (struct named){ name_for(h, i, by), i };
	if (n > 1)
		qsort(named, n, sizeof(*named), compare_named);
	g.of = xreallocarray(NULL, (size_t)n + 1, sizeof(*g.of));
	g.names = xreallocarray(NULL, (size_t)n + 1, sizeof(*g.names));
	for (uint32_t i = 0; i < n; i++) {
		if (g.n > 0 && strcmp(g.names[g.n - 1], named[i].name) == 0)
			free(named[i].name);
		else
			g.names[g.n++] = named[i].name;
		g.of[named[i].class] = g.n - 1;
	}
	return g;
}

void retained_sum_up(struct retained *r, const struct heap *h, const struct dominators *tree,
		     enum histo_group by)
{
	struct groups g = by == HISTO_CLASS ? group_classes(h) : group_by_name(h, by);
	_cleanup_free_ struct graph_sum *sums = xcalloc((size_t)g.n + 1, sizeof(*sums));

	graph_sum_up(h->graph, tree, g.of, g.n, sums);
	*r = (struct retained){ .rows = xcalloc((size_t)g.n + 1, sizeof(*r->rows)) };
	for (uint32_t i = 0; i < g.n; i++) {
		if (sums[i].instances == 0) {
			free(g.names[i]);
			continue;
		}
		r->rows[r->n++] = (struct retained_row){
			.name = g.names[i],
			.loader = by == HISTO_CLASS ? h->classes[i].loader : NULL,
			.sum = sums[i],
		};
		r->instances += sums[i].instances;
	}
	free(g.of);
	free(g.names);
}

void retained_release(struct retained *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->rows[i].name);
	free(r->rows);
	*r = (struct retained){ 0 };
}

static int compare_names(const struct retained_row *x, const struct retained_row *y)
{
	int order = strcmp(x->name, y->name);

	if (order || !x->loader || !y->loader)
		return order;
	return strcmp(x->loader, y->loader);
}

static int by_name(const void *a, const void *b)
{
	return compare_names(a, b);
}

static int by_size(uint64_t x, uint64_t y, const void *a, const void *b)
{
	if (x != y)
		return x > y ? -1 : 1;
	return compare_names(a, b);
}

static int by_retained(const void *a, const void *b)
{
	const struct retained_row *x = a, *y = b;

	return by_size(x->sum.retained, y->sum.retained, a, b);
}

static int by_shallow(const void *a, const void *b)
{
	const struct retained_row *x = a, *y = b;

	return by_size(x->sum.shallow, y->sum.shallow, a, b);
}

static int by_count(const void *a, const void *b)
{
	const struct retained_row *x = a, *y = b;

	return by_size(x->sum.instances, y->sum.instances, a, b);
}

void retained_sort(struct retained *r, enum retained_sort by)
{
	static int (*const order[])(const void *, const void *) = {
		[RETAINED_BY_RETAINED] = by_retained,
		[RETAINED_BY_SHALLOW] = by_shallow,
		[RETAINED_BY_COUNT] = by_count,
		[RETAINED_BY_NAME] = by_name,
	};

	if (r->n > 1)
		qsort(r->rows, r->n, sizeof(*r->rows), order[by]);
}

void retained_filter(struct retained *r, const char *glob)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (type_name_is_chosen(r->rows[i].name, glob))
			r->rows[kept++] = r->rows[i];
		else
			free(r->rows[i].name);
	}
	r->n = kept;
}
