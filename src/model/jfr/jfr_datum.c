#include "model/jfr/jfr_datum.h"

#include "model/jfr/jfr_pools.h"

/* limit for recursion: the content of a simple type and a constant are each one level deeper */
#define NESTING_MAX 8

static void read_type(const struct jfr_chunk *chunk, const struct jfr_type *type,
		      struct jfr_cursor *c, struct jfr_datum *d, unsigned depth);

static void resolve(const struct jfr_chunk *chunk, const struct jfr_type *type, int64_t key,
		    struct jfr_datum *d, unsigned depth)
{
	struct jfr_cursor value;

	d->kind = JFR_NOTHING;
	d->type = type;
	if (type && depth < NESTING_MAX && jfr_pools_find(chunk->pools, type, key, &value))
		read_type(chunk, type, &value, d, depth + 1);
	d->key = key;
	d->has_key = true;
}

static void read_string(const struct jfr_chunk *chunk, const struct jfr_type *type,
			struct jfr_cursor *c, struct jfr_datum *d, unsigned depth)
{
	jfr_string_read(c, &d->text);
	d->kind = d->text.encoding == JFR_STRING_NULL ? JFR_NOTHING : JFR_TEXT;
	if (d->text.encoding == JFR_STRING_CONSTANT)
		resolve(chunk, type, d->text.key, d, depth);
}

static void read_simple(const struct jfr_chunk *chunk, const struct jfr_type *type,
			struct jfr_cursor *c, struct jfr_datum *d, unsigned depth)
{
	const struct jfr_field *f = &type->fields[0];

	if (f->is_array || depth >= NESTING_MAX)
		jfr_fail(c);
	else if (f->is_constant)
		resolve(chunk, f->type, jfr_long(c), d, depth + 1);
	else
		read_type(chunk, f->type, c, d, depth + 1);
}

static void read_object(const struct jfr_chunk *chunk, const struct jfr_type *type,
			struct jfr_cursor *c, struct jfr_datum *d, unsigned depth)
{
	if (type->is_simple && type->n_fields > 0) {
		read_simple(chunk, type, c, d, depth);
		return;
	}
	d->kind = JFR_FIELDS;
	d->type = type;
	d->body = *c;
	for (size_t i = 0; i < type->n_fields && !c->failed; i++)
		jfr_skip_field(c, &type->fields[i]);
}

static void set_integer(struct jfr_datum *d, int64_t value, unsigned bits)
{
	bool is_unsigned = d->field && d->field->is_unsigned;

	d->kind = is_unsigned ? JFR_UNSIGNED : JFR_INTEGER;
	d->integer = is_unsigned ? (int64_t)((uint64_t)value & UINT64_MAX >> (64 - bits)) : value;
}

static void set_float(struct jfr_datum *d, uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	d->kind = JFR_REAL;
	d->is_float = true;
	d->real = (double)value;
}

static void set_double(struct jfr_datum *d, uint64_t bits)
{
	d->kind = JFR_REAL;
	memcpy(&d->real, &bits, sizeof(bits));
}

static void read_type(const struct jfr_chunk *chunk, const struct jfr_type *type,
		      struct jfr_cursor *c, struct jfr_datum *d, unsigned depth)
{
	switch (type ? type->base : JFR_OBJECT) {
	case JFR_OBJECT:
		if (type)
			read_object(chunk, type, c, d, depth);
		else
			jfr_fail(c);
		break;
	case JFR_BOOLEAN:
		d->kind = JFR_TRUTH;
		d->integer = jfr_byte(c) != 0;
		break;
	case JFR_BYTE:
		set_integer(d, (int8_t)jfr_byte(c), 8);
		break;
	case JFR_CHAR:
		d->kind = JFR_CHARACTER;
		d->integer = (uint16_t)jfr_number(c, 2);
		break;
	case JFR_SHORT:
		set_integer(d, (int16_t)jfr_number(c, 2), 16);
		break;
	case JFR_INT:
		set_integer(d, jfr_int(c), 32);
		break;
	case JFR_LONG:
		set_integer(d, jfr_long(c), 64);
		break;
	case JFR_FLOAT:
		set_float(d, (uint32_t)jfr_raw(c, 4));
		break;
	case JFR_DOUBLE:
		set_double(d, jfr_raw(c, 8));
		break;
	case JFR_STRING:
		read_string(chunk, type, c, d, depth);
	}
	if (c->failed)
		d->kind = JFR_NOTHING;
}

static void read_array(const struct jfr_field *f, struct jfr_cursor *c, struct jfr_datum *d)
{
	struct jfr_cursor start = *c;

	d->kind = JFR_ELEMENTS;
	d->type = f->type;
	d->n = jfr_count(c);
	d->body = *c;
	*c = start;
	jfr_skip_field(c, f);
	if (c->failed)
		d->kind = JFR_NOTHING;
}

void jfr_read(const struct jfr_chunk *chunk, const struct jfr_field *f, bool element,
	      struct jfr_cursor *c, struct jfr_datum *d)
{
	*d = (struct jfr_datum){ .field = f };
	if (f->is_array && !element)
		read_array(f, c, d);
	else if (f->is_constant)
		resolve(chunk, f->type, jfr_long(c), d, 0);
	else
		read_type(chunk, f->type, c, d, 0);
}

void jfr_member(const struct jfr_chunk *chunk, const struct jfr_datum *object, const char *name,
		struct jfr_datum *d)
{
	int i = object->kind == JFR_FIELDS ? jfr_field_find(object->type, name, strlen(name)) : -1;
	struct jfr_cursor c = { .failed = false };

	*d = (struct jfr_datum){ .kind = JFR_NOTHING };
	if (i < 0)
		return;
	c = object->body;
	for (int j = 0; j < i; j++)
		jfr_skip_field(&c, &object->type->fields[j]);
	jfr_read(chunk, &object->type->fields[i], false, &c, d);
}

bool jfr_path_find(const struct jfr_type *type, const char *text, struct jfr_path *path)
{
	path->n = 0;
	while (*text) {
		size_t len = strcspn(text, ".");
		int i = type ? jfr_field_find(type, text, len) : -1;

		if (i < 0 || i > UINT16_MAX || path->n == JFR_PATH_MAX)
			return false;
		path->fields[path->n++] = (uint16_t)i;
		type = type->fields[i].is_array ? NULL : type->fields[i].type;
		text += len;
		text += *text == '.';
	}
	return path->n > 0;
}

const struct jfr_field *jfr_path_field(const struct jfr_type *type, const struct jfr_path *path)
{
	const struct jfr_field *f = NULL;

	for (unsigned i = 0; i < path->n && type; i++) {
		f = &type->fields[path->fields[i]];
		type = f->type;
	}
	return f;
}

/* Moves the cursor from the first field of a value to field number `field`. */
static void go_to(struct jfr_cursor *c, const struct jfr_type *type, unsigned field)
{
	for (unsigned i = 0; i < field && !c->failed; i++)
		jfr_skip_field(c, &type->fields[i]);
}

void jfr_get(const struct jfr_event *e, const struct jfr_path *path, struct jfr_datum *d)
{
	const struct jfr_type *type = e->type;
	struct jfr_cursor c = e->fields;

	*d = (struct jfr_datum){ .kind = JFR_NOTHING };
	for (unsigned i = 0; i < path->n; i++) {
		if (i > 0) {
			if (d->kind != JFR_FIELDS || path->fields[i] >= d->type->n_fields) {
				d->kind = JFR_NOTHING;
				return;
			}
			type = d->type;
			c = d->body;
		}
		go_to(&c, type, path->fields[i]);
		jfr_read(e->chunk, &type->fields[path->fields[i]], false, &c, d);
	}
}

int64_t jfr_get_key(const struct jfr_event *e, unsigned field)
{
	struct jfr_cursor c = e->fields;

	go_to(&c, e->type, field);
	return jfr_long(&c);
}

static int64_t times(int64_t value, int64_t factor)
{
	int64_t product;

	if (__builtin_mul_overflow(value, factor, &product))
		return value < 0 ? INT64_MIN : INT64_MAX;
	return product;
}

int64_t jfr_datum_number(const struct jfr_chunk *chunk, const struct jfr_datum *d)
{
	switch (d->field ? d->field->content : JFR_PLAIN) {
	case JFR_TIMESTAMP_TICKS:
		return jfr_ticks_to_epoch(chunk, d->integer);
	case JFR_TIMESTAMP_MS:
	case JFR_TIMESPAN_MS:
		return times(d->integer, 1000000);
	case JFR_TIMESPAN_TICKS:
		return jfr_ticks_to_nanos(chunk, d->integer);
	case JFR_TIMESPAN_US:
		return times(d->integer, 1000);
	case JFR_TIMESPAN_S:
		return times(d->integer, 1000000000);
	case JFR_DATA_BITS:
		return d->integer / 8;
	default:
		return d->integer;
	}
}

bool jfr_datum_is_unlimited(const struct jfr_datum *d)
{
	return (d->kind == JFR_INTEGER || d->kind == JFR_UNSIGNED) && d->field &&
	       ((jfr_is_timespan(d->field->content) &&
		 (d->integer == INT64_MIN || d->integer == INT64_MAX)) ||
		(jfr_is_timestamp(d->field->content) && d->integer == INT64_MIN));
}
