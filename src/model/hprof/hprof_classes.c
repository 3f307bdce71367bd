/* Classes: reads CLASS_DUMP records and derives the layout of instances in the dump. */
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"

/* A buffer and a position.  Reading beyond the end returns 0 and sets `truncated`. */
struct cursor {
	const uint8_t *at, *end;
	bool truncated;
};

static uint64_t get(struct cursor *c, unsigned bytes)
{
	uint64_t value;

	if ((size_t)(c->end - c->at) < bytes) {
		c->truncated = true;
		return 0;
	}
	value = hprof_get(c->at, bytes);
	c->at += bytes;
	return value;
}

void hprof_classes_release(struct hprof_classes *classes)
{
	for (size_t i = 0; i < classes->n; i++) {
		free(classes->list[i].fields.list);
		free(classes->list[i].statics.list);
		free(classes->list[i].instance.refs);
	}
	free(classes->list);
	id_map_release(&classes->ids);
	id_map_release(&classes->of_loaders);
}

static void count_kind(struct object_layout_fields *kinds, enum hprof_type type, unsigned size)
{
	if (type == HPROF_OBJECT)
		kinds->n_references++;
	else if (size == 8)
		kinds->n8++;
	else if (size == 4)
		kinds->n4++;
	else if (size == 2)
		kinds->n2++;
	else
		kinds->n1++;
}

/*
 * Reads a list of fields.  Returns -1 for an invalid type.  If the list is cut off, sets
 * c->truncated.
 */
static int read_fields(const struct hprof_reader *r, struct cursor *c, bool is_static,
		       struct hprof_fields *fields)
{
	fields->n = (uint32_t)get(c, 2);
	fields->list = xcalloc(fields->n ? fields->n : 1, sizeof(*fields->list));
	for (uint32_t i = 0; i < fields->n && !c->truncated; i++) {
		struct hprof_field *f = &fields->list[i];
		unsigned type;

		f->name = get(c, r->id_size);
		type = (unsigned)get(c, 1);
		if (c->truncated)
			return 0;
		if (hprof_type_size(type, r->id_size) == 0)
			return -1;
		f->type = (enum hprof_type)type;
		if (is_static)
			f->value = get(c, hprof_type_size(type, r->id_size));
	}
	return 0;
}

static int skip_constants(const struct hprof_reader *r, struct cursor *c)
{
	uint32_t n = (uint32_t)get(c, 2);

	for (uint32_t i = 0; i < n && !c->truncated; i++) {
		unsigned size;

		(void)get(c, 2);
		size = hprof_type_size((unsigned)get(c, 1), r->id_size);
		if (size == 0 && !c->truncated)
			return -1;
		(void)get(c, size);
	}
	return 0;
}

/*
 * Returns true if the class does not declare the static field i: HotSpot dumps some objects of
 * the JVM as static fields after the declared ones, namely the constant pool's
 * "<resolved_references>" and, in JDK 8, "init_lock".
 */
bool hprof_is_vm_object(const struct hprof_tables *t, const struct hprof_class *k, uint32_t i)
{
	const struct hprof_field *f = &k->statics.list[i];
	size_t len;
	const char *name = hprof_symbol(t, f->name, &len);

	if (!name || !len || f->type != HPROF_OBJECT)
		return false;
	return name[0] == '<' || (i + 1 == k->statics.n && hprof_field_is(t, f, "init_lock"));
}

static void count_kinds(const struct hprof_reader *r, struct hprof_class *k)
{
	for (uint32_t i = 0; i < k->fields.n; i++) {
		enum hprof_type type = k->fields.list[i].type;

		count_kind(&k->fields.kinds, type, hprof_type_size(type, r->id_size));
	}
	for (uint32_t i = 0; i < k->statics.n; i++) {
		enum hprof_type type = k->statics.list[i].type;

		if (!hprof_is_vm_object(&r->tables, k, i))
			count_kind(&k->statics.kinds, type, hprof_type_size(type, r->id_size));
	}
}

ssize_t hprof_take_class(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	struct cursor c = { p, p + len, false };
	struct hprof_classes *classes = &r->classes;
	struct hprof_class k = HPROF_CLASS_INIT;
	uint32_t number;
	bool bad;

	k.id = get(&c, r->id_size);
	(void)get(&c, 4); /* skip the serial number of a stack trace */
	k.super = get(&c, r->id_size);
	k.loader = get(&c, r->id_size);
	k.signers = get(&c, r->id_size);
	k.domain = get(&c, r->id_size);
	(void)get(&c, r->id_size);
	(void)get(&c, r->id_size);
	(void)get(&c, 4); /* skip the instance size, which is computed from the fields */
	bad = skip_constants(r, &c) < 0 || read_fields(r, &c, true, &k.statics) < 0 ||
	      read_fields(r, &c, false, &k.fields) < 0;
	if (!bad && !c.truncated) {
		number = hprof_class_number(r, k.id);
		if (!classes->complete && !classes->list[number].dumped) {
			k.dumped = true;
			count_kinds(r, &k);
			classes->list[number] = k;
			hprof_charge(r, k.statics.n * sizeof(*k.statics.list));
			hprof_charge(r, k.fields.n * sizeof(*k.fields.list));
			if (k.loader)
				(void)id_map_add(&classes->of_loaders, k.loader,
						 HPROF_LOADER_UNKNOWN);
			return c.at - p;
		}
	}
	free(k.statics.list);
	free(k.fields.list);
	if (bad)
		return hprof_invalid(r, err, "a class has a field of an unknown type");
	if (c.truncated)
		return 0;
	return hprof_invalid(r, err, classes->complete
				       ? "a class follows an object, which HotSpot never writes"
				       : "a class is defined twice");
}

static bool is_named(const struct heap *heap, uint32_t class, const char *name)
{
	return strcmp(heap_class_name(heap, class), name) == 0;
}

static int strength_of(const struct heap *heap, uint32_t class)
{
	static const char *const names[HEAP_STREAM_STRENGTHS] = {
		[HEAP_STREAM_SOFT] = "java.lang.ref.SoftReference",
		[HEAP_STREAM_WEAK] = "java.lang.ref.WeakReference",
		[HEAP_STREAM_FINAL] = "java.lang.ref.FinalReference",
		[HEAP_STREAM_PHANTOM] = "java.lang.ref.PhantomReference",
	};

	for (int i = 0; i < HEAP_STREAM_STRENGTHS; i++) {
		if (is_named(heap, class, names[i]))
			return i;
	}
	return -1;
}

/*
 * Stores in `chain` a class and its superclasses, up to and including the first class c for which
 * known[c] is true; `known` may be NULL.  Returns the number of stored classes, or 0 if there are
 * more than HPROF_CHAIN_MAX.
 */
static size_t chain_of(const struct hprof_classes *classes, uint32_t class, const bool *known,
		       uint32_t *chain)
{
	bool last = false;
	size_t n = 0;

	while (class != ID_MAP_NONE && !last) {
		const uint64_t super = classes->list[class].super;

		if (n == HPROF_CHAIN_MAX)
			return 0;
		last = known && known[class];
		chain[n++] = class;
		class = super ? id_map_get(&classes->ids, super) : ID_MAP_NONE;
	}
	return n;
}

int hprof_too_deep(struct hprof_reader *r, uint32_t class, struct err *err)
{
	return hprof_invalid(r, err, "%s has more than %d superclasses or is its own superclass",
			     heap_class_name(r->heap, class), HPROF_CHAIN_MAX);
}

int hprof_bad_instance(struct hprof_reader *r, uint32_t class, uint32_t data_len,
		       struct err *err)
{
	return hprof_invalid(r, err, "an instance of %s with %" PRIu32 " bytes does not match "
			     "its fields", heap_class_name(r->heap, class), data_len);
}

int hprof_shape(const struct hprof_reader *r, const struct object_layout *l, uint32_t class,
		struct object_layout_shape *shapes, bool *shaped)
{
	uint32_t chain[HPROF_CHAIN_MAX];
	size_t n = 0;

	if (shaped[class])
		return 0;
	n = chain_of(&r->classes, class, shaped, chain);
	if (n == 0)
		return -1;
	for (size_t i = n; i-- > 0;) {
		const struct hprof_class *k = &r->classes.list[chain[i]];

		if (shaped[chain[i]])
			continue;
		shapes[chain[i]] = object_layout_instance(
			l, i + 1 < n ? &shapes[chain[i + 1]] : NULL,
			heap_class_name(r->heap, chain[i]), k->loader == 0, &k->fields.kinds);
		shaped[chain[i]] = true;
	}
	return 0;
}

static void add_ref(struct hprof_instance *in, uint32_t at, uint32_t index, bool is_referent)
{
	in->refs = xgrow(in->refs, in->n_refs, &in->cap_refs, sizeof(*in->refs));
	in->refs[in->n_refs++] = (struct hprof_ref){ at, index, is_referent };
}

/*
 * Records the offset of the field `f` in *in, if `f` is a reference, or one of the fields for which
 * struct hprof_instance has a member.  `declarer` is the class that declares `f`.  `at` is the byte
 * offset of `f` in an instance.  `strength` is -1 if the instance is not a java.lang.ref.Reference.
 */
static void note_field(const struct hprof_reader *r, struct hprof_instance *in, uint32_t declarer,
		       const struct hprof_field *f, uint32_t at, uint32_t index, int strength)
{
	const struct hprof_tables *t = &r->tables;

	if (f->type == HPROF_OBJECT && strength >= 0 &&
	    is_named(r->heap, declarer, "java.lang.ref.Reference") &&
	    hprof_field_is(t, f, "referent"))
		add_ref(in, at, (uint32_t)strength, true);
	else if (f->type == HPROF_OBJECT)
		add_ref(in, at, index, false);
	if (is_named(r->heap, declarer, "java.lang.Thread")) {
		if (f->type == HPROF_OBJECT && hprof_field_is(t, f, "name"))
			in->name_at = at;
		if (f->type == HPROF_LONG && hprof_field_is(t, f, "tid"))
			in->tid_at = at;
	}
	if (is_named(r->heap, declarer, "java.lang.String")) {
		if (f->type == HPROF_OBJECT && hprof_field_is(t, f, "value"))
			in->value_at = at;
		if (f->type == HPROF_BYTE && hprof_field_is(t, f, "coder"))
			in->coder_at = at;
	}
	if (is_named(r->heap, declarer, "jdk.internal.vm.StackChunk") && f->type == HPROF_INT &&
	    hprof_field_is(t, f, "size"))
		in->stack_at = at;
}

static void note_class(const struct heap *heap, struct hprof_instance *in, uint32_t ancestor,
		       int *strength)
{
	if (*strength < 0)
		*strength = strength_of(heap, ancestor);
	in->is_thread |= is_named(heap, ancestor, "java.lang.Thread");
	in->is_loader |= is_named(heap, ancestor, "java.lang.ClassLoader");
	in->is_string |= is_named(heap, ancestor, "java.lang.String");
}

static int fill_fields(struct hprof_reader *r, uint32_t class, const uint32_t *chain, size_t n,
		       size_t n_fields, struct err *err)
{
	struct heap_class *c = &r->heap->classes[class];

	c->fields = xcalloc(n_fields ? n_fields : 1, sizeof(*c->fields));
	hprof_charge(r, n_fields * (sizeof(*c->fields) + sizeof(struct hprof_ref)));
	for (size_t i = 0; i < n; i++) {
		const struct hprof_class *k = &r->classes.list[chain[i]];

		for (uint32_t j = 0; j < k->fields.n; j++) {
			char *name = hprof_field_name(&r->tables, &k->fields.list[j]);

			hprof_charge(r, name ? strlen(name) : 0);
			c->fields[c->n_fields++] =
				(struct heap_field){ .name = name, .class = chain[i] };
		}
		if (hprof_check_memory(r, err) < 0)
			return -1;
	}
	return 0;
}

int hprof_prepare_instances(struct hprof_reader *r, uint32_t class, uint32_t data_len,
			    struct err *err)
{
	struct hprof_instance *in = &r->classes.list[class].instance;
	uint32_t chain[HPROF_CHAIN_MAX];
	size_t n = chain_of(&r->classes, class, NULL, chain), n_fields = 0;
	uint64_t at = 0;
	int strength = -1;

	if (n == 0)
		return hprof_too_deep(r, class, err);
	for (size_t i = 0; i < n; i++) {
		note_class(r->heap, in, chain[i], &strength);
		n_fields += r->classes.list[chain[i]].fields.n;
	}
	if (n_fields > data_len) /* each field needs at least one byte of data */
		return hprof_bad_instance(r, class, data_len, err);
	n_fields = 0;
	for (size_t i = 0; i < n; i++) {
		const struct hprof_class *from = &r->classes.list[chain[i]];

		for (uint32_t j = 0; j < from->fields.n; j++, n_fields++) {
			note_field(r, in, chain[i], &from->fields.list[j], (uint32_t)at,
				   (uint32_t)n_fields, strength);
			at += hprof_type_size(from->fields.list[j].type, r->id_size);
		}
	}
	in->data_len = (uint32_t)at;
	in->known = true;
	return fill_fields(r, class, chain, n, n_fields, err);
}
