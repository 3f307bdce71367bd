/* Classes: what a dump tells of them, and what can be said once it has told of all. */
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof_parts.h"

#define CHAIN_MAX 1024 /* superclasses: far beyond what is written, and they may go in circles */
#define NAME_SHOWN 256 /* bytes; longer ones can be many times as large as the dump */

/* Reads on where all is there; `short_of` stays set once it was not. */
struct cursor {
	const uint8_t *at, *end;
	bool short_of;
};

static uint64_t get(struct cursor *c, unsigned bytes)
{
	uint64_t value;

	if ((size_t)(c->end - c->at) < bytes) {
		c->short_of = true;
		return 0;
	}
	value = hprof_get(c->at, bytes);
	c->at += bytes;
	return value;
}

static void count_kind(struct layout_fields *kinds, enum hprof_type type, unsigned size)
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

/* -1: one of them is of no type; the cursor says whether all were there. */
static int read_fields(const struct hprof_reader *r, struct cursor *c, bool is_static,
		       struct hprof_field **fields, uint32_t *n)
{
	*n = (uint32_t)get(c, 2);
	*fields = xcalloc(*n ? *n : 1, sizeof(**fields));
	for (uint32_t i = 0; i < *n && !c->short_of; i++) {
		struct hprof_field *f = &(*fields)[i];
		unsigned type;

		f->name = get(c, r->id_size);
		type = (unsigned)get(c, 1);
		if (c->short_of)
			return 0;
		if (hprof_type_size(r, type) == 0)
			return -1;
		f->type = (enum hprof_type)type;
		if (is_static)
			f->value = get(c, hprof_type_size(r, type));
	}
	return 0;
}

static int skip_constants(const struct hprof_reader *r, struct cursor *c)
{
	uint32_t n = (uint32_t)get(c, 2);

	for (uint32_t i = 0; i < n && !c->short_of; i++) {
		unsigned size;

		(void)get(c, 2);
		size = hprof_type_size(r, (unsigned)get(c, 1));
		if (size == 0 && !c->short_of)
			return -1;
		(void)get(c, size);
	}
	return 0;
}

bool hprof_field_is(const struct hprof_reader *r, const struct hprof_field *f, const char *name)
{
	size_t len;
	const char *text = hprof_symbol(r, f->name, &len);

	return text && len == strlen(name) && memcmp(text, name, len) == 0;
}

/*
 * What the JVM keeps with a class and tells as if it were a static field: behind the others,
 * "<resolved_references>" of its constant pool, and JDK 8's "init_lock".
 */
bool hprof_is_pseudo(const struct hprof_reader *r, const struct hprof_class *k, uint32_t i)
{
	const struct hprof_field *f = &k->statics[i];
	size_t len;
	const char *name = hprof_symbol(r, f->name, &len);

	if (!name || !len || f->type != HPROF_OBJECT)
		return false;
	return name[0] == '<' || (i + 1 == k->n_statics && hprof_field_is(r, f, "init_lock"));
}

static void count_kinds(const struct hprof_reader *r, struct hprof_class *k)
{
	for (uint32_t i = 0; i < k->n_fields; i++)
		count_kind(&k->kinds, k->fields[i].type, hprof_type_size(r, k->fields[i].type));
	for (uint32_t i = 0; i < k->n_statics; i++) {
		if (!hprof_is_pseudo(r, k, i))
			count_kind(&k->static_kinds, k->statics[i].type,
				   hprof_type_size(r, k->statics[i].type));
	}
}

ssize_t hprof_take_class(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	struct cursor c = { p, p + len, false };
	struct hprof_class k = HPROF_CLASS_INIT;
	uint32_t number;
	bool bad;

	k.id = get(&c, r->id_size);
	(void)get(&c, 4); /* stack trace */
	k.super = get(&c, r->id_size);
	k.loader = get(&c, r->id_size);
	k.signers = get(&c, r->id_size);
	k.domain = get(&c, r->id_size);
	(void)get(&c, r->id_size);
	(void)get(&c, r->id_size);
	(void)get(&c, 4); /* bytes of the values in an instance, without superclasses */
	bad = skip_constants(r, &c) < 0 || read_fields(r, &c, true, &k.statics, &k.n_statics) < 0 ||
	      read_fields(r, &c, false, &k.fields, &k.n_fields) < 0;
	if (!bad && !c.short_of) {
		number = hprof_class_number(r, k.id);
		if (!r->met && !r->classes[number].dumped) {
			k.dumped = true;
			count_kinds(r, &k);
			r->classes[number] = k;
			if (k.loader)
				(void)idmap_add(&r->loader_classes, k.loader, LOADER_UNMET);
			return c.at - p;
		}
	}
	free(k.statics);
	free(k.fields);
	if (bad)
		return hprof_senseless(r, err, "a class with a field of no type");
	if (c.short_of)
		return 0;
	return hprof_senseless(r, err, r->met ? "a class comes behind objects, which HotSpot "
						"does not do"
					      : "a class that was told of before");
}

static bool is_named(const struct hprof_reader *r, uint32_t class, const char *name)
{
	return strcmp(heap_class_name(r->heap, class), name) == 0;
}

static int strength_of(const struct hprof_reader *r, uint32_t class)
{
	static const char *const names[TAPE_STRENGTHS] = {
		[TAPE_SOFT] = "java.lang.ref.SoftReference",
		[TAPE_WEAK] = "java.lang.ref.WeakReference",
		[TAPE_FINAL] = "java.lang.ref.FinalReference",
		[TAPE_PHANTOM] = "java.lang.ref.PhantomReference",
	};

	for (int i = 0; i < TAPE_STRENGTHS; i++) {
		if (is_named(r, class, names[i]))
			return i;
	}
	return -1;
}

/*
 * A class and its superclasses, as long as they are known, or up to the first that `known` has,
 * which may be NULL; how many, or 0: too many.
 */
static size_t chain_of(const struct hprof_reader *r, uint32_t class, const bool *known,
		       uint32_t *chain)
{
	bool last = false;
	size_t n = 0;

	while (class != IDMAP_NONE && !last) {
		if (n == CHAIN_MAX)
			return 0;
		last = known && known[class];
		chain[n++] = class;
		class = IDMAP_NONE;
		if (r->classes[chain[n - 1]].super)
			class = idmap_get(&r->class_ids, r->classes[chain[n - 1]].super);
	}
	return n;
}

int hprof_too_deep(const struct hprof_reader *r, uint32_t class, struct err *err)
{
	return hprof_senseless(r, err,
			       "%s has more than %d superclasses, or is one of its own",
			       heap_class_name(r->heap, class), CHAIN_MAX);
}

int hprof_shape(struct hprof_reader *r, const struct layout *l, uint32_t class,
		struct layout_shape *shapes, bool *shaped)
{
	uint32_t chain[CHAIN_MAX];
	size_t n = 0;

	if (shaped[class])
		return 0;
	n = chain_of(r, class, shaped, chain);
	if (n == 0)
		return -1;
	for (size_t i = n; i-- > 0;) {
		const struct hprof_class *k = &r->classes[chain[i]];

		if (shaped[chain[i]])
			continue;
		shapes[chain[i]] = layout_instance(l, i + 1 < n ? &shapes[chain[i + 1]] : NULL,
						   heap_class_name(r->heap, chain[i]),
						   k->loader == 0, &k->kinds);
		shaped[chain[i]] = true;
	}
	return 0;
}

static void add_ref(struct hprof_class *k, uint32_t at, uint32_t index, bool is_referent)
{
	k->refs = xgrow(k->refs, k->n_refs, &k->cap_refs, sizeof(*k->refs));
	k->refs[k->n_refs++] = (struct hprof_ref){ at, index, is_referent };
}

/* What the fields that `declarer` adds to the instances of `k` mean, from byte `at` on. */
static void note_field(const struct hprof_reader *r, struct hprof_class *k, uint32_t declarer,
		       const struct hprof_field *f, uint32_t at, uint32_t index, int strength)
{
	if (f->type == HPROF_OBJECT && strength >= 0 &&
	    is_named(r, declarer, "java.lang.ref.Reference") && hprof_field_is(r, f, "referent"))
		add_ref(k, at, (uint32_t)strength, true);
	else if (f->type == HPROF_OBJECT)
		add_ref(k, at, index, false);
	if (is_named(r, declarer, "java.lang.Thread")) {
		if (f->type == HPROF_OBJECT && hprof_field_is(r, f, "name"))
			k->name_at = at;
		if (f->type == HPROF_LONG && hprof_field_is(r, f, "tid"))
			k->tid_at = at;
	}
	if (is_named(r, declarer, "java.lang.String")) {
		if (f->type == HPROF_OBJECT && hprof_field_is(r, f, "value"))
			k->value_at = at;
		if (f->type == HPROF_BYTE && hprof_field_is(r, f, "coder"))
			k->coder_at = at;
	}
	if (is_named(r, declarer, "jdk.internal.vm.StackChunk") && f->type == HPROF_INT &&
	    hprof_field_is(r, f, "size"))
		k->stack_at = at;
}

static void note_class(const struct hprof_reader *r, struct hprof_class *k, uint32_t ancestor,
		       int *strength)
{
	if (*strength < 0)
		*strength = strength_of(r, ancestor);
	k->is_thread |= is_named(r, ancestor, "java.lang.Thread");
	k->is_loader |= is_named(r, ancestor, "java.lang.ClassLoader");
	k->is_string |= is_named(r, ancestor, "java.lang.String");
}

char *hprof_field_name(const struct hprof_reader *r, const struct hprof_field *f)
{
	size_t len;
	const char *text = f->type == HPROF_OBJECT ? hprof_symbol(r, f->name, &len) : NULL;

	return text ? xstrndup(text, len < NAME_SHOWN ? len : NAME_SHOWN) : NULL;
}

static void tell_fields(struct hprof_reader *r, uint32_t class, const uint32_t *chain, size_t n,
			size_t n_fields)
{
	struct heap_class *c = &r->heap->classes[class];

	c->fields = xcalloc(n_fields ? n_fields : 1, sizeof(*c->fields));
	for (size_t i = 0; i < n; i++) {
		const struct hprof_class *k = &r->classes[chain[i]];

		for (uint32_t j = 0; j < k->n_fields; j++)
			c->fields[c->n_fields++] = (struct heap_field){
				.name = hprof_field_name(r, &k->fields[j]),
				.class = chain[i],
			};
	}
}

int hprof_make_ready(struct hprof_reader *r, uint32_t class, uint32_t data_len, struct err *err)
{
	struct hprof_class *k = &r->classes[class];
	uint32_t chain[CHAIN_MAX];
	size_t n = chain_of(r, class, NULL, chain), n_fields = 0;
	uint64_t at = 0;
	int strength = -1;

	if (n == 0)
		return hprof_too_deep(r, class, err);
	for (size_t i = 0; i < n; i++) {
		note_class(r, k, chain[i], &strength);
		n_fields += r->classes[chain[i]].n_fields;
	}
	if (n_fields > data_len) /* each has a byte at least */
		return hprof_bad_instance(r, class, data_len, err);
	n_fields = 0;
	for (size_t i = 0; i < n; i++) {
		const struct hprof_class *from = &r->classes[chain[i]];

		for (uint32_t j = 0; j < from->n_fields; j++, n_fields++) {
			note_field(r, k, chain[i], &from->fields[j], (uint32_t)at,
				   (uint32_t)n_fields, strength);
			at += hprof_type_size(r, from->fields[j].type);
		}
	}
	k->data_len = (uint32_t)at;
	k->ready = true;
	tell_fields(r, class, chain, n, n_fields);
	return 0;
}
