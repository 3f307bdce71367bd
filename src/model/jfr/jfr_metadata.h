/*
 * The types of a chunk: classes of events and of constants, with their fields and annotations.  The
 * chunk's metadata event declares them (JDK's jdk/jfr/internal/MetadataReader.java).
 */
#ifndef JTOOL_MODEL_JFR_JFR_METADATA_H
#define JTOOL_MODEL_JFR_JFR_METADATA_H

#include "base/buf.h"
#include "base/id_map.h"
#include "model/jfr/jfr_cursor.h"

/* How a value is encoded.  A JFR_OBJECT consists of its fields. */
enum jfr_base {
	JFR_OBJECT,
	JFR_BOOLEAN,
	JFR_BYTE,
	JFR_CHAR,
	JFR_SHORT,
	JFR_INT,
	JFR_LONG,
	JFR_FLOAT,
	JFR_DOUBLE,
	JFR_STRING,
};

/* The meaning of a number, from the annotations of its field. */
enum jfr_content {
	JFR_PLAIN,
	JFR_TIMESTAMP_TICKS,
	JFR_TIMESTAMP_MS, /* milliseconds since the epoch */
	JFR_TIMESPAN_TICKS,
	JFR_TIMESPAN_NS,
	JFR_TIMESPAN_US,
	JFR_TIMESPAN_MS,
	JFR_TIMESPAN_S,
	JFR_DATA_BYTES,
	JFR_DATA_BITS,
	JFR_PERCENTAGE, /* a fraction: 0.5 is 50 % */
	JFR_ADDRESS,
};

struct jfr_type;

struct jfr_field {
	const char *name;
	const char *label; /* text of the annotation Label; NULL: none */
	const struct jfr_type *type; /* NULL: the chunk does not declare the type */
	int64_t type_id;
	enum jfr_content content;
	bool is_constant; /* the value is a key in the type's constant pool */
	bool is_array;
	bool is_unsigned;
	bool is_rate; /* the number is an amount per second */
};

struct jfr_type {
	const char *name; /* "jdk.GCPhasePause" */
	const char *label; /* text of the annotation Label; NULL: none */
	int64_t id;
	enum jfr_base base;
	bool is_event;
	/* a value of the type is read as the value of the type's first field */
	bool is_simple;
	struct jfr_field *fields;
	size_t n_fields, cap_fields;
	uint32_t index; /* index of the type in jfr_metadata.types */
	/* how many numbers a value of the type consists of; 0: it has other parts than numbers */
	unsigned n_numbers;
	/* for the caller, who may store here how it uses the type's events; initially 0 */
	uint32_t user;
	bool is_skipped; /* for the caller: true lets jfr_next_event() skip the type's events */
};

/*
 * Types with ids below this number are looked up in an array, others in a hash table.  All event
 * types of JDK 8 to 27 have such low ids.
 */
#define JFR_LOW_IDS 4096

struct jfr_metadata {
	struct buf texts; /* the string table; each string ends with NUL */
	struct jfr_type *types;
	size_t n, cap;
	struct id_map by_id; /* type id -> index in `types` */
	/* indexed by id: the types with ids below JFR_LOW_IDS; NULL until the types are known */
	struct jfr_type **low;
	int64_t id;
	int64_t gmt_offset_ms, dst_ms;
	size_t arrays; /* memory of the types, of their fields and of `low`, in bytes */
};

/*
 * Skips the start time and the duration at the start of a metadata event's payload, and returns the
 * metadata id after them.
 */
int64_t jfr_metadata_id(struct jfr_cursor *c);
/*
 * Parses the payload of a metadata event, after its type id.  Returns 0; or -EBADMSG if the event
 * is damaged; or -ENOMEM if more than max_bytes of memory are needed.
 */
int jfr_metadata_parse(struct jfr_metadata *m, struct jfr_cursor *c, size_t max_bytes)
	_must_check_;
void jfr_metadata_release(struct jfr_metadata *m);
/* Returns how many bytes of memory the metadata uses. */
size_t jfr_metadata_bytes(const struct jfr_metadata *m);

/* Return the type with this id or name, or NULL. */
struct jfr_type *jfr_type_by_id(const struct jfr_metadata *m, int64_t id);
struct jfr_type *jfr_type_by_name(const struct jfr_metadata *m, const char *name);

/* Returns the index of the field with this name, or -1. */
int jfr_field_find(const struct jfr_type *type, const char *name, size_t len);

#endif
