#include "model/heap/heap_wire.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "classfile/read.h"
#include "model/class/type_name.h"
#include "wire/frame.h"

#define NAMES_MAX (1u << 22) /* limit for the number of threads, and of methods */

static int take_thread(struct heap *h, struct wire_reader *payload)
{
	uint64_t id = wire_get_u64(payload);
	struct wire_text name = wire_get_text(payload);

	if (!wire_reader_ok(payload) || h->n_threads >= NAMES_MAX)
		return -EBADMSG;
	heap_add_thread(h, id, xstrndup(name.data, name.len));
	return 0;
}

/* Reads one method.  The method of an unloaded class has no names. */
static int take_method(struct heap *h, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf class = BUF_INIT;
	struct wire_text signature = wire_get_text(payload);
	struct wire_text name = wire_get_text(payload);
	struct heap_method *method;

	if (!wire_reader_ok(payload) || h->n_methods >= NAMES_MAX ||
	    (signature.len > 0 && type_name_java(&class, signature.data, signature.len) < 0))
		return -EBADMSG;
	h->methods = xgrow(h->methods, h->n_methods, &h->cap_methods, sizeof(*h->methods));
	method = &h->methods[h->n_methods++];
	*method = (struct heap_method){ NULL, NULL };
	if (signature.len == 0)
		return 0;
	method->class = buf_take(&class);
	method->name = xstrndup(name.data, name.len);
	return 0;
}

static int take_each(struct heap *h, int (*take)(struct heap *, struct wire_reader *),
		     struct wire_reader *payload)
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		int rc = take(h, payload);

		if (rc < 0)
			return rc;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

static int take_end(struct heap_wire *w, struct wire_reader *payload)
{
	w->outcome = wire_get_u32(payload);
	w->pause_ns = wire_get_u64(payload);
	w->waited_ns = wire_get_u64(payload);
	w->own_thread = wire_get_u64(payload);
	w->agent_peak = wire_get_u64(payload);
	w->why = wire_get_u32(payload);
	w->code = wire_get_i32(payload);
	w->child_ns = wire_get_u64(payload);
	return wire_reader_ok(payload) && w->outcome <= WIRE_GRAPHED_CHANGED &&
			       w->why <= WIRE_SNAPSHOT_NAMES ? 1 : -EBADMSG;
}

int heap_wire_take(struct heap_wire *w, uint16_t type, struct wire_reader *payload)
{
	switch (type) {
	case WIRE_GRAPH_THREADS:
		return take_each(w->heap, take_thread, payload);
	case WIRE_GRAPH_METHODS:
		return take_each(w->heap, take_method, payload);
	case WIRE_GRAPH_END:
		return take_end(w, payload);
	/* an error, because only GRAPH_END may end the frames of a heap walk */
	case WIRE_CLASSES_END:
		return -EBADMSG;
	default:
		return classes_take(w->classes, type, payload);
	}
}

static struct heap_class class_of(const struct class_row *row, const struct class_origins *origins)
{
	const char *loader = class_origins_loader(origins, row->loader);
	const char *module = class_origins_module(origins, row->module);

	return (struct heap_class){
		.name = xstrdup(row->name),
		.loader = xstrdup(loader),
		.module = module ? xstrdup(module) : NULL,
		/* A hidden class may be unloaded while its loader is reachable (JEP 371). */
		.permanent = class_origins_loader_is_permanent(loader) && !strchr(row->name, '/'),
	};
}

/* Adds the classes to w->heap in the order of their numbers, whatever the order of w->classes. */
void heap_wire_finish(struct heap_wire *w, struct graph_facts *facts)
{
	const struct classes *classes = w->classes;
	struct heap *h = w->heap;

	h->classes = xcalloc(classes->n + 1, sizeof(*h->classes));
	h->n_classes = h->cap_classes = classes->n;
	*facts = (struct graph_facts){
		.n_classes = (uint32_t)classes->n,
		.class_class = GRAPH_NONE,
		.own_thread = w->own_thread,
		.whole = w->outcome == WIRE_GRAPHED_COMPLETE,
	};
	for (size_t i = 0; i < classes->n; i++) {
		const struct class_row *row = &classes->rows[i];

		h->classes[row->number] = class_of(row, &classes->origins);
		if (row->loader == 0 && strcmp(row->signature, "Ljava/lang/Class;") == 0)
			facts->class_class = row->number;
	}
}

/* Returns the number of the class with this name and loader, or GRAPH_NONE. */
static uint32_t number_of(const struct classes *classes, const struct class_super *wanted)
{
	size_t from = 0, to = classes->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct class_row *row = &classes->rows[middle];
		int order = strcmp(row->name, wanted->name);

		if (order == 0)
			order = (row->loader > wanted->loader) - (row->loader < wanted->loader);
		if (order == 0)
			return row->number;
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return GRAPH_NONE;
}

void heap_wire_shape(const struct classes *classes, const struct class_info *info,
		     struct shape *shape)
{
	shape->has_fields = true;
	shape->super = info->supers.n > 0 ? number_of(classes, &info->supers.list[0]) : GRAPH_NONE;
	for (size_t i = 0; i < info->interfaces.n; i++)
		shape_add_interface(shape, number_of(classes, &info->interfaces.list[i]));
	for (size_t i = 0; i < info->fields.n; i++) {
		const struct class_member *field = &info->fields.list[i];

		shape_add_field(shape, field->name, strlen(field->name),
				field->modifiers & CF_ACC_STATIC);
	}
}
