/*
 * The values in events.  A value is read by a path such as "eventThread.javaName".  The caller
 * looks up the path once for each chunk and event type.  If a field contains the key of a constant,
 * the functions return the constant (jfr_pools.h) as the value.
 */
#ifndef JTOOL_MODEL_JFR_JFR_DATUM_H
#define JTOOL_MODEL_JFR_JFR_DATUM_H

#include "model/jfr/jfr_reader.h"
#include "model/jfr/jfr_string.h"

enum jfr_datum_kind {
	JFR_NOTHING, /* null, a damaged value, or a constant that the chunk does not have */
	JFR_TRUTH,
	JFR_INTEGER,
	JFR_UNSIGNED, /* the value is in `integer`, to be read as uint64_t */
	JFR_REAL,
	JFR_CHARACTER,
	JFR_TEXT,
	JFR_FIELDS, /* an object: `body` begins with its first field */
	JFR_ELEMENTS, /* an array: `body` begins with its first element */
};

struct jfr_datum {
	enum jfr_datum_kind kind;
	/* the field that was read; field->content says, for example, that a number is a time */
	const struct jfr_field *field;
	const struct jfr_type *type;   /* type of an object, or of an array's elements */
	int64_t key;  /* the value's key in the constant pool, if has_key */
	bool has_key;
	bool is_float; /* with JFR_REAL: the value is a float and not a double */
	uint32_t n;   /* number of elements */
	union {
		int64_t integer;
		double real;
		struct jfr_string text;
		struct jfr_cursor body;
	};
};

#define JFR_PATH_MAX 6

struct jfr_path {
	uint8_t n;
	uint16_t fields[JFR_PATH_MAX];
};

/*
 * Looks up a path "field.field" from the type of an event.  Returns false if a field does not exist
 * or the path has more than JFR_PATH_MAX fields.
 */
bool jfr_path_find(const struct jfr_type *type, const char *text, struct jfr_path *path);
/* Returns the last field of the path. */
const struct jfr_field *jfr_path_field(const struct jfr_type *type, const struct jfr_path *path);

/*
 * Reads the value at a path.  If the value is damaged, or a field of the path is null, d->kind
 * becomes JFR_NOTHING.
 */
void jfr_get(const struct jfr_event *e, const struct jfr_path *path, struct jfr_datum *d);
/*
 * Returns the key of the constant in a field of the event, without resolving it; 0 means null.
 * Within a chunk, equal keys mean equal values, so a consumer needs to resolve each key only once.
 */
int64_t jfr_get_key(const struct jfr_event *e, unsigned field);

/*
 * Reads the value of the field `f` at the cursor, and moves the cursor past it.  `element`: `f` is
 * an array, and only its element at the cursor is read.
 */
void jfr_read(const struct jfr_chunk *chunk, const struct jfr_field *f, bool element,
	      struct jfr_cursor *c, struct jfr_datum *d);
/* Sets *d to the value of the field `name` of an object. */
void jfr_member(const struct jfr_chunk *chunk, const struct jfr_datum *object, const char *name,
		struct jfr_datum *d);

/*
 * Returns the number in *d.  Points in time are converted to ns since the epoch, time spans to ns,
 * and amounts of data to bytes.
 */
int64_t jfr_datum_number(const struct jfr_chunk *chunk, const struct jfr_datum *d);
/*
 * Returns true if a time span or point in time means "never" or "for ever", for which JFR writes
 * the least or the greatest number.
 */
bool jfr_datum_is_unlimited(const struct jfr_datum *d);

static inline bool jfr_is_timestamp(enum jfr_content c)
{
	return c == JFR_TIMESTAMP_TICKS || c == JFR_TIMESTAMP_MS;
}

static inline bool jfr_is_timespan(enum jfr_content c)
{
	return c >= JFR_TIMESPAN_TICKS && c <= JFR_TIMESPAN_S;
}

#endif
