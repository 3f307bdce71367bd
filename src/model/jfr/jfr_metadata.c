#include "model/jfr/jfr_metadata.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_string.h"

#define DEPTH_MAX 16 /* limit for the nesting of elements; JDK 8 to 27 nest them 5 deep */
#define NESTED_MAX 8
#define NUMBERS_MAX 64

/*
 * An annotation.  The class of an annotation may be declared after the annotation, so annotations
 * are evaluated when all classes have been read.  `field` is an index and not a pointer, because
 * the array of fields may move.
 */
struct annotation {
	uint32_t type;
	/* index of the annotated field in the type; UINT32_MAX: the type itself is annotated */
	uint32_t field;
	int64_t class_id;
	const char *value; /* value of the annotation; NULL: it has none */
};

struct parser {
	struct jfr_metadata *m;
	struct jfr_cursor *c;
	size_t *starts; /* offset of each string of the string table in m->texts */
	uint32_t n_strings;
	struct annotation *annotations;
	size_t n, cap;
	size_t max_bytes;
	bool is_full; /* the limit was exceeded */
};

/* The class and the field to which an element of the metadata event belongs; UINT32_MAX: none. */
struct place {
	uint32_t type, field;
	bool in_setting; /* within an element "setting", whose annotations are ignored */
};

struct attributes {
	const char *id, *name, *super, *class_id, *dimension, *simple, *constant, *value;
	const char *gmt_offset, *dst;
};

size_t jfr_metadata_bytes(const struct jfr_metadata *m)
{
	return m->arrays + m->texts.cap + m->by_id.cap * sizeof(struct id_map_entry);
}

/* Ends the parsing if the metadata uses more memory than the caller allows. */
static void check_bytes(struct parser *p)
{
	size_t bytes = jfr_metadata_bytes(p->m) + p->n_strings * sizeof(*p->starts) +
		       p->cap * sizeof(*p->annotations);

	if (bytes > p->max_bytes) {
		p->is_full = true;
		jfr_fail(p->c);
	}
}

static int parse_strings(struct parser *p)
{
	uint32_t n = jfr_count(p->c);

	p->n_strings = n;
	check_bytes(p);
	if (p->c->failed)
		return -EBADMSG;
	p->starts = xcalloc((size_t)n + 1, sizeof(*p->starts));
	for (uint32_t i = 0; i < n && !p->c->failed; i++) {
		struct jfr_string s;

		p->starts[i] = p->m->texts.len;
		jfr_string_read(p->c, &s);
		if (s.encoding == JFR_STRING_CONSTANT)
			return -EBADMSG;
		jfr_string_add(&p->m->texts, &s);
		buf_addc(&p->m->texts, '\0');
		check_bytes(p);
	}
	return p->c->failed ? -EBADMSG : 0;
}

static const char *read_text(struct parser *p)
{
	uint32_t i = (uint32_t)jfr_int(p->c);

	if (i >= p->n_strings) {
		jfr_fail(p->c);
		return "";
	}
	return p->m->texts.data + p->starts[i];
}

static void read_attributes(struct parser *p, struct attributes *a)
{
	const struct {
		const char *key;
		const char **value;
	} rows[] = {
		{ "id", &a->id }, { "name", &a->name }, { "superType", &a->super },
		{ "class", &a->class_id }, { "dimension", &a->dimension },
		{ "simpleType", &a->simple }, { "constantPool", &a->constant },
		{ "value", &a->value }, { "value-0", &a->value },
		{ "gmtOffset", &a->gmt_offset }, { "dst", &a->dst },
	};
	uint32_t n = jfr_count(p->c);

	for (uint32_t i = 0; i < n && !p->c->failed; i++) {
		const char *key = read_text(p), *value = read_text(p);

		for (size_t j = 0; j < ARRAY_SIZE(rows); j++) {
			if (*rows[j].key == *key && strcmp(rows[j].key, key) == 0)
				*rows[j].value = value;
		}
	}
}

static int64_t to_number(const char *text)
{
	/* strtoll(3) returns the nearest int64_t for a number that is too large. */
	return text ? strtoll(text, NULL, 10) : 0;
}

static bool is_true(const char *text)
{
	return text && strcmp(text, "true") == 0;
}

static enum jfr_base base_of(const char *name)
{
	static const char *const names[] = {
		[JFR_BOOLEAN] = "boolean", [JFR_BYTE] = "byte", [JFR_CHAR] = "char",
		[JFR_SHORT] = "short", [JFR_INT] = "int", [JFR_LONG] = "long",
		[JFR_FLOAT] = "float", [JFR_DOUBLE] = "double", [JFR_STRING] = "java.lang.String",
	};

	for (size_t i = 1; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name) == 0)
			return (enum jfr_base)i;
	}
	return JFR_OBJECT;
}

static void begin_class(struct parser *p, const struct attributes *a, struct place *place)
{
	struct jfr_metadata *m = p->m;
	size_t old_cap = m->cap;
	struct jfr_type *type;

	if (!a->name || !a->id) {
		jfr_fail(p->c);
		return;
	}
	m->types = xgrow(m->types, m->n, &m->cap, sizeof(*m->types));
	m->arrays += (m->cap - old_cap) * sizeof(*m->types);
	type = &m->types[m->n];
	*type = (struct jfr_type){
		.name = a->name,
		.id = to_number(a->id),
		.base = base_of(a->name),
		.is_event = a->super && strcmp(a->super, "jdk.jfr.Event") == 0,
		.is_simple = is_true(a->simple),
		.index = (uint32_t)m->n,
	};
	(void)id_map_add(&m->by_id, (uint64_t)type->id, type->index);
	place->type = type->index;
	m->n++;
}

static void begin_field(struct parser *p, const struct attributes *a, struct place *place)
{
	struct jfr_type *type;
	size_t old_cap;

	if (place->type == UINT32_MAX || !a->name || !a->class_id) {
		jfr_fail(p->c);
		return;
	}
	type = &p->m->types[place->type];
	old_cap = type->cap_fields;
	type->fields = xgrow(type->fields, type->n_fields, &type->cap_fields,
			     sizeof(*type->fields));
	p->m->arrays += (type->cap_fields - old_cap) * sizeof(*type->fields);
	type->fields[type->n_fields] = (struct jfr_field){
		.name = a->name,
		.type_id = to_number(a->class_id),
		.is_constant = is_true(a->constant),
		.is_array = to_number(a->dimension) > 0,
	};
	place->field = (uint32_t)type->n_fields++;
}

static void add_annotation(struct parser *p, const struct attributes *a, const struct place *place)
{
	if (place->type == UINT32_MAX || place->in_setting || !a->class_id)
		return;
	p->annotations = xgrow(p->annotations, p->n, &p->cap, sizeof(*p->annotations));
	p->annotations[p->n++] = (struct annotation){
		place->type, place->field, to_number(a->class_id), a->value,
	};
}

/* Parses an element and its children.  An unknown element is skipped with its children. */
static void parse_element(struct parser *p, struct place place, unsigned depth)
{
	const char *name = read_text(p);
	struct attributes a = { 0 };
	uint32_t n;

	read_attributes(p, &a);
	if (depth > DEPTH_MAX)
		jfr_fail(p->c);
	if (p->c->failed)
		return;
	if (strcmp(name, "class") == 0) {
		begin_class(p, &a, &place);
	} else if (strcmp(name, "field") == 0) {
		begin_field(p, &a, &place);
	} else if (strcmp(name, "annotation") == 0) {
		add_annotation(p, &a, &place);
	} else if (strcmp(name, "setting") == 0) {
		place.in_setting = true;
	} else if (strcmp(name, "region") == 0) {
		p->m->gmt_offset_ms = to_number(a.gmt_offset);
		p->m->dst_ms = to_number(a.dst);
	}
	n = jfr_count(p->c);
	check_bytes(p);
	for (uint32_t i = 0; i < n && !p->c->failed; i++)
		parse_element(p, place, depth + 1);
}

static enum jfr_content timespan_of(const char *unit)
{
	static const struct {
		const char *unit;
		enum jfr_content content;
	} rows[] = {
		{ "TICKS", JFR_TIMESPAN_TICKS }, { "NANOSECONDS", JFR_TIMESPAN_NS },
		{ "MICROSECONDS", JFR_TIMESPAN_US }, { "MILLISECONDS", JFR_TIMESPAN_MS },
		{ "SECONDS", JFR_TIMESPAN_S },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].unit, unit) == 0)
			return rows[i].content;
	}
	return JFR_PLAIN;
}

static void annotate_field(struct jfr_field *f, const char *class, const char *value)
{
	const char *text = value ? value : "";

	if (strcmp(class, "jdk.jfr.Timestamp") == 0)
		f->content = strcmp(text, "TICKS") == 0 ? JFR_TIMESTAMP_TICKS : JFR_TIMESTAMP_MS;
	else if (strcmp(class, "jdk.jfr.Timespan") == 0)
		f->content = timespan_of(text);
	else if (strcmp(class, "jdk.jfr.DataAmount") == 0)
		f->content = strcmp(text, "BITS") == 0 ? JFR_DATA_BITS : JFR_DATA_BYTES;
	else if (strcmp(class, "jdk.jfr.Percentage") == 0)
		f->content = JFR_PERCENTAGE;
	else if (strcmp(class, "jdk.jfr.MemoryAddress") == 0)
		f->content = JFR_ADDRESS;
	else if (strcmp(class, "jdk.jfr.Frequency") == 0)
		f->is_rate = true;
	else if (strcmp(class, "jdk.jfr.Unsigned") == 0)
		f->is_unsigned = true;
	else if (strcmp(class, "jdk.jfr.Label") == 0)
		f->label = value;
}

static void annotate(struct parser *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct annotation *a = &p->annotations[i];
		const struct jfr_type *class = jfr_type_by_id(p->m, a->class_id);
		struct jfr_type *type;

		if (!class)
			continue;
		type = &p->m->types[a->type];
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an annotation has a type */
		if (a->field < type->n_fields)
			annotate_field(&type->fields[a->field], class->name, a->value);
		else if (a->field == UINT32_MAX && strcmp(class->name, "jdk.jfr.Label") == 0)
			type->label = a->value;
	}
}

static void link_fields(struct jfr_metadata *m)
{
	m->low = xcalloc(JFR_LOW_IDS, sizeof(struct jfr_type *));
	m->arrays += JFR_LOW_IDS * sizeof(struct jfr_type *);
	for (size_t i = m->n; i-- > 0;) {
		if (m->types[i].id >= 0 && m->types[i].id < JFR_LOW_IDS)
			m->low[m->types[i].id] = &m->types[i];
	}
	for (size_t i = 0; i < m->n; i++) {
		for (size_t j = 0; j < m->types[i].n_fields; j++) {
			struct jfr_field *f = &m->types[i].fields[j];

			f->type = jfr_type_by_id(m, f->type_id);
		}
	}
}

/*
 * Returns how many numbers a value of the type consists of; 0 if it has other parts, is nested more
 * than NESTED_MAX levels, or has more than NUMBERS_MAX numbers.  The limits bound the time that an
 * untrusted file can cost.
 */
static unsigned count_numbers(const struct jfr_type *type, unsigned depth)
{
	size_t n = type->is_simple && type->n_fields > 0 ? 1 : type->n_fields;
	unsigned sum = 0;

	if (type->base == JFR_CHAR || type->base == JFR_SHORT || type->base == JFR_INT ||
	    type->base == JFR_LONG)
		return 1;
	if (type->base != JFR_OBJECT || depth > NESTED_MAX)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct jfr_field *f = &type->fields[i];
		unsigned part = f->is_constant;

		if (!f->is_constant && f->type)
			part = count_numbers(f->type, depth + 1);
		if (f->is_array || part == 0 || sum + part > NUMBERS_MAX)
			return 0;
		sum += part;
	}
	return sum;
}

int64_t jfr_metadata_id(struct jfr_cursor *c)
{
	(void)jfr_long(c); /* skip the start time */
	(void)jfr_long(c); /* skip the duration */
	return jfr_long(c);
}

int jfr_metadata_parse(struct jfr_metadata *m, struct jfr_cursor *c, size_t max_bytes)
{
	struct parser p = { .m = m, .c = c, .max_bytes = max_bytes };
	struct place nowhere = { UINT32_MAX, UINT32_MAX, false };
	int rc;

	m->id = jfr_metadata_id(c);
	rc = parse_strings(&p);
	if (rc == 0) {
		parse_element(&p, nowhere, 0);
		link_fields(m);
		annotate(&p);
		for (size_t i = 0; i < m->n; i++)
			m->types[i].n_numbers = count_numbers(&m->types[i], 0);
	}
	free(p.starts);
	free(p.annotations);
	if (p.is_full)
		return -ENOMEM;
	return rc < 0 || c->failed ? -EBADMSG : 0;
}

void jfr_metadata_release(struct jfr_metadata *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->types[i].fields);
	free(m->types);
	free(m->low);
	id_map_release(&m->by_id);
	buf_release(&m->texts);
	*m = (struct jfr_metadata){ .texts = BUF_INIT };
}

struct jfr_type *jfr_type_by_id(const struct jfr_metadata *m, int64_t id)
{
	uint32_t i;

	if (m->low && id >= 0 && id < JFR_LOW_IDS)
		return m->low[id];
	i = id_map_get(&m->by_id, (uint64_t)id);
	return i == ID_MAP_NONE ? NULL : &m->types[i];
}

struct jfr_type *jfr_type_by_name(const struct jfr_metadata *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->types[i].name, name) == 0)
			return &m->types[i];
	}
	return NULL;
}

int jfr_field_find(const struct jfr_type *type, const char *name, size_t len)
{
	for (size_t i = 0; i < type->n_fields; i++) {
		const char *own = type->fields[i].name;

		if (strlen(own) == len && memcmp(own, name, len) == 0)
			return (int)i;
	}
	return -1;
}
