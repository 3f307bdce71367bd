/* What stands in a heap dump segment: roots, instances, arrays. */
#include <inttypes.h>

#include "base/xalloc.h"
#include "model/hprof_parts.h"

enum {
	ROOT_JNI_GLOBAL = 0x01,
	ROOT_JNI_LOCAL,
	ROOT_JAVA_FRAME,
	ROOT_NATIVE_STACK,
	ROOT_STICKY_CLASS,
	ROOT_THREAD_BLOCK,
	ROOT_MONITOR_USED,
	ROOT_THREAD_OBJ,
	ROOTS_END,
	CLASS_DUMP = 0x20,
	INSTANCE_DUMP,
	OBJ_ARRAY_DUMP,
	PRIM_ARRAY_DUMP,
	ROOT_UNKNOWN = 0xff,
};

#define NO_FRAME UINT32_MAX /* of a thread that has none */

/* What follows the object in a root: a thread's serial number, or what is not looked at. */
static const struct {
	enum tape_root root;
	bool has_thread, has_depth;
	uint8_t words; /* of 4 bytes */
	uint8_t ids;
} roots[ROOTS_END] = {
	[0] = { .root = TAPE_ROOT_VM }, /* ROOT_UNKNOWN */
	[ROOT_JNI_GLOBAL] = { .root = TAPE_ROOT_JNI_GLOBAL, .ids = 1 },
	[ROOT_JNI_LOCAL] = { TAPE_ROOT_JNI_LOCAL, true, true, 2, 0 },
	[ROOT_JAVA_FRAME] = { TAPE_ROOT_STACK, true, true, 2, 0 },
	[ROOT_NATIVE_STACK] = { TAPE_ROOT_STACK, true, false, 1, 0 },
	[ROOT_STICKY_CLASS] = { .root = TAPE_ROOT_CLASS },
	[ROOT_THREAD_BLOCK] = { TAPE_ROOT_VM, true, false, 1, 0 },
	[ROOT_MONITOR_USED] = { .root = TAPE_ROOT_MONITOR },
	[ROOT_THREAD_OBJ] = { TAPE_ROOT_THREAD, true, false, 2, 0 },
};

int hprof_bad_instance(const struct hprof_reader *r, uint32_t class, uint32_t data_len,
		       struct err *err)
{
	return hprof_senseless(r, err, "an instance of %s with %" PRIu32 " bytes",
			       heap_class_name(r->heap, class), data_len);
}

static void note_thread(struct hprof_reader *r, uint32_t serial, uint64_t object)
{
	struct heap *heap = r->heap;

	r->thread_objects = xgrow(r->thread_objects, heap->n_threads, &r->cap_thread_objects,
				  sizeof(*r->thread_objects));
	r->thread_objects[heap->n_threads] = object;
	heap->threads = xgrow(heap->threads, heap->n_threads, &heap->cap_threads,
			      sizeof(*heap->threads));
	heap->threads[heap->n_threads++] = (struct heap_thread){ .id = serial };
}

static ssize_t take_root(struct hprof_reader *r, unsigned kind, const uint8_t *p, size_t len,
			 struct err *err)
{
	const unsigned id = r->id_size;
	const size_t size = id * (1u + roots[kind].ids) + 4u * roots[kind].words;
	struct tape_record record = { .kind = TAPE_ROOT, .root = roots[kind].root };

	if (len < size)
		return 0;
	record.address = hprof_get(p, id);
	if (roots[kind].has_thread)
		record.thread = hprof_get(p + id, 4);
	if (roots[kind].has_depth) {
		record.depth = (uint32_t)hprof_get(p + id + 4, 4);
		if (record.depth == NO_FRAME)
			record.depth = 0;
		else
			record.method = hprof_method(r, (uint32_t)record.thread, record.depth);
	}
	if (kind == ROOT_THREAD_OBJ)
		note_thread(r, (uint32_t)record.thread, record.address);
	if (record.address && hprof_write(r, &record, err) < 0)
		return -1;
	return (ssize_t)size;
}

static void remember(struct hprof_reader *r, const struct hprof_seen *seen)
{
	if (layout_is_known(&r->wants.layout) || r->n_seen >= HPROF_LOOK)
		return;
	r->seen = xgrow(r->seen, r->n_seen, &r->cap_seen, sizeof(*r->seen));
	r->seen[r->n_seen++] = *seen;
}

/* An object, its size, and what the sums know of it. */
static int write_object(struct hprof_reader *r, uint64_t address, uint32_t class, uint64_t size,
			int64_t length, struct err *err)
{
	struct hprof_count *count = &r->classes[class].count;
	struct tape_record record = { .kind = TAPE_OBJECT, .address = address, .class = class };

	r->objects++;
	count->instances++;
	count->bytes += size;
	if (!r->tape)
		return 0;
	if (class == r->class_class)
		record.kind = TAPE_MIRROR; /* of a primitive type */
	if (hprof_write(r, &record, err) < 0)
		return -1;
	record = (struct tape_record){
		.kind = TAPE_SIZE,
		.address = address,
		.size = size,
		.is_array = length >= 0,
		.length = length >= 0 ? (uint32_t)length : 0,
	};
	return hprof_write(r, &record, err);
}

/* Names of threads and loaders' classes: seldom enough to be looked for in every instance. */
static void look_into(struct hprof_reader *r, const struct hprof_class *k, uint32_t class,
		      uint64_t address, const uint8_t *data)
{
	struct hprof_names *names = r->wants.names;

	if (k->is_loader && idmap_get(&r->loader_classes, address) == LOADER_UNMET)
		idmap_set(&r->loader_classes, address, class);
	if (!names)
		return;
	if (k->is_thread && k->name_at != NO_PLACE)
		hprof_names_thread(names, address, hprof_get(data + k->name_at, r->id_size),
				   k->tid_at != NO_PLACE ? hprof_get(data + k->tid_at, 8) : 0);
	if (k->is_string && k->value_at != NO_PLACE)
		hprof_names_string(names, address, hprof_get(data + k->value_at, r->id_size),
				   k->coder_at != NO_PLACE && data[k->coder_at] != 0);
}

static int write_fields(struct hprof_reader *r, const struct hprof_class *k, const uint8_t *data,
			struct err *err)
{
	struct tape_record record = { 0 };

	for (size_t i = 0; i < k->n_refs; i++) {
		record.address = hprof_get(data + k->refs[i].at, r->id_size);
		record.kind = k->refs[i].is_referent ? TAPE_REFERENT : TAPE_FIELD;
		record.index = k->refs[i].index;
		if (record.address && hprof_write(r, &record, err) < 0)
			return -1;
	}
	return 0;
}

static uint64_t instance_size(const struct hprof_reader *r, const struct hprof_class *k,
			      const uint8_t *data)
{
	if (k->stack_at == NO_PLACE || !layout_is_known(&r->wants.layout))
		return k->shape.size;
	return layout_stack_chunk(&r->wants.layout, &k->shape,
				  (uint32_t)hprof_get(data + k->stack_at, 4));
}

static ssize_t take_instance(struct hprof_reader *r, const uint8_t *p, size_t len,
			     struct err *err)
{
	const size_t head = 2 * (size_t)r->id_size + 8;
	const uint8_t *data = p + head;
	struct hprof_class *k;
	uint64_t address;
	uint32_t class, n;

	if (len < head)
		return 0;
	n = (uint32_t)hprof_get(p + head - 4, 4);
	address = hprof_get(p, r->id_size);
	class = idmap_get(&r->class_ids, hprof_get(p + r->id_size + 4, r->id_size));
	if (class == IDMAP_NONE)
		return hprof_senseless(r, err, "an instance of a class that was not told of");
	k = &r->classes[class];
	if (!k->ready && hprof_make_ready(r, class, n, err) < 0)
		return -1;
	if (n != k->data_len) /* before anything is kept that is a lie's size */
		return hprof_bad_instance(r, class, n, err);
	if (len - head < n)
		return 0;
	if (k->stack_at == NO_PLACE)
		remember(r, &(struct hprof_seen){ .address = address, .class = class });
	if (write_object(r, address, class, instance_size(r, k, data), -1, err) < 0)
		return -1;
	if (k->is_loader || k->is_thread || k->is_string)
		look_into(r, k, class, address, data);
	if (r->tape && class != r->class_class && write_fields(r, k, data, err) < 0)
		return -1;
	return (ssize_t)(head + n);
}

static uint64_t array_size(const struct hprof_reader *r, unsigned element, uint32_t n)
{
	return layout_is_known(&r->wants.layout) ? layout_array(&r->wants.layout, element, n) : 0;
}

static ssize_t take_object_array(struct hprof_reader *r, const uint8_t *p, size_t len,
				 struct err *err)
{
	const size_t head = 2 * (size_t)r->id_size + 8;
	uint32_t class, n;
	uint64_t address, size;

	if (len < head)
		return 0;
	address = hprof_get(p, r->id_size);
	n = (uint32_t)hprof_get(p + r->id_size + 4, 4);
	class = idmap_get(&r->class_ids, hprof_get(p + r->id_size + 8, r->id_size));
	if (class == IDMAP_NONE)
		return hprof_senseless(r, err, "an array of a class that was not told of");
	if (head + 1 + (uint64_t)n * r->id_size > r->segment)
		return hprof_senseless(r, err, "an array that is longer than its segment");
	remember(r, &(struct hprof_seen){ address, class, n, HPROF_SEEN_REFS });
	size = array_size(r, r->wants.layout.reference, n);
	if (write_object(r, address, class, size, n, err) < 0)
		return -1;
	r->element = 0;
	r->n_elements = n;
	if (!r->tape)
		r->skip = (uint64_t)n * r->id_size;
	else if (n)
		r->state = AT_ELEMENTS;
	return (ssize_t)head;
}

ssize_t hprof_take_elements(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	const uint8_t *at = p;

	while (r->element < r->n_elements && (size_t)(p + len - at) >= r->id_size) {
		const struct tape_record record = {
			.kind = TAPE_ELEMENT,
			.address = hprof_get(at, r->id_size),
			.index = r->element++,
		};

		if (record.address && hprof_write(r, &record, err) < 0)
			return -1;
		at += r->id_size;
	}
	if (r->element == r->n_elements)
		r->state = AT_SUBRECORD;
	return at - p;
}

static int write_text(struct hprof_reader *r, uint64_t address, const uint8_t *data, size_t len,
		      bool is_chars, struct err *err)
{
	const struct tape_record record = {
		.kind = TAPE_TEXT,
		.address = address,
		.form = is_chars ? TAPE_UTF16 : TAPE_BYTES,
		.text = data,
		.text_len = (uint32_t)(len < TAPE_TEXT_MAX ? len : TAPE_TEXT_MAX),
	};

	return hprof_write(r, &record, err);
}

static ssize_t take_primitive_array(struct hprof_reader *r, const uint8_t *p, size_t len,
				    struct err *err)
{
	const size_t head = (size_t)r->id_size + 9;
	bool wants_text, is_text;
	uint64_t address, bytes;
	uint32_t class, n;
	unsigned type, size;
	size_t look = 0;

	if (len < head)
		return 0;
	address = hprof_get(p, r->id_size);
	n = (uint32_t)hprof_get(p + r->id_size + 4, 4);
	type = p[r->id_size + 8];
	size = hprof_type_size(r, type);
	if (size == 0 || type == HPROF_OBJECT)
		return hprof_senseless(r, err, "an array of no type");
	bytes = (uint64_t)n * size;
	if (head + 1 + bytes > r->segment)
		return hprof_senseless(r, err, "an array that is longer than its segment");
	is_text = type == HPROF_BYTE || type == HPROF_CHAR;
	wants_text = is_text && r->tape && r->wants.texts_from && n >= r->wants.texts_from;
	if (wants_text || (is_text && r->wants.names))
		look = bytes < HPROF_NAME_MAX ? (size_t)bytes : HPROF_NAME_MAX;
	if (len - head < look)
		return 0;
	class = hprof_array_class(r, (enum hprof_type)type);
	remember(r, &(struct hprof_seen){ address, class, n, (uint8_t)size });
	if (write_object(r, address, class, array_size(r, size, n), n, err) < 0)
		return -1;
	if (wants_text && write_text(r, address, p + head, look, type == HPROF_CHAR, err) < 0)
		return -1;
	if (look && r->wants.names)
		hprof_names_array(r->wants.names, address, p + head, look, type == HPROF_CHAR);
	r->skip = bytes - look;
	return (ssize_t)(head + look);
}

ssize_t hprof_take_sub(struct hprof_reader *r, unsigned tag, const uint8_t *p, size_t len,
		       struct err *err)
{
	if (tag == ROOT_UNKNOWN)
		return take_root(r, 0, p, len, err);
	if (tag > 0 && tag < ROOTS_END)
		return take_root(r, tag, p, len, err);
	if (tag == CLASS_DUMP)
		return hprof_take_class(r, p, len, err);
	if (tag > PRIM_ARRAY_DUMP || tag < CLASS_DUMP)
		return hprof_senseless(r, err, "nothing on a heap has the tag 0x%02x", tag);
	if (!r->met && hprof_meet(r, err) < 0)
		return -1;
	if (tag == INSTANCE_DUMP)
		return take_instance(r, p, len, err);
	return tag == OBJ_ARRAY_DUMP ? take_object_array(r, p, len, err)
				     : take_primitive_array(r, p, len, err);
}
