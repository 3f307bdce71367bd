#include "model/jfr/jfr_pools.h"

#include <errno.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_string.h"

#define DEPTH_MAX 32 /* limit for the nesting of values */

/* A constant's encoded value.  The constants of all types are in one array. */
struct constant {
	const uint8_t *at;
	uint32_t len;
	bool compressed;
};

struct jfr_pools {
	const struct jfr_metadata *metadata;
	/* indexed by type: a map from the key of a constant to its index in `constants` */
	struct id_map *pools;
	struct constant *constants;
	size_t n, cap;
	uint8_t **blocks; /* memory blocks of the checkpoint events that contain the constants */
	size_t n_blocks, cap_blocks;
	size_t bytes; /* memory of the pools and of the blocks */
	size_t max_bytes;
};

struct jfr_pools *jfr_pools_new(const struct jfr_metadata *metadata, size_t max_bytes)
{
	struct jfr_pools *p = xcalloc(1, sizeof(*p));

	p->metadata = metadata;
	p->max_bytes = max_bytes;
	p->pools = xcalloc(metadata->n + 1, sizeof(*p->pools));
	p->bytes = metadata->n * sizeof(*p->pools);
	return p;
}

void jfr_pools_free(struct jfr_pools *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->metadata->n; i++)
		id_map_release(&p->pools[i]);
	for (size_t i = 0; i < p->n_blocks; i++)
		free(p->blocks[i]);
	free(p->blocks);
	free(p->pools);
	free(p->constants);
	free(p);
}

/*
 * Skips n compressed numbers without decoding them.  This saves time, because most of a chunk's
 * constants are stack traces, whose frames consist of numbers.
 */
static void skip_numbers(struct jfr_cursor *c, uint64_t n)
{
	const uint8_t *at = c->at;

	for (; n > 0 && c->end - at >= JFR_NUMBER_MAX; n--) {
		const uint8_t *last = at + JFR_NUMBER_MAX - 1;

		while (*at & 0x80 && at < last)
			at++;
		at++;
	}
	c->at = at;
	for (; n > 0 && !c->failed; n--)
		(void)jfr_compressed(c);
}

static void skip_type(struct jfr_cursor *c, const struct jfr_type *type, unsigned depth);

static void skip_field(struct jfr_cursor *c, const struct jfr_field *f, unsigned depth)
{
	uint32_t n = f->is_array ? jfr_count(c) : 1;
	unsigned n_numbers = f->is_constant ? 1 : f->type ? f->type->n_numbers : 0;

	if (c->compressed && n_numbers > 0) {
		skip_numbers(c, (uint64_t)n * n_numbers);
		return;
	}
	for (; n > 0 && !c->failed; n--) {
		if (f->is_constant)
			(void)jfr_long(c);
		else
			skip_type(c, f->type, depth);
	}
}

static void skip_object(struct jfr_cursor *c, const struct jfr_type *type, unsigned depth)
{
	size_t n = type->is_simple && type->n_fields > 0 ? 1 : type->n_fields;

	/*
	 * Refuse a type without fields.  A value of such a type has no bytes, so an array that has
	 * few bytes in the file could have very many elements.
	 */
	if (n == 0 || depth > DEPTH_MAX) {
		jfr_fail(c);
		return;
	}
	for (size_t i = 0; i < n && !c->failed; i++)
		skip_field(c, &type->fields[i], depth + 1);
}

static void skip_type(struct jfr_cursor *c, const struct jfr_type *type, unsigned depth)
{
	struct jfr_string s;

	if (!type) {
		jfr_fail(c);
		return;
	}
	switch (type->base) {
	case JFR_OBJECT:
		skip_object(c, type, depth);
		break;
	case JFR_BOOLEAN:
	case JFR_BYTE:
		(void)jfr_byte(c);
		break;
	case JFR_CHAR:
	case JFR_SHORT:
		(void)jfr_number(c, 2);
		break;
	case JFR_INT:
		(void)jfr_number(c, 4);
		break;
	case JFR_LONG:
		(void)jfr_number(c, 8);
		break;
	case JFR_FLOAT:
		(void)jfr_bytes(c, 4);
		break;
	case JFR_DOUBLE:
		(void)jfr_bytes(c, 8);
		break;
	case JFR_STRING:
		jfr_string_read(c, &s);
	}
}

void jfr_skip_field(struct jfr_cursor *c, const struct jfr_field *f)
{
	skip_field(c, f, 0);
}

/* Returns whether the constant was stored, so that the pools refer to the memory at `at`. */
static bool add_constant(struct jfr_pools *p, struct id_map *pool, int64_t key, bool replaces,
			 const uint8_t *at, const struct jfr_cursor *end)
{
	const struct constant new = { at, (uint32_t)(end->at - at), end->compressed };
	uint32_t i = id_map_get(pool, (uint64_t)key);
	size_t old_cap = pool->cap;

	if (i != ID_MAP_NONE) {
		if (replaces)
			p->constants[i] = new;
		return replaces;
	}
	(void)id_map_add(pool, (uint64_t)key, (uint32_t)p->n);
	p->bytes += (pool->cap - old_cap) * sizeof(struct id_map_entry);
	p->constants = xgrow(p->constants, p->n, &p->cap, sizeof(*p->constants));
	p->constants[p->n++] = new;
	return true;
}

/* Sets *stored if a constant was stored. */
static int add_pool(struct jfr_pools *p, struct jfr_cursor *c, bool replaces, bool *stored)
{
	const struct jfr_type *type = jfr_type_by_id(p->metadata, jfr_long(c));
	uint32_t n = jfr_count(c);

	if (!type)
		return -EBADMSG;
	for (uint32_t i = 0; i < n && !c->failed; i++) {
		int64_t key = jfr_long(c);
		const uint8_t *at = c->at;

		skip_type(c, type, 0);
		if (!c->failed)
			*stored |= add_constant(p, &p->pools[type->index], key, replaces, at, c);
		if (jfr_pools_bytes(p) > p->max_bytes)
			return -ENOMEM;
	}
	return c->failed ? -EBADMSG : 0;
}

int jfr_pools_add(struct jfr_pools *p, struct jfr_cursor *c, uint8_t *data, bool replaces,
		  int64_t *delta)
{
	size_t len = (size_t)(c->end - data);
	bool stored = false;
	uint32_t n;
	int rc = 0;

	p->bytes += len;
	(void)jfr_long(c); /* skip the start time */
	(void)jfr_long(c); /* skip the duration */
	*delta = jfr_long(c);
	(void)jfr_byte(c); /* skip the kind of checkpoint */
	n = jfr_count(c);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = add_pool(p, c, replaces, &stored);
	if (stored) {
		p->blocks = xgrow(p->blocks, p->n_blocks, &p->cap_blocks, sizeof(*p->blocks));
		p->blocks[p->n_blocks++] = data;
	} else {
		p->bytes -= len;
		free(data);
	}
	return c->failed ? -EBADMSG : rc;
}

size_t jfr_pools_bytes(const struct jfr_pools *p)
{
	return p->bytes + p->cap * sizeof(*p->constants) + p->cap_blocks * sizeof(*p->blocks);
}

bool jfr_pools_find(const struct jfr_pools *p, const struct jfr_type *type, int64_t key,
		    struct jfr_cursor *value)
{
	uint32_t i = id_map_get(&p->pools[type->index], (uint64_t)key);

	if (i == ID_MAP_NONE)
		return false;
	*value = (struct jfr_cursor){ .at = p->constants[i].at,
				      .end = p->constants[i].at + p->constants[i].len,
				      .compressed = p->constants[i].compressed };
	return true;
}
