#include "model/profile/code_map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "model/class/javasig_read.h"
#include "model/class/javasig.h"
#include "model/class/type_name.h"
#include "wire/frame.h"

/* Limits for rows and for the bytes of their names, because a hostile agent could send more. */
#define ROWS_MAX (1u << 22)
#define NAMES_MAX ((size_t)256 << 20)

void code_map_release(struct code_map *map)
{
	free(map->rows);
	buf_release(&map->names);
	*map = (struct code_map){ .n = 0 };
}

/*
 * Converts the descriptor "(I[J)V" to the parameters "(int, long[])" and the type "void".  Returns
 * false if the descriptor is invalid.
 */
static bool read_descriptor(struct wire_text descriptor, struct buf *parameters, struct buf *type)
{
	struct javasig_reader r = {
		.rest = { descriptor.data, descriptor.len }, .out = parameters,
	};

	if (!javasig_read_arguments(&r))
		return false;
	r.out = type;
	return javasig_read_type(&r) && r.rest.len == 0;
}

/*
 * Adds a method with its class and parameters.  Adds an invalid descriptor unchanged, because
 * HotSpot does not check the descriptors of bootstrap classes.  Returns -1 if the signature of the
 * class is invalid.
 */
static int add_method(struct buf *out, struct wire_text class, struct wire_text name,
		      struct wire_text descriptor)
{
	_cleanup_buf_ struct buf parameters = BUF_INIT, type = BUF_INIT;
	bool valid = read_descriptor(descriptor, &parameters, &type);

	if (valid)
		buf_addf(out, "%s ", buf_str(&type));
	if (type_name_java(out, class.data, class.len) < 0)
		return -1;
	buf_addc(out, '.');
	javasig_text(out, (struct cf_text){ name.data, name.len });
	if (valid)
		buf_adds(out, buf_str(&parameters));
	else
		javasig_text(out, (struct cf_text){ descriptor.data, descriptor.len });
	return 0;
}

static int take_row(struct code_map *map, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct code_row row = { .name = map->names.len };
	struct wire_text class, name, descriptor;

	row.address = wire_get_u64(payload);
	row.size = wire_get_u32(payload);
	class = wire_get_text(payload);
	name = wire_get_text(payload);
	descriptor = wire_get_text(payload);
	if (!wire_reader_ok(payload) || map->n >= ROWS_MAX ||
	    row.size > UINT64_MAX - row.address)
		return -EBADMSG;
	if (class.len == 0)
		buf_add(&text, name.data, name.len);
	else if (add_method(&text, class, name, descriptor) < 0)
		return -EBADMSG;
	printable_add(&map->names, buf_str(&text), text.len);
	buf_addc(&map->names, '\0');
	map->rows = xgrow(map->rows, map->n, &map->cap, sizeof(*map->rows));
	map->rows[map->n++] = row;
	return map->names.len <= NAMES_MAX ? 0 : -EBADMSG;
}

static int take_rows(struct code_map *map, struct wire_reader *payload)
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		if (take_row(map, payload) < 0)
			return -EBADMSG;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

static int take_end(struct code_map *map, struct wire_reader *payload)
{
	uint32_t n = wire_get_u32(payload);

	map->n_unloaded = wire_get_u32(payload);
	return n == map->n && wire_reader_ok(payload) ? 1 : -EBADMSG;
}

int code_map_take(struct code_map *map, uint16_t type, struct wire_reader *payload)
{
	switch (type) {
	case WIRE_CODE_ROWS:
		return take_rows(map, payload);
	case WIRE_CODE_END:
		return take_end(map, payload);
	default:
		return -EBADMSG;
	}
}

/* Orders rows by address, then by arrival: a row that arrives later has a higher `name`. */
static int compare_rows(const void *a, const void *b)
{
	const struct code_row *x = a, *y = b;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

void code_map_sort(struct code_map *map)
{
	if (map->n > 1)
		qsort(map->rows, map->n, sizeof(*map->rows), compare_rows);
	for (size_t i = 0; i + 1 < map->n; i++) {
		uint64_t room = map->rows[i + 1].address - map->rows[i].address;

		if (map->rows[i].size > room)
			map->rows[i].size = room;
	}
}

void code_map_add(struct buf *out, const struct code_map *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct code_row *row = &map->rows[i];

		if (row->size > 0)
			buf_addf(out, "%llx %llx %s\n", (unsigned long long)row->address,
				 (unsigned long long)row->size, map->names.data + row->name);
	}
}
