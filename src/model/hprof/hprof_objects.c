/* Parses heap dump segments: GC roots, instances and arrays. */
#include <inttypes.h>

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"

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

#define NO_FRAME UINT32_MAX /* a root that does not belong to a stack frame */

/*
 * Indexed by the tag of a root: the kind of the root, and the data that follows the object's
 * identifier in the record.
 */
static const struct {
	enum heap_stream_root root;
	bool has_thread, has_depth;
	uint8_t words; /* number of 4-byte values in the data */
	uint8_t ids;   /* number of identifiers in the data */
} roots[ROOTS_END] = {
	[0] = { .root = HEAP_STREAM_ROOT_VM }, /* ROOT_UNKNOWN */
	[ROOT_JNI_GLOBAL] = { .root = HEAP_STREAM_ROOT_JNI_GLOBAL, .ids = 1 },
	[ROOT_JNI_LOCAL] = { HEAP_STREAM_ROOT_JNI_LOCAL, true, true, 2, 0 },
	[ROOT_JAVA_FRAME] = { HEAP_STREAM_ROOT_STACK, true, true, 2, 0 },
	[ROOT_NATIVE_STACK] = { HEAP_STREAM_ROOT_STACK, true, false, 1, 0 },
	[ROOT_STICKY_CLASS] = { .root = HEAP_STREAM_ROOT_CLASS },
	[ROOT_THREAD_BLOCK] = { HEAP_STREAM_ROOT_VM, true, false, 1, 0 },
	[ROOT_MONITOR_USED] = { .root = HEAP_STREAM_ROOT_MONITOR },
	[ROOT_THREAD_OBJ] = { HEAP_STREAM_ROOT_THREAD, true, false, 2, 0 },
};

static void note_thread(struct hprof_reader *r, uint32_t serial, uint64_t object)
{
	struct heap *heap = r->heap;

	r->thread_objects = xgrow(r->thread_objects, heap->n_threads, &r->cap_thread_objects,
				  sizeof(*r->thread_objects));
	r->thread_objects[heap->n_threads] = object;
	heap_add_thread(heap, serial, NULL);
}

static ssize_t take_root(struct hprof_reader *r, unsigned kind, const uint8_t *p, size_t len,
			 struct err *err)
{
	const unsigned id = r->id_size;
	const size_t size = id * (1u + roots[kind].ids) + 4u * roots[kind].words;
	struct heap_stream_record record = { .kind = HEAP_STREAM_ROOT, .root = roots[kind].root };

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
		/* check after each root, because each can copy the name of a class or method */
		if (hprof_check_memory(r, err) < 0)
			return -1;
	}
	if (kind == ROOT_THREAD_OBJ)
		note_thread(r, (uint32_t)record.thread, record.address);
	if (record.address && hprof_write(r, &record, err) < 0)
		return -1;
	return (ssize_t)size;
}

static void add_to_sample(struct hprof_reader *r, const struct hprof_sampled *seen)
{
	struct hprof_sample *s = &r->sample;

	if (object_layout_is_known(&r->wants.layout) || s->n >= HPROF_SAMPLE_MAX)
		return;
	s->list = xgrow(s->list, s->n, &s->cap, sizeof(*s->list));
	s->list[s->n++] = *seen;
}

/* Counts an object, and writes a record with its address, class and size to the heap stream. */
static int write_object(struct hprof_reader *r, uint64_t address, uint32_t class, uint64_t size,
			int64_t length, struct err *err)
{
	struct hprof_count *count = &r->classes.list[class].count;
	struct heap_stream_record record = { .kind = HEAP_STREAM_OBJECT,
					     .address = address,
					     .class = class };

	r->objects++;
	count->instances++;
	count->bytes += size;
	if (!r->out.buf)
		return 0;
	if (class == r->classes.class_class)
		/*
		 * Classes are dumped as CLASS_DUMP, so this java.lang.Class represents a primitive
		 * type.
		 */
		record.kind = HEAP_STREAM_MIRROR;
	if (hprof_write(r, &record, err) < 0)
		return -1;
	record = (struct heap_stream_record){
		.kind = HEAP_STREAM_SIZE,
		.address = address,
		.size = size,
		.is_array = length >= 0,
		.length = length >= 0 ? (uint32_t)length : 0,
	};
	return hprof_write(r, &record, err);
}

/*
 * If the object is a class loader, records its class.  If the object is a Thread or a String and
 * names are wanted, records its fields.
 */
static void note_instance(struct hprof_reader *r, const struct hprof_instance *in, uint32_t class,
			  uint64_t address, const uint8_t *data)
{
	struct id_map *of_loaders = &r->classes.of_loaders;
	struct hprof_names *names = r->wants.names;

	if (in->is_loader && id_map_get(of_loaders, address) == HPROF_LOADER_UNKNOWN)
		id_map_set(of_loaders, address, class);
	if (!names)
		return;
	if (in->is_thread && in->name_at != HPROF_NO_FIELD)
		hprof_names_thread(names, address, hprof_get(data + in->name_at, r->id_size),
				   in->tid_at != HPROF_NO_FIELD ? hprof_get(data + in->tid_at, 8)
								: 0);
	if (in->is_string && in->value_at != HPROF_NO_FIELD)
		hprof_names_string(names, address, hprof_get(data + in->value_at, r->id_size),
				   in->coder_at != HPROF_NO_FIELD && data[in->coder_at] != 0);
}

static int write_fields(struct hprof_reader *r, const struct hprof_instance *in,
			const uint8_t *data, struct err *err)
{
	struct heap_stream_record record = { 0 };

	for (size_t i = 0; i < in->n_refs; i++) {
		const struct hprof_ref *ref = &in->refs[i];

		record.address = hprof_get(data + ref->at, r->id_size);
		record.kind = ref->is_referent ? HEAP_STREAM_REFERENT : HEAP_STREAM_FIELD;
		record.index = ref->index;
		if (record.address && hprof_write(r, &record, err) < 0)
			return -1;
	}
	return 0;
}

static uint64_t instance_size(const struct object_layout *l, const struct hprof_class *k,
			      const uint8_t *data)
{
	const uint32_t stack_at = k->instance.stack_at;

	if (stack_at == HPROF_NO_FIELD || !object_layout_is_known(l))
		return k->shape.size;
	return object_layout_stack_chunk(l, &k->shape, (uint32_t)hprof_get(data + stack_at, 4));
}

static ssize_t take_instance(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	const size_t head = 2 * (size_t)r->id_size + 8;
	const uint8_t *data = p + head;
	const struct hprof_instance *in;
	uint64_t address, size;
	uint32_t class, n;

	if (len < head)
		return 0;
	n = (uint32_t)hprof_get(p + head - 4, 4);
	address = hprof_get(p, r->id_size);
	class = id_map_get(&r->classes.ids, hprof_get(p + r->id_size + 4, r->id_size));
	if (class == ID_MAP_NONE)
		return hprof_invalid(r, err, "an instance of an unknown class");
	in = &r->classes.list[class].instance;
	if (!in->known && hprof_prepare_instances(r, class, n, err) < 0)
		return -1;
	/* compare before waiting for n bytes, because n is not trusted */
	if (n != in->data_len)
		return hprof_bad_instance(r, class, n, err);
	if (len - head < n)
		return 0;
	if (in->stack_at == HPROF_NO_FIELD)
		add_to_sample(r, &(struct hprof_sampled){ .address = address, .class = class });
	size = instance_size(&r->wants.layout, &r->classes.list[class], data);
	if (write_object(r, address, class, size, -1, err) < 0)
		return -1;
	if (in->is_loader || in->is_thread || in->is_string)
		note_instance(r, in, class, address, data);
	if (r->out.buf && class != r->classes.class_class && write_fields(r, in, data, err) < 0)
		return -1;
	return (ssize_t)(head + n);
}

static uint64_t array_size(const struct hprof_reader *r, unsigned element, uint32_t n)
{
	return object_layout_is_known(&r->wants.layout)
		       ? object_layout_array(&r->wants.layout, element, n)
		       : 0;
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
	class = id_map_get(&r->classes.ids, hprof_get(p + r->id_size + 8, r->id_size));
	if (class == ID_MAP_NONE)
		return hprof_invalid(r, err, "an array of an unknown class");
	if (head + 1 + (uint64_t)n * r->id_size > r->in.segment)
		return hprof_invalid(r, err, "an array is longer than its segment");
	add_to_sample(r, &(struct hprof_sampled){ address, class, n, HPROF_SAMPLED_REFS });
	size = array_size(r, r->wants.layout.reference, n);
	if (write_object(r, address, class, size, n, err) < 0)
		return -1;
	r->in.element = 0;
	r->in.n_elements = n;
	if (!r->out.buf)
		r->in.skip = (uint64_t)n * r->id_size;
	else if (n)
		r->in.state = AT_ELEMENTS;
	return (ssize_t)head;
}

ssize_t hprof_take_elements(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	struct hprof_input *in = &r->in;
	const uint8_t *at = p;

	while (in->element < in->n_elements && (size_t)(p + len - at) >= r->id_size) {
		const struct heap_stream_record record = {
			.kind = HEAP_STREAM_ELEMENT,
			.address = hprof_get(at, r->id_size),
			.index = in->element++,
		};

		if (record.address && hprof_write(r, &record, err) < 0)
			return -1;
		at += r->id_size;
	}
	if (in->element == in->n_elements)
		in->state = AT_SUBRECORD;
	return at - p;
}

static int write_text(struct hprof_reader *r, uint64_t address, const uint8_t *data, size_t len,
		      bool is_chars, struct err *err)
{
	const struct heap_stream_record record = {
		.kind = HEAP_STREAM_TEXT,
		.address = address,
		.form = is_chars ? HEAP_STREAM_UTF16 : HEAP_STREAM_BYTES,
		.text = data,
		.text_len = (uint32_t)(len < HEAP_STREAM_TEXT_MAX ? len : HEAP_STREAM_TEXT_MAX),
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
	size_t head_len = 0;

	if (len < head)
		return 0;
	address = hprof_get(p, r->id_size);
	n = (uint32_t)hprof_get(p + r->id_size + 4, 4);
	type = p[r->id_size + 8];
	size = hprof_type_size(type, r->id_size);
	if (size == 0 || type == HPROF_OBJECT)
		return hprof_invalid(r, err, "an array of an unknown type");
	bytes = (uint64_t)n * size;
	if (head + 1 + bytes > r->in.segment)
		return hprof_invalid(r, err, "an array is longer than its segment");
	is_text = type == HPROF_BYTE || type == HPROF_CHAR;
	wants_text = is_text && r->out.buf && r->wants.texts_from && n >= r->wants.texts_from;
	if (wants_text || (is_text && r->wants.names))
		head_len = bytes < HPROF_NAME_MAX ? (size_t)bytes : HPROF_NAME_MAX;
	if (len - head < head_len)
		return 0;
	class = hprof_array_class(r, (enum hprof_type)type);
	add_to_sample(r, &(struct hprof_sampled){ address, class, n, (uint8_t)size });
	if (write_object(r, address, class, array_size(r, size, n), n, err) < 0)
		return -1;
	if (wants_text && write_text(r, address, p + head, head_len, type == HPROF_CHAR, err) < 0)
		return -1;
	if (head_len && r->wants.names)
		hprof_names_array(r->wants.names, address, p + head, head_len, type == HPROF_CHAR);
	r->in.skip = bytes - head_len;
	return (ssize_t)(head + head_len);
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
		return hprof_invalid(r, err, "unknown heap record tag 0x%02x", tag);
	if (!r->classes.complete && hprof_write_classes(r, err) < 0)
		return -1;
	if (tag == INSTANCE_DUMP)
		return take_instance(r, p, len, err);
	return tag == OBJ_ARRAY_DUMP ? take_object_array(r, p, len, err)
				     : take_primitive_array(r, p, len, err);
}
