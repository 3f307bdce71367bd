#include "model/profile/pprof_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/xalloc.h"
#include "model/profile/pprof_fields.h"

/* Maximum number of functions at one location.  Inlined functions share the caller's location. */
#define LINES_MAX 64

/* The part of a message that was not read yet. */
struct message {
	const uint8_t *at, *end;
	bool failed;
};

struct field {
	uint64_t number;
	bool is_bytes;
	uint64_t value;       /* if not is_bytes: the number */
	struct message bytes; /* if is_bytes: a text, a message or an array of numbers */
};

struct reader {
	struct call_tree *tree;
	struct message *strings, *locations; /* strings and locations in the order of the file */
	size_t n_strings, cap_strings, n_locations, cap_locations;
	struct id_map functions;    /* from a function's id to the index of its name in `strings` */
	struct id_map location_ids; /* from a location's id to its index in `locations` */
	/* the types of a sample's values, such as "cpu"; each is an index in `strings` */
	uint64_t *types;
	size_t n_types, cap_types;
	uint64_t default_type;
	size_t shown; /* index of the one value of a sample that is added to the tree */
	uint64_t *ids; /* ids of the current sample's locations, the innermost first */
	size_t cap_ids;
	struct buf name;
};

static uint64_t varint(struct message *m)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
		uint8_t byte = *m->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	m->failed = true;
	return 0;
}

static bool skip(struct message *m, uint64_t n)
{
	if (n > (uint64_t)(m->end - m->at)) {
		m->failed = true;
		return false;
	}
	m->at += n;
	return true;
}

/* Reads a field.  Returns false at the end, or if the message is not valid. */
static bool next_field(struct message *m, struct field *f)
{
	uint64_t tag, len;

	if (m->failed || m->at == m->end)
		return false;
	tag = varint(m);
	*f = (struct field){ .number = tag >> 3 };
	switch (tag & 7) {
	case WIRE_VARINT:
		f->value = varint(m);
		break;
	case WIRE_FIXED64:
		return skip(m, 8);
	case WIRE_FIXED32:
		return skip(m, 4);
	case WIRE_BYTES:
		len = varint(m);
		f->is_bytes = true;
		f->bytes.at = m->at;
		if (!skip(m, len))
			return false;
		f->bytes.end = m->at;
		break;
	default:
		m->failed = true;
	}
	return !m->failed;
}

/* Returns the value of the message's last field with this field number; 0 if there is none. */
static uint64_t number_in(struct message m, uint64_t number)
{
	uint64_t value = 0;
	struct field f;

	while (next_field(&m, &f)) {
		if (f.number == number && !f.is_bytes)
			value = f.value;
	}
	return value;
}

static void add_message(struct message **list, size_t *n, size_t *cap, struct message m)
{
	*list = xgrow(*list, *n, cap, sizeof(**list));
	(*list)[(*n)++] = m;
}

/* Stores the field if samples need it: a sample type, location, function or string. */
static void take_table(struct reader *r, const struct field *f)
{
	if (!f->is_bytes) {
		if (f->number == PROFILE_DEFAULT_SAMPLE_TYPE)
			r->default_type = f->value;
		return;
	}
	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
		r->types = xgrow(r->types, r->n_types, &r->cap_types, sizeof(*r->types));
		r->types[r->n_types++] = number_in(f->bytes, TYPE_TYPE);
		break;
	case PROFILE_LOCATION:
		(void)id_map_add(&r->location_ids, number_in(f->bytes, LOCATION_ID),
				 (uint32_t)r->n_locations);
		add_message(&r->locations, &r->n_locations, &r->cap_locations, f->bytes);
		break;
	case PROFILE_FUNCTION: {
		uint64_t name = number_in(f->bytes, FUNCTION_NAME);

		(void)id_map_add(&r->functions, number_in(f->bytes, FUNCTION_ID),
				 name < ID_MAP_NONE ? (uint32_t)name : 0);
		break;
	}
	case PROFILE_STRING:
		add_message(&r->strings, &r->n_strings, &r->cap_strings, f->bytes);
	}
}

static uint32_t add_function(struct reader *r, uint32_t node, uint64_t function)
{
	uint32_t name = id_map_get(&r->functions, function);

	buf_reset(&r->name);
	if (name < r->n_strings)
		buf_add(&r->name, r->strings[name].at,
			(size_t)(r->strings[name].end - r->strings[name].at));
	return call_tree_child(r->tree, node, *buf_str(&r->name) ? buf_str(&r->name)
								  : "(unknown method)");
}

/*
 * Adds the functions of a location below `node`, and returns the node of the innermost function.
 * In the file, the innermost function is the first one; in the tree, it is the last one.
 */
static uint32_t add_location(struct reader *r, uint32_t node, uint64_t id)
{
	uint32_t i = id_map_get(&r->location_ids, id);
	struct message m = { .at = NULL };
	uint64_t functions[LINES_MAX];
	size_t n = 0;
	struct field f;

	if (i != ID_MAP_NONE)
		m = r->locations[i];
	while (n < LINES_MAX && next_field(&m, &f)) {
		if (f.number == LOCATION_LINE && f.is_bytes)
			functions[n++] = number_in(f.bytes, LINE_FUNCTION_ID);
	}
	if (n == 0)
		return call_tree_child(r->tree, node, "(unknown method)");
	while (n-- > 0)
		node = add_function(r, node, functions[n]);
	return node;
}

/*
 * Takes the numbers in a field of a sample.  A profile stores an array of numbers either as one
 * field, or as one field for each number.
 */
static void take_numbers(struct reader *r, struct field *f, size_t *n_ids, size_t *n_values,
			 uint64_t *value)
{
	bool more = true;

	while (more && !f->bytes.failed && (!f->is_bytes || f->bytes.at < f->bytes.end)) {
		uint64_t number = f->is_bytes ? varint(&f->bytes) : f->value;

		if (f->number == SAMPLE_LOCATION_ID) {
			r->ids = xgrow(r->ids, *n_ids, &r->cap_ids, sizeof(*r->ids));
			r->ids[(*n_ids)++] = number;
		} else if ((*n_values)++ == r->shown) {
			*value = number;
		}
		more = f->is_bytes;
	}
}

static int take_sample(struct reader *r, struct message m)
{
	uint64_t values[CALL_TREE_VALUES] = { 0 };
	size_t n_ids = 0, n_values = 0;
	uint32_t node = 0;
	struct field f;

	while (next_field(&m, &f)) {
		if (f.number != SAMPLE_LOCATION_ID && f.number != SAMPLE_VALUE)
			continue;
		take_numbers(r, &f, &n_ids, &n_values, &values[0]);
		m.failed |= f.bytes.failed;
	}
	if (m.failed || n_values != r->n_types)
		return -EBADMSG;
	if (values[0] > INT64_MAX) /* the signed value is negative */
		values[0] = 0;
	while (n_ids-- > 0)
		node = add_location(r, node, r->ids[n_ids]);
	call_tree_add(r->tree, node, values);
	return 0;
}

static int read_message(struct reader *r, struct message all)
{
	struct message m = all;
	struct field f;
	int rc = 0;

	while (next_field(&m, &f))
		take_table(r, &f);
	if (m.failed || r->n_types == 0 || r->n_strings == 0)
		return -EBADMSG;
	r->shown = r->n_types - 1;
	for (size_t i = 0; r->default_type > 0 && i < r->n_types; i++) {
		if (r->types[i] == r->default_type)
			r->shown = i;
	}
	for (m = all; rc == 0 && next_field(&m, &f);) {
		if (f.number == PROFILE_SAMPLE && f.is_bytes)
			rc = take_sample(r, f.bytes);
	}
	return rc;
}

int pprof_read(struct call_tree *t, const void *data, size_t len)
{
	const uint8_t *at = data;
	struct reader r = { .tree = t, .name = BUF_INIT };
	int rc = read_message(&r, (struct message){ at, at + len, false });

	free(r.strings);
	free(r.locations);
	free(r.types);
	free(r.ids);
	id_map_release(&r.functions);
	id_map_release(&r.location_ids);
	buf_release(&r.name);
	return rc;
}

bool pprof_is_gzip(const void *data, size_t len)
{
	return len > 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

int pprof_expand(struct buf *out, const void *data, size_t len, size_t max)
{
	enum { GZIP = 16, ROOM = 1 << 16 };
	z_stream z = { .next_in = (Bytef *)data };
	size_t begin = out->len;
	int rc = Z_OK;

	if (len > UINT32_MAX)
		return -EFBIG;
	z.avail_in = (uInt)len;
	if (inflateInit2(&z, MAX_WBITS + GZIP) != Z_OK)
		xalloc_die();
	while (rc == Z_OK && out->len - begin <= max) {
		z.next_out = (Bytef *)buf_reserve(out, ROOM);
		z.avail_out = ROOM;
		rc = inflate(&z, Z_NO_FLUSH);
		out->len += ROOM - z.avail_out;
	}
	(void)inflateEnd(&z); /* frees memory */
	if (out->len - begin > max)
		return -EFBIG;
	return rc == Z_STREAM_END ? 0 : -EBADMSG;
}
