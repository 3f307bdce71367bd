#include "model/heap/heap_fields.h"

#include <stdlib.h>

#include "base/xalloc.h"

void shapes_init(struct shapes *shapes, uint32_t n)
{
	*shapes = (struct shapes){ xcalloc(n, sizeof(*shapes->list)), n };
	for (uint32_t i = 0; i < n; i++)
		shapes->list[i].super = GRAPH_NONE;
}

void shapes_release(struct shapes *shapes)
{
	for (uint32_t i = 0; i < shapes->n; i++) {
		struct shape *s = &shapes->list[i];

		for (size_t k = 0; k < s->n_fields; k++)
			free(s->fields[k].name);
		free(s->fields);
		free(s->interfaces);
	}
	free(shapes->list);
	*shapes = (struct shapes){ 0 };
}

void shape_add_interface(struct shape *s, uint32_t number)
{
	s->interfaces = xgrow(s->interfaces, s->n_interfaces, &s->cap_interfaces,
			      sizeof(*s->interfaces));
	s->interfaces[s->n_interfaces++] = number;
}

void shape_add_field(struct shape *s, const char *name, size_t len, bool is_static)
{
	s->fields = xgrow(s->fields, s->n_fields, &s->cap_fields, sizeof(*s->fields));
	s->fields[s->n_fields++] = (struct shape_field){ xstrndup(name, len), is_static };
}

/*
 * The visited classes, in the order of the visits.  No class is visited twice, because the class
 * numbers of supertypes are untrusted and may be circular.
 */
struct visits {
	const struct shapes *shapes;
	bool *visited;
	uint32_t *list;
	size_t n;
};

static void visit(struct visits *m, uint32_t class)
{
	if (class >= m->shapes->n || m->visited[class])
		return;
	m->visited[class] = true;
	m->list[m->n++] = class;
}

static void visit_interfaces(struct visits *m, uint32_t class)
{
	const struct shape *s = &m->shapes->list[class];

	for (size_t i = 0; i < s->n_interfaces; i++)
		visit(m, s->interfaces[i]);
}

static struct visits visits_begin(const struct shapes *shapes, uint32_t class)
{
	struct visits m = {
		.shapes = shapes,
		.visited = xcalloc(shapes->n, sizeof(*m.visited)),
		.list = xcalloc(shapes->n, sizeof(*m.list)),
	};

	visit(&m, class);
	return m;
}

static void visits_end(struct visits *m)
{
	free(m->visited);
	free(m->list);
}

uint32_t heap_fields_missing(const struct shapes *shapes, uint32_t class)
{
	struct visits m = visits_begin(shapes, class);
	uint32_t missing = GRAPH_NONE;

	for (size_t i = 0; i < m.n && missing == GRAPH_NONE; i++) {
		const struct shape *s = &shapes->list[m.list[i]];

		if (!s->has_fields)
			missing = m.list[i];
		visit(&m, s->super);
		visit_interfaces(&m, m.list[i]);
	}
	visits_end(&m);
	return missing;
}

/*
 * Visits the superclasses of the first class in `m`, then all direct and inherited interfaces of
 * the visited classes.  Returns the number of visited classes without the interfaces.
 */
static size_t visit_supertypes(struct visits *m)
{
	size_t n_line;

	for (size_t i = 0; i < m->n; i++)
		visit(m, m->shapes->list[m->list[i]].super);
	n_line = m->n;
	for (size_t i = 0; i < m->n; i++)
		visit_interfaces(m, m->list[i]);
	return n_line;
}

static uint64_t count_fields(const struct visits *m, size_t from)
{
	uint64_t n = 0;

	for (size_t i = from; i < m->n; i++)
		n += m->shapes->list[m->list[i]].n_fields;
	return n;
}

/*
 * Fills in the names of the fields that `declarer` declares; `index` is the index of the first of
 * these fields.  If `is_own` is false, `declarer` is a superclass of `c`, and its static fields get
 * no names: they take up indices in `c`, but no STATIC edge of `c` refers to them.
 */
static void fill_from(struct heap_class *c, const struct shapes *shapes, uint32_t declarer,
		      bool is_own, size_t index)
{
	const struct shape *s = &shapes->list[declarer];

	for (size_t i = 0; i < s->n_fields; i++, index++) {
		const struct shape_field *f = &s->fields[i];
		struct heap_field *to = f->is_static ? c->statics : c->fields;

		if (!f->is_static || is_own)
			to[index] = (struct heap_field){ xstrdup(f->name), declarer };
	}
}

void heap_fields_fill(struct heap *heap, const struct shapes *shapes, uint32_t class)
{
	struct heap_class *c;
	struct visits m;
	size_t n_line, index;
	uint64_t n;

	if (class >= heap->n_classes || class >= shapes->n || heap->classes[class].has_fields)
		return;
	c = &heap->classes[class];
	m = visits_begin(shapes, class);
	n_line = visit_supertypes(&m);
	n = count_fields(&m, 0);
	index = (size_t)count_fields(&m, n_line);
	if (n < UINT32_MAX) {
		c->has_fields = true;
		c->n_fields = c->n_statics = (uint32_t)n;
		c->fields = xcalloc(n, sizeof(*c->fields));
		c->statics = xcalloc(n, sizeof(*c->statics));
		for (size_t i = n_line; i-- > 0; index += shapes->list[m.list[i]].n_fields)
			fill_from(c, shapes, m.list[i], i == 0, index);
	}
	visits_end(&m);
}
