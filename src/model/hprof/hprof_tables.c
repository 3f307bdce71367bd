/* The records before and between heap dumps: names, classes, stacks. */
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof_parts.h"
#include "model/typename.h"

#define TEXTS_MAX (1u << 30) /* of all names; a compressed file can have any number of bytes */

enum {
	TAG_UTF8 = 0x01,
	TAG_LOAD_CLASS = 0x02,
	TAG_FRAME = 0x04,
	TAG_TRACE = 0x05,
};

const char *hprof_symbol(const struct hprof_reader *r, uint64_t id, size_t *len)
{
	uint32_t number = idmap_get(&r->symbol_ids, id);

	if (number == IDMAP_NONE)
		return NULL;
	*len = r->symbols[number].len;
	return r->texts.data + r->symbols[number].at;
}

static int take_symbol(struct hprof_reader *r, const uint8_t *p, size_t len)
{
	uint32_t number;

	if (len < r->id_size)
		return -1;
	number = idmap_add(&r->symbol_ids, hprof_get(p, r->id_size), (uint32_t)r->n_symbols);
	if (number < r->n_symbols) /* told before */
		return 0;
	r->symbols = xgrow(r->symbols, r->n_symbols, &r->cap_symbols, sizeof(*r->symbols));
	r->symbols[r->n_symbols++] = (struct hprof_symbol){ r->texts.len, len - r->id_size };
	buf_add(&r->texts, p + r->id_size, len - r->id_size);
	return 0;
}

uint32_t hprof_class_number(struct hprof_reader *r, uint64_t id)
{
	uint32_t number = idmap_add(&r->class_ids, id, (uint32_t)r->n_classes);
	struct heap *heap = r->heap;

	if (number < r->n_classes)
		return number;
	r->classes = xgrow(r->classes, r->n_classes, &r->cap_classes, sizeof(*r->classes));
	r->classes[r->n_classes] = (struct hprof_class)HPROF_CLASS_INIT;
	r->classes[r->n_classes++].id = id;
	heap->classes = xgrow(heap->classes, heap->n_classes, &heap->cap_classes,
			      sizeof(*heap->classes));
	heap->classes[heap->n_classes++] = (struct heap_class){ 0 };
	return number;
}

/*
 * "java/lang/String" or "[I" in Java's form.  The name of a hidden class ends in a dot and an
 * address in signatures, in a plus sign and an address in the JVM's own tables.
 */
static char *class_name(const char *symbol, size_t len)
{
	_cleanup_buf_ struct buf signature = BUF_INIT;
	struct buf name = BUF_INIT;
	char *plus;

	if (len && symbol[0] == '[') {
		buf_add(&signature, symbol, len);
	} else {
		buf_addc(&signature, 'L');
		buf_add(&signature, symbol, len);
		buf_addc(&signature, ';');
	}
	plus = memrchr(signature.data, '+', signature.len);
	if (plus && strncmp(plus, "+0x", 3) == 0)
		*plus = '.';
	if (typename_java(&name, signature.data, signature.len) < 0) {
		buf_release(&name);
		return NULL;
	}
	return buf_take(&name);
}

static const char *const array_names[HPROF_TYPES] = {
	[HPROF_BOOLEAN] = "boolean[]", [HPROF_CHAR] = "char[]",
	[HPROF_FLOAT] = "float[]",     [HPROF_DOUBLE] = "double[]",
	[HPROF_BYTE] = "byte[]",       [HPROF_SHORT] = "short[]",
	[HPROF_INT] = "int[]",         [HPROF_LONG] = "long[]",
};

static void note_array(struct hprof_reader *r, uint32_t class, const char *name)
{
	for (unsigned i = 0; i < HPROF_TYPES; i++) {
		if (array_names[i] && strcmp(name, array_names[i]) == 0)
			r->arrays[i] = class;
	}
}

static int take_class_name(struct hprof_reader *r, const uint8_t *p, size_t len)
{
	const char *symbol;
	struct heap_class *c;
	uint32_t number;
	size_t symbol_len;

	if (len < 8 + 2 * (size_t)r->id_size)
		return -1;
	number = hprof_class_number(r, hprof_get(p + 4, r->id_size));
	(void)idmap_add(&r->class_serials, hprof_get(p, 4), number);
	symbol = hprof_symbol(r, hprof_get(p + 8 + r->id_size, r->id_size), &symbol_len);
	c = &r->heap->classes[number];
	if (!symbol || c->name)
		return 0;
	c->name = class_name(symbol, symbol_len);
	if (!c->name)
		return 0;
	note_array(r, number, c->name);
	if (strcmp(c->name, "java.lang.Class") == 0)
		r->class_class = number;
	return 0;
}

/* For arrays of primitives, whose class a dump does not tell. */
uint32_t hprof_array_class(struct hprof_reader *r, enum hprof_type type)
{
	uint32_t number = r->arrays[type];

	if (number != GRAPH_NONE)
		return number;
	number = hprof_class_number(r, type); /* no object is there */
	r->heap->classes[number].name = xstrdup(array_names[type]);
	r->arrays[type] = number;
	return number;
}

static int take_frame(struct hprof_reader *r, const uint8_t *p, size_t len)
{
	uint32_t number;

	if (len < 4 * (size_t)r->id_size + 8)
		return -1;
	number = idmap_add(&r->frame_ids, hprof_get(p, r->id_size), (uint32_t)r->n_frames);
	if (number < r->n_frames)
		return 0;
	r->frames = xgrow(r->frames, r->n_frames, &r->cap_frames, sizeof(*r->frames));
	r->frames[r->n_frames++] = (struct hprof_frame){
		.name = hprof_get(p + r->id_size, r->id_size),
		.serial = (uint32_t)hprof_get(p + 4 * r->id_size, 4),
	};
	return 0;
}

/* One a thread: the trace without a thread is what allocated everything, "unknown". */
static int take_trace(struct hprof_reader *r, const uint8_t *p, size_t len)
{
	struct hprof_trace trace = { 0 };
	uint32_t number;

	if (len < 12)
		return -1;
	trace.n = (uint32_t)hprof_get(p + 8, 4);
	if ((len - 12) / r->id_size < trace.n)
		return -1;
	number = idmap_add(&r->thread_traces, hprof_get(p + 4, 4), (uint32_t)r->n_traces);
	if (number < r->n_traces)
		return 0;
	trace.frames = xreallocarray(NULL, trace.n ? trace.n : 1, sizeof(*trace.frames));
	for (uint32_t i = 0; i < trace.n; i++)
		trace.frames[i] = idmap_get(&r->frame_ids,
					    hprof_get(p + 12 + (size_t)i * r->id_size,
						      r->id_size));
	r->traces = xgrow(r->traces, r->n_traces, &r->cap_traces, sizeof(*r->traces));
	r->traces[r->n_traces++] = trace;
	return 0;
}

static uint32_t new_method(struct hprof_reader *r, const struct hprof_frame *frame)
{
	uint32_t class = idmap_get(&r->class_serials, frame->serial);
	struct heap *heap = r->heap;
	size_t len;
	const char *name = hprof_symbol(r, frame->name, &len);

	if (!name || class == IDMAP_NONE)
		return 0;
	heap->methods = xgrow(heap->methods, heap->n_methods, &heap->cap_methods,
			      sizeof(*heap->methods));
	heap->methods[heap->n_methods++] = (struct heap_method){
		.class = xstrdup(heap_class_name(heap, class)),
		.name = xstrndup(name, len),
	};
	return (uint32_t)heap->n_methods;
}

uint32_t hprof_method(struct hprof_reader *r, uint32_t thread_serial, uint32_t depth)
{
	uint32_t trace = idmap_get(&r->thread_traces, thread_serial);
	const struct hprof_frame *frame;
	uint64_t key;
	uint32_t number;

	if (trace == IDMAP_NONE || depth >= r->traces[trace].n ||
	    r->traces[trace].frames[depth] == IDMAP_NONE)
		return 0;
	frame = &r->frames[r->traces[trace].frames[depth]];
	key = frame->name ^ (uint64_t)frame->serial << 48; /* addresses of symbols end before */
	number = idmap_get(&r->methods, key);
	if (number != IDMAP_NONE)
		return number;
	return idmap_add(&r->methods, key, new_method(r, frame));
}

int hprof_take_record(struct hprof_reader *r, unsigned tag, const uint8_t *p, size_t len,
		      struct err *err)
{
	int rc = 0;

	if (r->texts.len > TEXTS_MAX)
		return hprof_senseless(r, err, "more than 1 GB of names");
	if (tag == TAG_UTF8)
		rc = take_symbol(r, p, len);
	else if (tag == TAG_LOAD_CLASS)
		rc = take_class_name(r, p, len);
	else if (tag == TAG_FRAME)
		rc = take_frame(r, p, len);
	else if (tag == TAG_TRACE)
		rc = take_trace(r, p, len);
	return rc == 0 ? 0 : hprof_senseless(r, err, "a record that is too short for its tag");
}
