/* Class objects: what they refer to, and how large they are, once all classes were told of. */
#include "base/xalloc.h"
#include "model/hprof_parts.h"

static void tell_statics(struct hprof_reader *r, uint32_t class)
{
	const struct hprof_class *k = &r->classes[class];
	struct heap_class *c = &r->heap->classes[class];

	c->told = true;
	c->statics = xcalloc(k->n_statics ? k->n_statics : 1, sizeof(*c->statics));
	c->n_statics = k->n_statics;
	for (uint32_t i = 0; i < k->n_statics; i++)
		c->statics[i] = (struct heap_field){ hprof_field_name(r, &k->statics[i]), class };
}

static int write_links(struct hprof_reader *r, const struct hprof_class *k, struct err *err)
{
	const struct {
		uint64_t address;
		enum tape_link link;
	} links[] = {
		{ k->super, TAPE_SUPERCLASS },
		{ k->loader, TAPE_LOADER },
		{ k->signers, TAPE_SIGNERS },
		{ k->domain, TAPE_DOMAIN },
	};
	struct tape_record record = { .kind = TAPE_LINK };

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
	for (uint32_t i = 0; i < k->n_statics; i++) {
		const struct hprof_field *f = &k->statics[i];
		const bool pseudo = hprof_is_pseudo(r, k, i);
		const struct tape_record record = {
			.kind = pseudo ? TAPE_LINK : TAPE_STATIC,
			.address = f->value,
			.index = pseudo ? TAPE_CONSTANT : i,
		};

		if (f->type == HPROF_OBJECT && f->value && hprof_write(r, &record, err) < 0)
			return -1;
	}
	return 0;
}

static int write_class(struct hprof_reader *r, uint32_t class, uint64_t base, struct err *err)
{
	const struct hprof_class *k = &r->classes[class];
	const struct layout *l = &r->wants.layout;
	struct tape_record record = { .kind = TAPE_CLASS, .address = k->id, .class = class };

	if (hprof_write(r, &record, err) < 0)
		return -1;
	record.kind = TAPE_MIRROR;
	if (hprof_write(r, &record, err) < 0)
		return -1;
	r->objects++;
	if (layout_is_known(l)) {
		record = (struct tape_record){ .kind = TAPE_SIZE, .address = k->id };
		record.size = layout_mirror(l, base, &k->static_kinds);
		if (hprof_write(r, &record, err) < 0)
			return -1;
	}
	if (r->class_class != GRAPH_NONE) {
		r->classes[r->class_class].count.instances++;
		r->classes[r->class_class].count.bytes += record.size;
	}
	return write_links(r, k, err) < 0 ? -1 : write_statics(r, k, err);
}

/* What an instance of java.lang.Class takes without static fields. */
static int shape_all(struct hprof_reader *r, uint64_t *base, struct err *err)
{
	_cleanup_free_ struct layout_shape *shapes = NULL;
	_cleanup_free_ bool *shaped = NULL;

	*base = 0;
	if (!layout_is_known(&r->wants.layout))
		return 0;
	shapes = xcalloc(r->n_classes + 1, sizeof(*shapes));
	shaped = xcalloc(r->n_classes + 1, sizeof(*shaped));
	for (uint32_t i = 0; i < r->n_classes; i++) {
		if (hprof_shape(r, &r->wants.layout, i, shapes, shaped) < 0)
			return hprof_too_deep(r, i, err);
		r->classes[i].shape = shapes[i];
	}
	if (r->class_class != GRAPH_NONE)
		*base = shapes[r->class_class].size;
	return 0;
}

int hprof_meet(struct hprof_reader *r, struct err *err)
{
	uint64_t base;

	r->met = true;
	if (shape_all(r, &base, err) < 0)
		return -1;
	for (uint32_t i = 0; i < r->n_classes; i++) {
		if (!r->classes[i].dumped)
			continue;
		tell_statics(r, i);
		if (write_class(r, i, base, err) < 0)
			return -1;
	}
	return 0;
}
