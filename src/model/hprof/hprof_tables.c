/* Parses the records that are not in heap dump segments: names, classes and stacks. */
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"
#include "model/class/type_name.h"

/* limit in bytes for a field's copy of its name, because many fields could have one huge name */
#define NAME_SHOWN 256
/* maximum length in bytes of a HotSpot Symbol (symbol.hpp, Symbol::max_length) */
#define SYMBOL_MAX 65535
/* limit in bytes for all names, because a compressed dump can expand to any size */
#define TEXTS_MAX (1u << 30)

enum {
	TAG_UTF8 = 0x01,
	TAG_LOAD_CLASS = 0x02,
	TAG_FRAME = 0x04,
	TAG_TRACE = 0x05,
};

void hprof_tables_release(struct hprof_tables *t)
{
	for (size_t i = 0; i < t->n_traces; i++)
		free(t->traces[i].frames);
	free(t->symbols);
	free(t->frames);
	free(t->traces);
	buf_release(&t->texts);
	id_map_release(&t->symbol_ids);
	id_map_release(&t->frame_ids);
	id_map_release(&t->thread_traces);
	id_map_release(&t->class_serials);
	id_map_release(&t->methods);
}

const char *hprof_symbol(const struct hprof_tables *t, uint64_t id, size_t *len)
{
	uint32_t number = id_map_get(&t->symbol_ids, id);

	if (number == ID_MAP_NONE)
		return NULL;
	*len = t->symbols[number].len;
	return t->texts.data + t->symbols[number].at;
}

bool hprof_field_is(const struct hprof_tables *t, const struct hprof_field *f, const char *name)
{
	size_t len;
	const char *text = hprof_symbol(t, f->name, &len);

	return text && len == strlen(name) && memcmp(text, name, len) == 0;
}

char *hprof_field_name(const struct hprof_tables *t, const struct hprof_field *f)
{
	size_t len;
	const char *text = f->type == HPROF_OBJECT ? hprof_symbol(t, f->name, &len) : NULL;

	return text ? xstrndup(text, len < NAME_SHOWN ? len : NAME_SHOWN) : NULL;
}

static int too_short(struct hprof_reader *r, struct err *err)
{
	return hprof_invalid(r, err, "a record is too short for its tag");
}

static int take_symbol(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	struct hprof_tables *t = &r->tables;
	const unsigned id_size = r->id_size;
	uint32_t number;

	if (len < id_size)
		return too_short(r, err);
	if (len - id_size > SYMBOL_MAX)
		return hprof_invalid(r, err, "a name of %zu bytes is too long", len - id_size);
	number = id_map_add(&t->symbol_ids, hprof_get(p, id_size), (uint32_t)t->n_symbols);
	if (number < t->n_symbols) /* a symbol with this id exists already */
		return 0;
	t->symbols = xgrow(t->symbols, t->n_symbols, &t->cap_symbols, sizeof(*t->symbols));
	t->symbols[t->n_symbols++] = (struct hprof_symbol){ t->texts.len, len - id_size };
	buf_add(&t->texts, p + id_size, len - id_size);
	return 0;
}

uint32_t hprof_class_number(struct hprof_reader *r, uint64_t id)
{
	struct hprof_classes *c = &r->classes;
	uint32_t number = id_map_add(&c->ids, id, (uint32_t)c->n);
	struct heap *heap = r->heap;

	if (number < c->n)
		return number;
	c->list = xgrow(c->list, c->n, &c->cap, sizeof(*c->list));
	c->list[c->n] = (struct hprof_class)HPROF_CLASS_INIT;
	c->list[c->n++].id = id;
	heap->classes = xgrow(heap->classes, heap->n_classes, &heap->cap_classes,
			      sizeof(*heap->classes));
	heap->classes[heap->n_classes++] = (struct heap_class){ 0 };
	return number;
}

/*
 * Returns the Java name for a class symbol such as "java/lang/String" or "[I".  The caller frees
 * the name.  The symbol of a hidden class ends with "+0xADDRESS", its signature with ".0xADDRESS".
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
	if (type_name_java(&name, signature.data, signature.len) < 0) {
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
			r->classes.arrays[i] = class;
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
	(void)id_map_add(&r->tables.class_serials, hprof_get(p, 4), number);
	symbol = hprof_symbol(&r->tables, hprof_get(p + 8 + r->id_size, r->id_size), &symbol_len);
	c = &r->heap->classes[number];
	if (!symbol || c->name)
		return 0;
	c->name = class_name(symbol, symbol_len);
	if (!c->name)
		return 0;
	hprof_charge(r, strlen(c->name));
	note_array(r, number, c->name);
	if (strcmp(c->name, "java.lang.Class") == 0)
		r->classes.class_class = number;
	return 0;
}

/*
 * Returns the number of the array class of this primitive type.  Adds the class if the dump has no
 * record for it.
 */
uint32_t hprof_array_class(struct hprof_reader *r, enum hprof_type type)
{
	uint32_t number = r->classes.arrays[type];

	if (number != GRAPH_NONE)
		return number;
	/* The class gets the type's number as its address, because no object has that address. */
	number = hprof_class_number(r, type);
	r->heap->classes[number].name = xstrdup(array_names[type]);
	r->classes.arrays[type] = number;
	return number;
}

static int take_frame(struct hprof_tables *t, unsigned id_size, const uint8_t *p, size_t len)
{
	uint32_t number;

	if (len < 4 * (size_t)id_size + 8)
		return -1;
	number = id_map_add(&t->frame_ids, hprof_get(p, id_size), (uint32_t)t->n_frames);
	if (number < t->n_frames)
		return 0;
	t->frames = xgrow(t->frames, t->n_frames, &t->cap_frames, sizeof(*t->frames));
	t->frames[t->n_frames++] = (struct hprof_frame){
		.name = hprof_get(p + id_size, id_size),
		.serial = (uint32_t)hprof_get(p + 4 * id_size, 4),
	};
	return 0;
}

/*
 * Stores the stack trace of a record, unless the record's thread has one already.  HotSpot writes
 * one trace for each thread, and an empty one for thread 0, the allocation trace of all objects.
 */
static int take_trace(struct hprof_reader *r, const uint8_t *p, size_t len)
{
	struct hprof_tables *t = &r->tables;
	const unsigned id_size = r->id_size;
	struct hprof_trace trace = { 0 };
	uint32_t number;

	if (len < 12)
		return -1;
	trace.n = (uint32_t)hprof_get(p + 8, 4);
	if ((len - 12) / id_size < trace.n)
		return -1;
	number = id_map_add(&t->thread_traces, hprof_get(p + 4, 4), (uint32_t)t->n_traces);
	if (number < t->n_traces)
		return 0;
	hprof_charge(r, trace.n * sizeof(*trace.frames));
	trace.frames = xreallocarray(NULL, trace.n ? trace.n : 1, sizeof(*trace.frames));
	for (uint32_t i = 0; i < trace.n; i++)
		trace.frames[i] = id_map_get(&t->frame_ids,
					     hprof_get(p + 12 + (size_t)i * id_size, id_size));
	t->traces = xgrow(t->traces, t->n_traces, &t->cap_traces, sizeof(*t->traces));
	t->traces[t->n_traces++] = trace;
	return 0;
}

static uint32_t new_method(struct hprof_reader *r, const struct hprof_frame *frame)
{
	uint32_t class = id_map_get(&r->tables.class_serials, frame->serial);
	struct heap *heap = r->heap;
	size_t len;
	const char *name = hprof_symbol(&r->tables, frame->name, &len);

	if (!name || class == ID_MAP_NONE)
		return 0;
	heap->methods = xgrow(heap->methods, heap->n_methods, &heap->cap_methods,
			      sizeof(*heap->methods));
	hprof_charge(r, strlen(heap_class_name(heap, class)) + len);
	heap->methods[heap->n_methods++] = (struct heap_method){
		.class = xstrdup(heap_class_name(heap, class)),
		.name = xstrndup(name, len),
	};
	return (uint32_t)heap->n_methods;
}

uint32_t hprof_method(struct hprof_reader *r, uint32_t thread_serial, uint32_t depth)
{
	struct hprof_tables *t = &r->tables;
	uint32_t trace = id_map_get(&t->thread_traces, thread_serial);
	const struct hprof_frame *frame;
	uint64_t key;
	uint32_t number;

	if (trace == ID_MAP_NONE || depth >= t->traces[trace].n ||
	    t->traces[trace].frames[depth] == ID_MAP_NONE)
		return 0;
	frame = &t->frames[t->traces[trace].frames[depth]];
	/* The key has the index of the name in t->symbols, and the serial number of the class. */
	key = (uint64_t)id_map_get(&t->symbol_ids, frame->name) << 32 | frame->serial;
	number = id_map_get(&t->methods, key);
	if (number != ID_MAP_NONE)
		return number;
	return id_map_add(&t->methods, key, new_method(r, frame));
}

int hprof_take_record(struct hprof_reader *r, unsigned tag, const uint8_t *p, size_t len,
		      struct err *err)
{
	int rc = 0;

	if (r->tables.texts.len > TEXTS_MAX)
		return hprof_invalid(r, err, "it has more than 1 GB of names");
	if (tag == TAG_UTF8)
		return take_symbol(r, p, len, err);
	if (tag == TAG_LOAD_CLASS)
		rc = take_class_name(r, p, len);
	else if (tag == TAG_FRAME)
		rc = take_frame(&r->tables, r->id_size, p, len);
	else if (tag == TAG_TRACE)
		rc = take_trace(r, p, len);
	if (rc < 0)
		return too_short(r, err);
	/* check after each record, because many short records can copy one long name */
	return hprof_check_memory(r, err);
}
