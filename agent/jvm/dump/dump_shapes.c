/*
 * The layout of objects.  Finds the layout of arrays by searching arrays whose contents are known;
 * decodes the layout of instances from the jfieldIDs of their fields.
 */
#include "jvm/dump/dump_heap.h"

uint32_t ag_dump_mirrored(const struct ag_dump_heap *h, uint64_t mirror)
{
	const struct ag_hash_entry *slot = ag_hash_map_probe(&h->by_address, mirror);

	return slot->key != 0 ? slot->number : AG_DUMP_NONE;
}

/* Returns true for the java.lang.Class of a primitive type, in which the Klass address is 0. */
static bool is_primitive(const struct ag_dump_heap *h, uint64_t mirror)
{
	return ag_dump_word64(mirror + h->probe.encoding.mirror_offset) == 0;
}

uint32_t ag_dump_length(const struct ag_dump_heap *h, uint64_t array)
{
	return ag_dump_word32(array + h->length_at);
}

/*
 * Decodes a field's offset from its jfieldID.  The id of an instance field is the offset << 2.  If
 * bit 0 of this id is set, the offset has only 7 bits, because the id also contains data for a
 * check.  The id of a static field is the address of a JVM struct:
 * JNIid { Klass *holder; JNIid *next; int offset; … }.
 */
uint32_t ag_dump_offset(const struct ag_dump_field *field)
{
	uint64_t id = (uint64_t)(uintptr_t)field->id;

	if (field->is_static)
		return ag_dump_word32(id + 16);
	return (uint32_t)(id & 1 ? id >> 2 & 127 : id >> 2);
}

bool ag_dump_is_class(const struct ag_dump_heap *h, uint64_t object)
{
	return h->layout->classes[ag_dump_class_of(h, object)].kind == AG_DUMP_CLASS &&
	       !is_primitive(h, object);
}

static bool has_pattern(uint64_t at, unsigned size)
{
	for (uint32_t i = 0; i < AG_DUMP_PATTERN; i++) {
		uint64_t value = 0;

		memcpy(&value, (const char *)(uintptr_t)at + (size_t)i * size, size);
		if (value != i + 1)
			return false;
	}
	return true;
}

/* Returns the offset of an array's first element, where the element values 1, 2, … begin. */
static unsigned find_pattern(const struct ag_dump_heap *h, uint64_t array, unsigned size)
{
	for (unsigned at = h->length_at + 4; at <= h->length_at + 16; at += 4) {
		if (has_pattern(array + at, size))
			return at;
	}
	ag_exit(AG_CHILD_LAYOUT);
}

void ag_dump_heap_init(struct ag_dump_heap *h, uint64_t holder, const uint64_t *elements,
		       uint32_t n, uint64_t bytes, uint64_t longs)
{
	const struct ag_header *header = &h->probe.header;

	h->length_at = header->full ? 16 : header->offset + 4;
	if (header->offset == 0)
		h->length_at = 8; /* the header has no class word: the class is in the mark word */
	if (!ag_array_layout_find(&h->refs, holder, elements, n) ||
	    ag_dump_length(h, holder) != n ||
	    ag_dump_length(h, bytes) != AG_DUMP_PATTERN ||
	    ag_dump_length(h, longs) != AG_DUMP_PATTERN)
		ag_exit(AG_CHILD_LAYOUT);
	h->small_at = find_pattern(h, bytes, 1);
	h->large_at = find_pattern(h, longs, 8);
}

static void take_values(struct ag_dump_heap *h, struct ag_dump_class *c,
			const struct ag_dump_class *declarer)
{
	for (uint32_t i = 0; i < declarer->n; i++) {
		const struct ag_dump_field *f = &h->layout->fields[declarer->first + i];

		if (f->is_static)
			continue;
		if ((uint8_t *)(c->values + c->n_values + 1) > h->values_end)
			ag_exit(AG_CHILD_ROOM);
		c->values[c->n_values++] =
			(struct ag_dump_value){ ag_dump_offset(f), f->type };
		c->data_len += ag_hprof_size_of((enum ag_hprof_type)f->type);
	}
}

void ag_dump_prepare(struct ag_dump_heap *h, struct ag_dump_class *c)
{
	const struct ag_dump_class *declarer = c;

	c->values = (struct ag_dump_value *)(void *)h->values;
	c->has_values = true;
	for (;;) {
		if (declarer->kind == AG_DUMP_UNKNOWN)
			ag_exit(AG_CHILD_UNLINKED);
		take_values(h, c, declarer);
		if (declarer->super == AG_DUMP_NONE)
			break;
		declarer = &h->layout->classes[declarer->super];
	}
	h->values = (uint8_t *)(c->values + c->n_values);
}
