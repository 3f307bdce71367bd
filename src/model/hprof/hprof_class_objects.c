/* Writes the class objects (java.lang.Class) to the heap stream, after all classes are known. */
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"

static void fill_statics(struct hprof_reader *r, uint32_t class)
{
	const struct hprof_class *k = &r->classes.list[class];
	struct heap_class *c = &r->heap->classes[class];

	c->has_fields = true;
	c->statics = xcalloc(k->statics.n ? k->statics.n : 1, sizeof(*c->statics));
	c->n_statics = k->statics.n;
	hprof_charge(r, k->statics.n * sizeof(*c->statics));
	for (uint32_t i = 0; i < k->statics.n; i++) {
		char *name = hprof_field_name(&r->tables, &k->statics.list[i]);

		hprof_charge(r, name ? strlen(name) : 0);
		c->statics[i] = (struct heap_field){ name, class };
	}
}

static int write_links(struct hprof_reader *r, const struct hprof_class *k, struct err *err)
{
	const struct {
		uint64_t address;
		enum heap_stream_link link;
	} links[] = {
		{ k->super, HEAP_STREAM_SUPERCLASS },
		{ k->loader, HEAP_STREAM_LOADER },
		{ k->signers, HEAP_STREAM_SIGNERS },
		{ k->domain, HEAP_STREAM_DOMAIN },
	};
	struct heap_stream_record record = { .kind = HEAP_STREAM_LINK };

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		record.address = links[i].address;
		record.index = links[i].link;
		if (record.address && hprof_write(r, &record, err) < 0)
			return -1;
	}
	return 0;
}

static int write_statics(struct hprof_reader *r, const struct hprof_class *k, struct err *err)
{
	for (uint32_t i = 0; i < k->statics.n; i++) {
		const struct hprof_field *f = &k->statics.list[i];
		const bool is_vm_object = hprof_is_vm_object(&r->tables, k, i);
		const struct heap_stream_record record = {
			.kind = is_vm_object ? HEAP_STREAM_LINK : HEAP_STREAM_STATIC,
			.address = f->value,
			.index = is_vm_object ? HEAP_STREAM_CONSTANT : i,
		};

		if (f->type == HPROF_OBJECT && f->value && hprof_write(r, &record, err) < 0)
			return -1;
	}
	return 0;
}

static int write_class(struct hprof_reader *r, uint32_t class, uint64_t base, struct err *err)
{
	const struct hprof_class *k = &r->classes.list[class];
	const struct object_layout *l = &r->wants.layout;
	struct heap_stream_record record = { .kind = HEAP_STREAM_CLASS,
					     .address = k->id,
					     .class = class };

	if (hprof_write(r, &record, err) < 0)
		return -1;
	record.kind = HEAP_STREAM_MIRROR;
	if (hprof_write(r, &record, err) < 0)
		return -1;
	r->objects++;
	if (object_layout_is_known(l)) {
		record = (struct heap_stream_record){ .kind = HEAP_STREAM_SIZE, .address = k->id };
		record.size = object_layout_mirror(l, base, &k->statics.kinds);
		if (hprof_write(r, &record, err) < 0)
			return -1;
	}
	if (r->classes.class_class != GRAPH_NONE) {
		struct hprof_count *count = &r->classes.list[r->classes.class_class].count;

		count->instances++;
		count->bytes += record.size;
	}
	return write_links(r, k, err) < 0 ? -1 : write_statics(r, k, err);
}

/*
 * Computes the shapes (sizes and holes) of the instances of all classes.  Sets *base to the size of
 * a java.lang.Class without static fields.
 */
static int shape_all(struct hprof_reader *r, uint64_t *base, struct err *err)
{
	_cleanup_free_ struct object_layout_shape *shapes = NULL;
	_cleanup_free_ bool *shaped = NULL;

	*base = 0;
	if (!object_layout_is_known(&r->wants.layout))
		return 0;
	shapes = xcalloc(r->classes.n + 1, sizeof(*shapes));
	shaped = xcalloc(r->classes.n + 1, sizeof(*shaped));
	for (uint32_t i = 0; i < r->classes.n; i++) {
		if (hprof_shape(r, &r->wants.layout, i, shapes, shaped) < 0)
			return hprof_too_deep(r, i, err);
		r->classes.list[i].shape = shapes[i];
	}
	if (r->classes.class_class != GRAPH_NONE)
		*base = shapes[r->classes.class_class].size;
	return 0;
}

int hprof_write_classes(struct hprof_reader *r, struct err *err)
{
	uint64_t base;

	r->classes.complete = true;
	if (shape_all(r, &base, err) < 0)
		return -1;
	for (uint32_t i = 0; i < r->classes.n; i++) {
		if (!r->classes.list[i].dumped)
			continue;
		fill_statics(r, i);
		if (hprof_check_memory(r, err) < 0)
			return -1;
		if (write_class(r, i, base, err) < 0)
			return -1;
	}
	return 0;
}
