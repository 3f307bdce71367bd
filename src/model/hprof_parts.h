/*
 * Private to the reader of heap dumps: what its parts share.
 */
#ifndef JTOOL_MODEL_HPROF_PARTS_H
#define JTOOL_MODEL_HPROF_PARTS_H

#include "model/hprof_names.h"
#include "model/hprof_read.h"
#include "model/idmap.h"

/* What a field or an element is, as dumps number it. */
enum hprof_type {
	HPROF_OBJECT = 2,
	HPROF_BOOLEAN = 4,
	HPROF_CHAR,
	HPROF_FLOAT,
	HPROF_DOUBLE,
	HPROF_BYTE,
	HPROF_SHORT,
	HPROF_INT,
	HPROF_LONG,
	HPROF_TYPES,
};

/* A field that a class declares; of a static one that refers to something, what it refers to. */
struct hprof_field {
	uint64_t name, value;
	enum hprof_type type;
};

/* A reference in an instance's bytes. */
struct hprof_ref {
	uint32_t at;    /* where */
	uint32_t index; /* of the field; of a referent its strength */
	bool is_referent;
};

struct hprof_class {
	uint64_t id; /* its java.lang.Class; 0: not told */
	uint64_t super, loader, signers, domain;
	struct hprof_field *fields, *statics; /* own ones */
	uint32_t n_fields, n_statics;
	struct layout_fields kinds, static_kinds; /* how many of them */
	bool dumped; /* CLASS_DUMP came */
	bool ready;  /* all below is there */
	bool is_loader, is_thread, is_string;
	uint32_t data_len; /* bytes of an instance in the dump */
	struct hprof_ref *refs;
	size_t n_refs, cap_refs;
	/* Where in its data, or NO_PLACE. */
	uint32_t name_at, tid_at;    /* of a Thread */
	uint32_t value_at, coder_at; /* of a String */
	uint32_t stack_at;          /* of a StackChunk: the words of its stack */
	struct layout_shape shape;
	struct hprof_count count;
};
#define NO_PLACE UINT32_MAX
#define LOADER_UNMET (IDMAP_NONE - 1)
#define HPROF_CLASS_INIT \
	{ .name_at = NO_PLACE, .tid_at = NO_PLACE, .value_at = NO_PLACE,                          \
	  .coder_at = NO_PLACE, .stack_at = NO_PLACE }

struct hprof_symbol {
	size_t at, len; /* in texts */
};

struct hprof_frame {
	uint64_t name;   /* symbol */
	uint32_t serial; /* of the class */
};

struct hprof_trace {
	uint32_t *frames; /* numbers, the innermost first */
	uint32_t n;
};

/* One object as a look at the heap has it. */
struct hprof_seen {
	uint64_t address;
	uint32_t class;
	uint32_t length; /* of an array */
	uint8_t element; /* bytes of an element; 0: no array; HPROF_SEEN_REFS: references */
};
#define HPROF_SEEN_REFS 255

enum hprof_state {
	AT_HEADER,
	AT_RECORD,
	AT_SUBRECORD,
	AT_ELEMENTS, /* of an array of objects */
};

struct hprof_reader {
	struct heap *heap;
	struct hprof_wants wants;

	enum hprof_state state;
	uint64_t fed;     /* bytes */
	uint64_t at;      /* that were understood */
	uint64_t skip;    /* bytes to pass over */
	uint64_t segment; /* bytes that are left of the heap dump segment */
	struct buf carry; /* what is not whole yet */
	unsigned id_size;
	bool segmented, in_dump, ended;
	bool met; /* the first object: classes are complete */
	uint32_t element, n_elements; /* AT_ELEMENTS */

	struct buf texts;
	struct hprof_symbol *symbols;
	size_t n_symbols, cap_symbols;
	struct hprof_frame *frames;
	size_t n_frames, cap_frames;
	struct hprof_trace *traces;
	size_t n_traces, cap_traces;
	/* by identifier or serial number: numbers in the arrays above, and in heap */
	struct idmap symbol_ids, class_ids, class_serials, frame_ids, thread_traces, methods;
	struct idmap loader_classes; /* loader objects -> class, or LOADER_UNMET */

	struct hprof_class *classes; /* as the heap's, n_classes of them are valid */
	size_t n_classes, cap_classes;
	uint32_t class_class;
	uint32_t arrays[HPROF_TYPES]; /* classes of primitive arrays; GRAPH_NONE */
	uint64_t objects;
	uint64_t *thread_objects; /* as the heap's threads */
	size_t cap_thread_objects;

	struct tape_place place;
	uint8_t *tape;
	size_t tape_len;

	struct hprof_seen *seen;
	size_t n_seen, cap_seen;
};

uint64_t hprof_get(const uint8_t *p, unsigned bytes);
/* "the dump makes no sense at byte N: …" */
int hprof_senseless(const struct hprof_reader *r, struct err *err, const char *fmt, ...)
	_printf_(3, 4);
/* Bytes of a value; 0: there is no such type. */
unsigned hprof_type_size(const struct hprof_reader *r, unsigned type);

/* The record at p, all of it: names, classes and stacks; of another tag: nothing. */
int hprof_take_record(struct hprof_reader *r, unsigned tag, const uint8_t *p, size_t len,
		      struct err *err) _must_check_;
/* NULL: it was not told. */
const char *hprof_symbol(const struct hprof_reader *r, uint64_t id, size_t *len);
/* Allocated, and cut off when it is very long; NULL for one that refers to nothing. */
char *hprof_field_name(const struct hprof_reader *r, const struct hprof_field *f);
/* Is this static field none, but what the JVM keeps with the class? */
bool hprof_is_pseudo(const struct hprof_reader *r, const struct hprof_class *k, uint32_t i);
bool hprof_field_is(const struct hprof_reader *r, const struct hprof_field *f, const char *name);
/* The number of the method in this frame of a thread, for roots; 0: not known. */
uint32_t hprof_method(struct hprof_reader *r, uint32_t thread_serial, uint32_t depth);
/* The class with this java.lang.Class, new when it was not told of. */
uint32_t hprof_class_number(struct hprof_reader *r, uint64_t id);
uint32_t hprof_array_class(struct hprof_reader *r, enum hprof_type type);

/* What begins at p, after its tag: bytes that it took, 0: it is not all there, or -1. */
ssize_t hprof_take_class(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err);
ssize_t hprof_take_sub(struct hprof_reader *r, unsigned tag, const uint8_t *p, size_t len,
		       struct err *err);
ssize_t hprof_take_elements(struct hprof_reader *r, const uint8_t *p, size_t len,
			    struct err *err);

/* Fields and references of a class's instances, of which one with so many bytes is there. */
int hprof_make_ready(struct hprof_reader *r, uint32_t class, uint32_t data_len, struct err *err)
	_must_check_;
int hprof_too_deep(const struct hprof_reader *r, uint32_t class, struct err *err);
int hprof_bad_instance(const struct hprof_reader *r, uint32_t class, uint32_t data_len,
		       struct err *err);
/* All classes are there: tell the fields, and write what the class objects refer to. */
int hprof_meet(struct hprof_reader *r, struct err *err) _must_check_;
/* Labels of loaders, once their classes were met. */
void hprof_name_loaders(struct hprof_reader *r);
/* By a layout: its shape and those of its superclasses. */
int hprof_shape(struct hprof_reader *r, const struct layout *l, uint32_t class,
		struct layout_shape *shapes, bool *shaped) _must_check_;

int hprof_write(struct hprof_reader *r, const struct tape_record *record, struct err *err)
	_must_check_;

#endif
