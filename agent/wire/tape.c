#include "wire/tape.h"

#include <string.h>

#include "wire/tape_put.h"

#define KIND_MASK ((1u << TAPE_KIND_BITS) - 1)
#define VARINT_MAX 10 /* bytes of 64 bits, seven at a time */

/* What stands behind a record's first number, by its kind: in this order. */
enum part {
	CLASS = 1,
	INDEX = 2,
	GAP = 4, /* an index as the distance from the one before */
	ROOT = 8,
	SIZE = 16,
	TEXT = 32,
};

static const uint8_t parts[TAPE_KINDS] = {
	[TAPE_CLASS] = CLASS,
	[TAPE_OBJECT] = CLASS,
	[TAPE_FIELD] = INDEX | SIZE,
	[TAPE_STATIC] = INDEX | SIZE,
	[TAPE_ELEMENT] = GAP | SIZE,
	[TAPE_REFERENT] = INDEX | SIZE,
	[TAPE_LINK] = INDEX | SIZE,
	[TAPE_ROOT] = ROOT | SIZE,
	[TAPE_SIZE] = SIZE,
	[TAPE_TEXT] = TEXT,
};

/* NULL stays NULL: a record is asked for its end once. */
static const uint8_t *get(const uint8_t *from, const uint8_t *end, uint64_t *value)
{
	uint64_t v = 0;

	for (unsigned i = 0; from && i < VARINT_MAX; i++) {
		uint8_t byte;

		if (from == end)
			break;
		byte = *from++;
		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*value = v;
			return from;
		}
	}
	*value = 0;
	return NULL;
}

static const uint8_t *get_u32(const uint8_t *from, const uint8_t *end, uint32_t *value)
{
	uint64_t v;

	from = get(from, end, &v);
	*value = (uint32_t)v;
	return v <= UINT32_MAX ? from : NULL;
}

static int64_t unfold(uint64_t n)
{
	return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

/* Where the distance of a record of this kind counts from. */
static uint64_t *base_of(struct tape_place *place, enum tape_kind kind)
{
	switch (kind) {
	case TAPE_CLASS:
		return &place->class;
	case TAPE_ROOT:
		return &place->root;
	case TAPE_OWN:
		return &place->own;
	default:
		return &place->object;
	}
}

static void move_on(struct tape_place *place, uint64_t *base, enum tape_kind kind, uint64_t words)
{
	if (kind == TAPE_CLASS || kind == TAPE_ROOT || kind == TAPE_OWN)
		*base = words;
	if (kind != TAPE_OBJECT && kind != TAPE_MIRROR)
		return;
	*base = words;
	place->element = 0;
}

static const uint8_t *get_size(const uint8_t *from, const uint8_t *end, struct tape_record *r)
{
	uint64_t v;

	from = get(from, end, &v);
	if (v >> 1 > TAPE_ADDRESS_MAX / TAPE_WORD)
		return NULL;
	r->size = (v >> 1) * TAPE_WORD;
	r->is_array = v & 1;
	return r->is_array ? get_u32(from, end, &r->length) : from;
}

static uint8_t *put_root(uint8_t *to, const struct tape_record *r)
{
	to = tape_put(to, r->root);
	to = tape_put(to, r->thread);
	to = tape_put(to, r->depth);
	return tape_put(to, r->method);
}

static const uint8_t *get_root(const uint8_t *from, const uint8_t *end, struct tape_record *r)
{
	uint32_t kind;

	from = get_u32(from, end, &kind);
	from = get(from, end, &r->thread);
	from = get_u32(from, end, &r->depth);
	from = get_u32(from, end, &r->method);
	r->root = (enum tape_root)kind;
	return kind < TAPE_ROOTS ? from : NULL;
}

static uint8_t *put_text(uint8_t *to, const struct tape_record *r)
{
	to = tape_put(to, r->form);
	to = tape_put(to, r->text_len);
	memcpy(to, r->text, r->text_len);
	return to + r->text_len;
}

static const uint8_t *get_text(const uint8_t *from, const uint8_t *end, struct tape_record *r)
{
	uint32_t form;

	from = get_u32(from, end, &form);
	from = get_u32(from, end, &r->text_len);
	if (!from || form >= TAPE_FORMS || r->text_len > TAPE_TEXT_MAX ||
	    r->text_len > (size_t)(end - from))
		return NULL;
	r->form = (enum tape_form)form;
	r->text = from;
	return from + r->text_len;
}

uint8_t *tape_write(struct tape_place *place, uint8_t *to, const struct tape_record *r)
{
	uint64_t *base = base_of(place, r->kind);
	uint64_t words = r->kind == TAPE_SIZE ? *base : r->address / TAPE_WORD;
	unsigned part = parts[r->kind];

	to = tape_put_first(to, r->kind, words, *base);
	move_on(place, base, r->kind, words);
	if (part & CLASS)
		to = tape_put(to, r->class);
	if (part & INDEX)
		to = tape_put(to, r->index);
	if (part & GAP) {
		to = tape_put(to, r->index - place->element);
		place->element = r->index + 1;
	}
	if (part & ROOT)
		to = put_root(to, r);
	if (part & SIZE)
		to = tape_put_size(to, r->size, r->is_array, r->length);
	return part & TEXT ? put_text(to, r) : to;
}

static const uint8_t *get_gap(struct tape_place *place, const uint8_t *from, const uint8_t *end,
			      struct tape_record *r)
{
	uint32_t gap;

	from = get_u32(from, end, &gap);
	if (gap >= UINT32_MAX - place->element)
		return NULL;
	r->index = place->element + gap;
	place->element = r->index + 1;
	return from;
}

const uint8_t *tape_read(struct tape_place *place, const uint8_t *from, const uint8_t *end,
			 struct tape_record *r)
{
	uint64_t first, *base, words;
	unsigned part;

	from = get(from, end, &first);
	*r = (struct tape_record){ .kind = (enum tape_kind)(first & KIND_MASK) };
	if (!from || r->kind >= TAPE_KINDS)
		return NULL;
	base = base_of(place, r->kind);
	words = *base + (uint64_t)unfold(first >> TAPE_KIND_BITS);
	if (words >= TAPE_ADDRESS_MAX / TAPE_WORD)
		return NULL;
	r->address = words * TAPE_WORD;
	move_on(place, base, r->kind, words);
	part = parts[r->kind];
	if (part & CLASS)
		from = get_u32(from, end, &r->class);
	if (part & INDEX)
		from = get_u32(from, end, &r->index);
	if (part & GAP)
		from = get_gap(place, from, end, r);
	if (part & ROOT)
		from = get_root(from, end, r);
	if (part & SIZE)
		from = get_size(from, end, r);
	if (part & TEXT)
		from = get_text(from, end, r);
	return from;
}
