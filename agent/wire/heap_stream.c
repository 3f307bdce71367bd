#include "wire/heap_stream.h"

#include <string.h>

#include "wire/heap_stream_put.h"

#define KIND_MASK ((1u << HEAP_STREAM_KIND_BITS) - 1)
#define VARINT_MAX 10 /* most bytes that a 64-bit number takes in LEB128 */

/* The parts that may follow the first number of a record, in this order. */
enum part {
	CLASS = 1,
	INDEX = 2,
	GAP = 4, /* instead of INDEX: the index minus state->element */
	ROOT = 8,
	SIZE = 16,
	TEXT = 32,
};

static const uint8_t parts[HEAP_STREAM_KINDS] = {
	[HEAP_STREAM_CLASS] = CLASS,        [HEAP_STREAM_OBJECT] = CLASS,
	[HEAP_STREAM_FIELD] = INDEX | SIZE, [HEAP_STREAM_STATIC] = INDEX | SIZE,
	[HEAP_STREAM_ELEMENT] = GAP | SIZE, [HEAP_STREAM_REFERENT] = INDEX | SIZE,
	[HEAP_STREAM_LINK] = INDEX | SIZE,  [HEAP_STREAM_ROOT] = ROOT | SIZE,
	[HEAP_STREAM_SIZE] = SIZE,          [HEAP_STREAM_TEXT] = TEXT,
};

/*
 * Reads a number.  Returns the address after the number; or NULL if the number is malformed or
 * truncated, or if `from` is NULL.  So a caller can pass each result to the next call as `from`,
 * and check for NULL once per record.
 */
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

/* Returns the member of *state from which the distance in records of this kind is counted. */
static uint64_t *base_of(struct heap_stream_state *state, enum heap_stream_kind kind)
{
	switch (kind) {
	case HEAP_STREAM_CLASS:
		return &state->class;
	case HEAP_STREAM_ROOT:
		return &state->root;
	case HEAP_STREAM_OWN:
		return &state->own;
	default:
		return &state->object;
	}
}

static void update_base(struct heap_stream_state *state, uint64_t *base, enum heap_stream_kind kind,
			uint64_t words)
{
	if (kind == HEAP_STREAM_CLASS || kind == HEAP_STREAM_ROOT || kind == HEAP_STREAM_OWN)
		*base = words;
	if (kind != HEAP_STREAM_OBJECT && kind != HEAP_STREAM_MIRROR)
		return;
	*base = words;
	state->element = 0;
}

static const uint8_t *get_size(const uint8_t *from, const uint8_t *end,
			       struct heap_stream_record *r)
{
	uint64_t v;

	from = get(from, end, &v);
	if (v >> 1 > HEAP_STREAM_ADDRESS_MAX / HEAP_STREAM_WORD)
		return NULL;
	r->size = (v >> 1) * HEAP_STREAM_WORD;
	r->is_array = v & 1;
	return r->is_array ? get_u32(from, end, &r->length) : from;
}

static uint8_t *put_root(uint8_t *to, const struct heap_stream_record *r)
{
	to = heap_stream_put(to, r->root);
	to = heap_stream_put(to, r->thread);
	to = heap_stream_put(to, r->depth);
	return heap_stream_put(to, r->method);
}

static const uint8_t *get_root(const uint8_t *from, const uint8_t *end,
			       struct heap_stream_record *r)
{
	uint32_t kind;

	from = get_u32(from, end, &kind);
	from = get(from, end, &r->thread);
	from = get_u32(from, end, &r->depth);
	from = get_u32(from, end, &r->method);
	r->root = (enum heap_stream_root)kind;
	return kind < HEAP_STREAM_ROOTS ? from : NULL;
}

static uint8_t *put_text(uint8_t *to, const struct heap_stream_record *r)
{
	to = heap_stream_put(to, r->form);
	to = heap_stream_put(to, r->text_len);
	memcpy(to, r->text, r->text_len);
	return to + r->text_len;
}

static const uint8_t *get_text(const uint8_t *from, const uint8_t *end,
			       struct heap_stream_record *r)
{
	uint32_t form;

	from = get_u32(from, end, &form);
	from = get_u32(from, end, &r->text_len);
	if (!from || form >= HEAP_STREAM_FORMS || r->text_len > HEAP_STREAM_TEXT_MAX ||
	    r->text_len > (size_t)(end - from))
		return NULL;
	r->form = (enum heap_stream_form)form;
	r->text = from;
	return from + r->text_len;
}

uint8_t *heap_stream_write(struct heap_stream_state *state, uint8_t *to,
			   const struct heap_stream_record *r)
{
	uint64_t *base = base_of(state, r->kind);
	uint64_t words = r->kind == HEAP_STREAM_SIZE ? *base : r->address / HEAP_STREAM_WORD;
	unsigned part = parts[r->kind];

	to = heap_stream_put_first(to, r->kind, words, *base);
	update_base(state, base, r->kind, words);
	if (part & CLASS)
		to = heap_stream_put(to, r->class);
	if (part & INDEX)
		to = heap_stream_put(to, r->index);
	if (part & GAP) {
		to = heap_stream_put(to, r->index - state->element);
		state->element = r->index + 1;
	}
	if (part & ROOT)
		to = put_root(to, r);
	if (part & SIZE)
		to = heap_stream_put_size(to, r->size, r->is_array, r->length);
	return part & TEXT ? put_text(to, r) : to;
}

static const uint8_t *get_gap(struct heap_stream_state *state, const uint8_t *from,
			      const uint8_t *end, struct heap_stream_record *r)
{
	uint32_t gap;

	from = get_u32(from, end, &gap);
	if (gap >= UINT32_MAX - state->element)
		return NULL;
	r->index = state->element + gap;
	state->element = r->index + 1;
	return from;
}

const uint8_t *heap_stream_read(struct heap_stream_state *state, const uint8_t *from,
				const uint8_t *end, struct heap_stream_record *r)
{
	uint64_t first, *base, words;
	unsigned part;

	from = get(from, end, &first);
	*r = (struct heap_stream_record){ .kind = (enum heap_stream_kind)(first & KIND_MASK) };
	if (!from || r->kind >= HEAP_STREAM_KINDS)
		return NULL;
	base = base_of(state, r->kind);
	words = *base + (uint64_t)unfold(first >> HEAP_STREAM_KIND_BITS);
	if (words >= HEAP_STREAM_ADDRESS_MAX / HEAP_STREAM_WORD)
		return NULL;
	r->address = words * HEAP_STREAM_WORD;
	update_base(state, base, r->kind, words);
	part = parts[r->kind];
	if (part & CLASS)
		from = get_u32(from, end, &r->class);
	if (part & INDEX)
		from = get_u32(from, end, &r->index);
	if (part & GAP)
		from = get_gap(state, from, end, r);
	if (part & ROOT)
		from = get_root(from, end, r);
	if (part & SIZE)
		from = get_size(from, end, r);
	if (part & TEXT)
		from = get_text(from, end, r);
	return from;
}
