/* Removes the values of classes, instances and arrays in heap dump segments. */
#include "model/hprof/redact_internal.h"

#define FIXED_ROOTS 9 /* tags from 1 to FIXED_ROOTS - 1 are those of roots */

enum {
	SUB_CLASS = 0x20,
	SUB_INSTANCE,
	SUB_OBJECT_ARRAY,
	SUB_PRIMITIVE_ARRAY,
	SUB_ROOT_UNKNOWN = 0xff,
};

/* Returns the number of bytes after the tag of a root subrecord; 0 if `tag` is not a root's. */
static size_t root_size(const struct hprof_redactor *r, unsigned tag)
{
	static const struct {
		uint8_t ids, words;
	} sizes[FIXED_ROOTS] = { [1] = { 2, 0 }, { 1, 2 }, { 1, 2 }, { 1, 1 },
				 { 1, 0 },       { 1, 1 }, { 1, 0 }, { 1, 2 } };

	if (tag == SUB_ROOT_UNKNOWN)
		return r->id_size;
	return tag < FIXED_ROOTS ? sizes[tag].ids * r->id_size + 4u * sizes[tag].words : 0;
}

static int take_subrecord(struct hprof_redactor *r, struct err *err)
{
	const unsigned tag = r->head[0], id = r->id_size;

	if (root_size(r, tag))
		return redact_await(r, ROOT, root_size(r, tag), err);
	if (tag == SUB_CLASS)
		return redact_await(r, CLASS, 7 * id + 10, err);
	if (tag > SUB_PRIMITIVE_ARRAY || tag < SUB_CLASS)
		return redact_invalid(r, err, "unknown heap record tag 0x%02x", tag);
	if (r->holding)
		redact_release(r);
	if (tag == SUB_PRIMITIVE_ARRAY)
		return redact_await(r, PRIMITIVE_ARRAY, id + 9, err);
	return redact_await(r, tag == SUB_INSTANCE ? INSTANCE : OBJECT_ARRAY, 2 * id + 8, err);
}

/*
 * Begins the head of the next constant, static field or instance field; `state` says which.  If
 * r->items is 0, there is no further one: begins the next part of the CLASS_DUMP or, after the
 * instance fields, the next subrecord.
 */
static int next_item(struct hprof_redactor *r, enum redact_state state, struct err *err)
{
	if (r->items > 0)
		return redact_await(r, state, state == CONSTANT ? 3 : r->id_size + 1u, err);
	if (state == FIELD)
		return redact_next_subrecord(r, err);
	return redact_await(r, state == CONSTANT ? STATICS : FIELDS, 2, err);
}

static int take_class(struct hprof_redactor *r, struct err *err)
{
	r->class = redact_id_at(r, 0, 0);
	if (redact_classes_begin(&r->classes, r->class, redact_id_at(r, 4, 1)) < 0)
		return redact_invalid(r, err, "a class is defined twice");
	r->items = (uint32_t)hprof_get(r->head + 7 * r->id_size + 8, 2);
	return next_item(r, CONSTANT, err);
}

static bool is_removed(const struct hprof_redactor *r, uint64_t name, unsigned type)
{
	if (type == HPROF_OBJECT)
		return false;
	if (r->what == HPROF_REDACT_STRINGS)
		return type == HPROF_INT && id_map_get(&r->texts, name) == TEXT_HASH;
	/*
	 * Keep StackChunk.size, because readers of the dump need it to compute the object's size.
	 */
	return !(id_map_get(&r->texts, name) == TEXT_SIZE && r->class == r->stack_chunk_class);
}

/* Processes the head of a constant, a static field or an instance field. */
static int take_item(struct hprof_redactor *r, struct err *err)
{
	const enum redact_state state = r->state;
	const unsigned type = r->head[r->need - 1], size = hprof_type_size(type, r->id_size);
	const uint64_t name = state == CONSTANT ? 0 : redact_id_at(r, 0, 0);
	const bool removed = is_removed(r, name, type);

	if (size == 0)
		return redact_invalid(r, err, "a field of the unknown type %u", type);
	if (name)
		redact_note_name(r, name);
	if (state == FIELD)
		redact_classes_field(&r->classes, size, removed);
	else if (redact_pass(r, size, removed, err) < 0)
		return -1;
	r->items--;
	return next_item(r, state, err);
}

static int take_count(struct hprof_redactor *r, struct err *err)
{
	r->items = (uint32_t)hprof_get(r->head, 2);
	return next_item(r, r->state == STATICS ? STATIC : FIELD, err);
}

static int take_instance(struct hprof_redactor *r, struct err *err)
{
	const uint64_t len = hprof_get(r->head + 2 * r->id_size + 4, 4);
	const char *why;
	const struct redact_class *k =
		redact_classes_find(&r->classes, redact_id_at(r, 4, 1), len, &why);

	if (!k)
		return redact_invalid(r, err, "%s", why);
	if (redact_pass(r, len, false, err) < 0)
		return -1;
	r->bulk = 0;
	/* `clear` is inverted before each run, so it is false in the first run. */
	r->clear = true;
	r->run = k->runs;
	r->end_run = k->runs + k->n_runs;
	return redact_next_subrecord(r, err);
}

static int take_object_array(struct hprof_redactor *r, struct err *err)
{
	if (redact_pass(r, hprof_get(r->head + r->id_size + 4, 4) * r->id_size, false, err) < 0)
		return -1;
	return redact_next_subrecord(r, err);
}

static int take_primitive_array(struct hprof_redactor *r, struct err *err)
{
	const unsigned type = r->head[r->id_size + 8], size = hprof_type_size(type, r->id_size);
	const bool clear = r->what == HPROF_REDACT_ALL || type == HPROF_CHAR || type == HPROF_BYTE;

	if (size == 0 || type == HPROF_OBJECT)
		return redact_invalid(r, err, "an array of the unknown type %u", type);
	if (redact_pass(r, hprof_get(r->head + r->id_size + 4, 4) * size, clear, err) < 0)
		return -1;
	return redact_next_subrecord(r, err);
}

int redact_take_dump(struct hprof_redactor *r, struct err *err)
{
	switch (r->state) {
	case SUBRECORD:
		return take_subrecord(r, err);
	case ROOT:
		return redact_next_subrecord(r, err);
	case CLASS:
		return take_class(r, err);
	case CONSTANT:
	case STATIC:
	case FIELD:
		return take_item(r, err);
	case STATICS:
	case FIELDS:
		return take_count(r, err);
	case INSTANCE:
		return take_instance(r, err);
	case OBJECT_ARRAY:
		return take_object_array(r, err);
	default:
		return take_primitive_array(r, err);
	}
}
