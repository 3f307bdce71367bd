/* The data and functions that the source files of the heap dump reader share. */
#ifndef JTOOL_MODEL_HPROF_HPROF_INTERNAL_H
#define JTOOL_MODEL_HPROF_HPROF_INTERNAL_H

#include "model/hprof/hprof_names.h"
#include "model/hprof/hprof_read.h"
#include "base/id_map.h"

/* The types of fields and array elements, with the numbers that HPROF gives them. */
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

/*
 * Maximum number of superclasses of a class; real classes have far fewer.  In an invalid dump,
 * superclasses may be circular.
 */
#define HPROF_CHAIN_MAX 1024

/*
 * A declared field.  name: id of the symbol with the field's name.  value: address of the object to
 * which a static field refers; unused for other fields.
 */
struct hprof_field {
	uint64_t name, value;
	enum hprof_type type;
};

/* A reference field of an instance. */
struct hprof_ref {
	uint32_t at;    /* offset of the field's value in the data of an INSTANCE_DUMP */
	/* number of the field; if is_referent: an enum heap_stream_strength instead */
	uint32_t index;
	bool is_referent; /* the field is Reference.referent */
};

/* The fields that a class itself declares. */
struct hprof_fields {
	struct hprof_field *list;
	uint32_t n;
	struct object_layout_fields kinds; /* number of fields of each kind */
};

/* The layout of the field values (the data) in the INSTANCE_DUMP of each instance of a class. */
struct hprof_instance {
	bool known; /* the members below are set */
	bool is_loader, is_thread, is_string;
	uint32_t data_len; /* length of the data in bytes */
	struct hprof_ref *refs;
	size_t n_refs, cap_refs;
	/* offsets of certain fields in the data; HPROF_NO_FIELD: the class has no such field */
	uint32_t name_at, tid_at;    /* in java.lang.Thread */
	uint32_t value_at, coder_at; /* in java.lang.String */
	/* in StackChunk: the field `size`, which is the size of the stack in words */
	uint32_t stack_at;
};
#define HPROF_NO_FIELD UINT32_MAX

struct hprof_class {
	uint64_t id; /* address of the class's java.lang.Class; 0: unknown */
	uint64_t super, loader, signers, domain; /* addresses of these objects; 0: none */
	bool dumped; /* the CLASS_DUMP was read; the members from `super` to `statics` are set */
	struct hprof_fields fields, statics;
	struct hprof_instance instance;
	struct object_layout_shape shape;
	struct hprof_count count;
};
#define HPROF_CLASS_INIT                                                                           \
	{ .instance = { .name_at = HPROF_NO_FIELD, .tid_at = HPROF_NO_FIELD,                       \
			.value_at = HPROF_NO_FIELD, .coder_at = HPROF_NO_FIELD,                    \
			.stack_at = HPROF_NO_FIELD } }

struct hprof_classes {
	struct hprof_class *list; /* list[i] belongs to heap->classes[i] */
	size_t n, cap;
	struct id_map ids;            /* address of the java.lang.Class -> index in `list` */
	bool complete; /* the first object was read, so a CLASS_DUMP from now on is an error */
	uint32_t class_class; /* number of the class java.lang.Class; GRAPH_NONE: not read yet */
	/* for each primitive type: number of the class of its arrays; GRAPH_NONE: not added yet */
	uint32_t arrays[HPROF_TYPES];
	/* address of a loader -> number of the loader object's class, or HPROF_LOADER_UNKNOWN */
	struct id_map of_loaders;
};
#define HPROF_LOADER_UNKNOWN (ID_MAP_NONE - 1)

struct hprof_symbol {
	size_t at, len; /* bytes of the symbol in hprof_tables.texts */
};

struct hprof_frame {
	uint64_t name;   /* symbol id */
	uint32_t serial; /* serial number of the method's class */
};

struct hprof_trace {
	uint32_t *frames; /* indices in hprof_tables.frames, innermost first */
	uint32_t n;
};

/*
 * The definitions in the records before the first heap dump segment.  Other records refer to them
 * by identifier or by serial number.
 */
struct hprof_tables {
	struct buf texts;
	struct hprof_symbol *symbols;
	size_t n_symbols, cap_symbols;
	struct hprof_frame *frames;
	size_t n_frames, cap_frames;
	struct hprof_trace *traces;
	size_t n_traces, cap_traces;
	/*
	 * Maps from identifiers or serial numbers to indices in the arrays above.  Exceptions:
	 * class_serials maps to class numbers of struct heap (heap.h); `methods` maps the keys that
	 * hprof_method() computes to method numbers of struct heap.
	 */
	struct id_map symbol_ids, frame_ids, thread_traces, class_serials, methods;
};

/* An object of the sample from which hprof_guess_layout() derives the object layout. */
struct hprof_sampled {
	uint64_t address;
	uint32_t class;
	uint32_t length; /* if the object is an array: number of elements */
	/*
	 * bytes per element if the object is an array of primitives; HPROF_SAMPLED_REFS: an array
	 * of references; 0: not an array
	 */
	uint8_t element;
};
#define HPROF_SAMPLED_REFS 255

struct hprof_sample {
	struct hprof_sampled *list;
	size_t n, cap;
};

enum hprof_state {
	AT_HEADER,
	AT_RECORD,
	AT_SUBRECORD,
	AT_ELEMENTS, /* at an element of an array of references */
};

/* The position in the dump. */
struct hprof_input {
	enum hprof_state state; /* what the reader expects next */
	uint64_t fed;     /* number of bytes received so far */
	uint64_t at;      /* number of bytes parsed so far */
	uint64_t skip;    /* number of bytes to skip before parsing goes on */
	uint64_t segment; /* number of bytes left in the current heap dump segment */
	struct buf carry; /* the received bytes of a record that is not complete yet */
	/*
	 * segmented: a HEAP DUMP SEGMENT was seen; in_dump: a HEAP DUMP or HEAP DUMP SEGMENT was
	 * seen; ended: the HEAP DUMP END was seen
	 */
	bool segmented, in_dump, ended;
	/* in AT_ELEMENTS: number of the next element, and number of all elements */
	uint32_t element, n_elements;
};

/* Buffer for heap stream records that were not passed to the graph builder yet. */
struct hprof_output {
	struct heap_stream_state state;
	uint8_t *buf; /* the encoded records; NULL: no graph is built */
	size_t len;
};

struct hprof_reader {
	struct heap *heap;
	struct hprof_wants wants;
	unsigned id_size; /* bytes per identifier */
	struct hprof_input in;
	struct hprof_tables tables;
	struct hprof_classes classes;
	struct hprof_sample sample;
	struct hprof_output out;
	uint64_t objects;
	bool invalid;   /* hprof_invalid() was called */
	size_t charged; /* bytes of memory that hprof_charge() has counted so far */
	/* addresses of the Thread objects, in the order of heap->threads */
	uint64_t *thread_objects;
	size_t cap_thread_objects;
};

/* Defined in hprof_values.c: reads a big-endian number of 1 to 8 bytes. */
uint64_t hprof_get(const uint8_t *p, unsigned bytes);
/* Sets err to "the dump is invalid at byte N: " and the formatted text.  Returns -1. */
int hprof_invalid(struct hprof_reader *r, struct err *err, const char *fmt, ...)
	_printf_(3, 4);
/* Returns the length in bytes of a value of this type, or 0 for an invalid type. */
unsigned hprof_type_size(unsigned type, unsigned id_size);

/*
 * Defined in hprof_memory.c, which counts the memory that the reader needs in addition to the
 * graph.  hprof_charge() counts an allocated block.  Do not call it for growing arrays and hash
 * tables: hprof_check_memory() counts their capacities.
 */
void hprof_charge(struct hprof_reader *r, size_t bytes);
/* Returns 0; or -1 with err set (EXIT_PARTIAL) if the counted memory exceeds wants.max_memory. */
int hprof_check_memory(const struct hprof_reader *r, struct err *err) _must_check_;

/* Defined in hprof_write.c: */
void hprof_output_open(struct hprof_output *out);
/*
 * hprof_write() buffers a record for the graph builder; hprof_flush() passes the buffered records
 * to the builder.  Both do nothing if no graph is built.
 */
int hprof_write(struct hprof_reader *r, const struct heap_stream_record *record,
		struct err *err) _must_check_;
int hprof_flush(struct hprof_reader *r, struct err *err) _must_check_;

/* Defined in hprof_tables.c: */
void hprof_tables_release(struct hprof_tables *t);
/*
 * Parses the record at p, which must be complete, if its tag is that of a name, class or stack.
 * Ignores records with other tags.
 */
int hprof_take_record(struct hprof_reader *r, unsigned tag, const uint8_t *p, size_t len,
		      struct err *err) _must_check_;
/* Returns a symbol's text, and its length in *len; NULL if the dump has no such symbol. */
const char *hprof_symbol(const struct hprof_tables *t, uint64_t id, size_t *len);
/*
 * Returns a copy of the name of a reference field, which the caller frees; a very long name is cut
 * off.  Returns NULL for other fields.
 */
char *hprof_field_name(const struct hprof_tables *t, const struct hprof_field *f);
bool hprof_field_is(const struct hprof_tables *t, const struct hprof_field *f, const char *name);
/* Returns the number of the method in stack frame `depth` of a thread; 0: unknown. */
uint32_t hprof_method(struct hprof_reader *r, uint32_t thread_serial, uint32_t depth);
/*
 * Returns the number of the class whose java.lang.Class has the address `id`.  Adds the class if it
 * is new.
 */
uint32_t hprof_class_number(struct hprof_reader *r, uint64_t id);
uint32_t hprof_array_class(struct hprof_reader *r, enum hprof_type type);

/* Defined in hprof_classes.c: */
void hprof_classes_release(struct hprof_classes *classes);
/*
 * Parses a CLASS_DUMP; p points to the byte after its tag.  Returns the number of bytes parsed; or
 * 0 if the CLASS_DUMP has more than len bytes; or -1 with err set.
 */
ssize_t hprof_take_class(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err);
/*
 * Returns true if the class does not declare the static field i in the dump: HotSpot dumps some of
 * its own objects as static fields.
 */
bool hprof_is_vm_object(const struct hprof_tables *t, const struct hprof_class *k, uint32_t i);
/*
 * Fills in the member `instance` of a class whose instances have data_len bytes in the dump.
 * Returns 0, or -1 with err set.
 */
int hprof_prepare_instances(struct hprof_reader *r, uint32_t class, uint32_t data_len,
			    struct err *err) _must_check_;
int hprof_too_deep(struct hprof_reader *r, uint32_t class, struct err *err);
int hprof_bad_instance(struct hprof_reader *r, uint32_t class, uint32_t data_len,
		       struct err *err);
/*
 * Computes the shapes of the class and of its superclasses: sets shapes[i] and shaped[i] for class
 * number i if shaped[i] is false.  Returns 0; or -1 if there are too many superclasses.
 */
int hprof_shape(const struct hprof_reader *r, const struct object_layout *l, uint32_t class,
		struct object_layout_shape *shapes, bool *shaped) _must_check_;

/*
 * Defined in hprof_class_objects.c: writes records for java.lang.Class objects and static fields.
 * Call it when all classes are known.
 */
int hprof_write_classes(struct hprof_reader *r, struct err *err) _must_check_;

/*
 * Defined in hprof_objects.c: parses a subrecord of a heap dump segment; p points to the byte after
 * its tag.  The return value is as for hprof_take_class().
 */
ssize_t hprof_take_sub(struct hprof_reader *r, unsigned tag, const uint8_t *p, size_t len,
		       struct err *err);
ssize_t hprof_take_elements(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err);

/*
 * Defined in hprof_layout.c: sets the labels of class loaders.  Call it when the classes of all
 * loader objects are known.  Returns 0, or -1 with err set.
 */
int hprof_name_loaders(struct hprof_reader *r, struct err *err) _must_check_;

#endif
