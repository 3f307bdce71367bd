/*
 * Writes each class as soon as HotSpot has reported all references from its java.lang.Class.
 * For each object that HotSpot visits, compares the references that HotSpot reports with those that
 * the snapshot's child process reads from its copy of the heap.
 */
#include "jvm/dump/dump_internal.h"

#define PROVEN_LENGTH 1024 /* maximum elements of an array whose references are compared */

struct sum {
	uint64_t sum;
	uint32_t n;
};

static void add(struct sum *s, uint64_t object)
{
	s->sum += object;
	s->n += object != 0;
}

static struct sum sum_of_statics(const struct ag_dump *d, const struct ag_dump_class *c)
{
	struct sum s = { 0 };

	for (uint32_t i = 0; i < c->n; i++) {
		const struct ag_dump_field *f = &d->layout.fields[c->first + i];

		if (f->is_static && f->type == AG_HPROF_OBJECT)
			add(&s, ag_dump_reference(&d->heap, c->address + ag_dump_offset(f)));
	}
	return s;
}

static struct sum sum_of_object(struct ag_dump *d, struct ag_dump_class *c, uint64_t object)
{
	unsigned size = d->heap.refs.is_narrow ? 4 : 8;
	struct sum s = { 0 };

	if (c->kind == AG_DUMP_OBJECTS) {
		for (uint64_t i = 0; i < ag_dump_length(&d->heap, object); i++)
			add(&s, ag_dump_reference(&d->heap, object + d->heap.refs.offset +
								    i * size));
		return s;
	}
	if (c->kind == AG_DUMP_PRIMITIVES)
		return s;
	if (!c->has_values)
		ag_dump_prepare(&d->heap, c);
	for (uint32_t i = 0; i < c->n_values; i++) {
		if (c->values[i].type == AG_HPROF_OBJECT)
			add(&s, ag_dump_reference(&d->heap, object + c->values[i].offset));
	}
	return s;
}

static void count_fields(const struct ag_dump *d, const struct ag_dump_class *c,
			 uint32_t *n_statics, size_t *statics_size)
{
	*n_statics = 0;
	*statics_size = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct ag_dump_field *f = &d->layout.fields[c->first + i];

		if (!f->is_static)
			continue;
		++*n_statics;
		*statics_size += AG_HPROF_ID + 1 +
				 ag_hprof_size_of((enum ag_hprof_type)f->type);
	}
}

/*
 * Returns the size of an instance for the class's CLASS_DUMP: the bytes of all fields, as in a dump
 * that HotSpot writes.
 */
static uint32_t instance_size(struct ag_dump *d, struct ag_dump_class *c)
{
	if (c->kind >= AG_DUMP_OBJECTS)
		return 0;
	if (!c->has_values)
		ag_dump_prepare(&d->heap, c);
	return c->data_len;
}

static void put_statics(struct ag_dump *d, const struct ag_dump_class *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct ag_dump_field *f = &d->layout.fields[c->first + i];

		if (!f->is_static)
			continue;
		ag_hprof_u8(&d->out, f->name);
		ag_hprof_u1(&d->out, f->type);
		ag_dump_value(&d->heap, (enum ag_hprof_type)f->type,
			      c->address + ag_dump_offset(f));
	}
}

static void put_fields(struct ag_dump *d, const struct ag_dump_class *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct ag_dump_field *f = &d->layout.fields[c->first + i];

		if (f->is_static)
			continue;
		ag_hprof_u8(&d->out, f->name);
		ag_hprof_u1(&d->out, f->type);
	}
}

static void write_class(struct ag_dump *d, struct ag_dump_class *c,
			const struct ag_dump_current *facts)
{
	struct ag_hprof *out = &d->out;
	uint32_t size, n_statics;
	size_t statics_size;

	c->is_dumped = true;
	if (d->census)
		return;
	size = instance_size(d, c);
	count_fields(d, c, &n_statics, &statics_size);
	ag_hprof_sub(out, AG_HPROF_CLASS_DUMP,
		     1 + 7 * AG_HPROF_ID + 4 + 4 + 2 + facts->n_constants * (2 + 1 + AG_HPROF_ID) +
			     2 + statics_size + 2 + (c->n - n_statics) * (AG_HPROF_ID + 1));
	ag_hprof_u8(out, c->address);
	ag_hprof_u4(out, AG_HPROF_NO_TRACE);
	ag_hprof_u8(out, c->super == AG_DUMP_NONE ? 0 : d->layout.classes[c->super].address);
	ag_hprof_u8(out, facts->loader);
	ag_hprof_u8(out, facts->signers);
	ag_hprof_u8(out, facts->domain);
	ag_hprof_u8(out, 0);
	ag_hprof_u8(out, 0);
	ag_hprof_u4(out, size);
	ag_hprof_u2(out, facts->n_constants);
	for (uint32_t i = 0; i < facts->n_constants; i++) {
		ag_hprof_u2(out, d->constants[i].index);
		ag_hprof_u1(out, AG_HPROF_OBJECT);
		ag_hprof_u8(out, d->constants[i].address);
	}
	ag_hprof_u2(out, n_statics);
	put_statics(d, c);
	ag_hprof_u2(out, c->n - n_statics);
	put_fields(d, c);
}

/*
 * Ends the current object, if there is one: compares the references that HotSpot reported from it
 * with those that the child reads; then, if the object is a java.lang.Class, writes that class.
 */
static void end_current(struct ag_dump *d)
{
	struct ag_dump_current *o = &d->current;
	struct ag_dump_class *c;
	struct sum s;

	if (o->address == 0 || o->class == AG_DUMP_NONE)
		return;
	c = &d->layout.classes[o->class];
	s = o->is_mirror ? sum_of_statics(d, c) : sum_of_object(d, c, o->address);
	/*
	 * The sums differ if the class was linked after its layout was read, or if the garbage
	 * collector was moving objects at the clone.
	 */
	if (s.sum != o->sum || s.n != o->n)
		ag_exit(c->kind == AG_DUMP_UNKNOWN ? AG_CHILD_CLASSES : AG_CHILD_MOVED);
	if (o->is_mirror && c->kind != AG_DUMP_UNKNOWN)
		write_class(d, c, o);
}

static void begin(struct ag_dump *d, uint64_t referrer)
{
	uint32_t class = ag_dump_class_of(&d->heap, referrer);

	end_current(d);
	d->current = (struct ag_dump_current){ .address = referrer, .class = class };
	if (d->layout.classes[class].kind == AG_DUMP_CLASS) {
		d->current.is_mirror = true;
		d->current.class = ag_dump_mirrored(&d->heap, referrer);
	}
}

static void add_constant(struct ag_dump *d, uint32_t index, uint64_t object)
{
	if (d->current.n_constants + 1 < AG_DUMP_CONSTANTS)
		d->constants[d->current.n_constants++] =
			(struct ag_dump_constant){ object, index };
}

/*
 * Returns JVMTI_VISIT_OBJECTS for one instance or one short array of each class: HotSpot then
 * visits this object and reports its references, which prove the layout of the class.  Returns 0
 * for all other objects.
 */
static jint prove(struct ag_dump *d, uint64_t object)
{
	struct ag_dump_class *c = &d->layout.classes[ag_dump_class_of(&d->heap, object)];

	if (c->is_proven || (c->kind != AG_DUMP_INSTANCE && c->kind < AG_DUMP_OBJECTS) ||
	    c->is_virtual_thread)
		return 0;
	if (c->kind >= AG_DUMP_OBJECTS && ag_dump_length(&d->heap, object) > PROVEN_LENGTH)
		return 0;
	c->is_proven = true;
	return JVMTI_VISIT_OBJECTS;
}

jint ag_dump_edge(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t referrer, uint64_t object)
{
	struct ag_dump_current *o = &d->current;

	if (referrer != o->address)
		begin(d, referrer);
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_CLASS:
		if (ag_dump_mirrored(&d->heap, object) != o->class || o->is_mirror)
			ag_exit(AG_CHILD_LAYOUT);
		return 0;
	case JVMTI_HEAP_REFERENCE_FIELD:
	case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
	case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
		o->sum += object;
		o->n++;
		break;
	case JVMTI_HEAP_REFERENCE_SUPERCLASS:
	case JVMTI_HEAP_REFERENCE_INTERFACE:
		return 0; /* the superclass is known from d->layout; HPROF has no interfaces */
	case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
		o->loader = object;
		break;
	case JVMTI_HEAP_REFERENCE_SIGNERS:
		o->signers = object;
		break;
	case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
		o->domain = object;
		break;
	default:
		add_constant(d, (uint32_t)info->constant_pool.index, object);
	}
	ag_dump_reach(&d->heap, object);
	return prove(d, object);
}

static void write_array_class(struct ag_dump *d, struct ag_dump_class *c)
{
	struct ag_dump_current facts = { .loader = 0 };

	if (c->loader != 0)
		facts.loader = ag_graph_address(d->layout.loaders.refs[c->loader]);
	ag_dump_reach(&d->heap, facts.loader);
	write_class(d, c, &facts);
}

void ag_dump_end_classes(struct ag_dump *d)
{
	static const struct ag_dump_current nothing;

	end_current(d);
	for (uint32_t i = 0; i < d->layout.n; i++) {
		struct ag_dump_class *c = &d->layout.classes[i];

		ag_dump_reach(&d->heap, c->address);
		if (c->is_dumped || c->kind == AG_DUMP_UNKNOWN)
			continue;
		if (c->kind >= AG_DUMP_OBJECTS)
			write_array_class(d, c);
		else
			write_class(d, c, &nothing);
	}
}
