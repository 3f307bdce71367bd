/*
 * Values of events: by paths such as "eventThread.javaName", which are looked up once a chunk and
 * type, and with constants resolved.
 */
#ifndef JTOOL_MODEL_JFR_JFR_DATUM_H
#define JTOOL_MODEL_JFR_JFR_DATUM_H

#include "model/jfr/jfr_reader.h"
#include "model/jfr/jfr_string.h"

enum jfr_datum_kind {
	JFR_NOTHING, /* null, or a constant that is missing */
	JFR_TRUTH,
	JFR_INTEGER,
	JFR_UNSIGNED, /* in `integer`, as uint64_t */
	JFR_REAL,
	JFR_CHARACTER,
	JFR_TEXT,
	JFR_FIELDS, /* an object: `body` is its first field */
	JFR_ELEMENTS, /* an array: `body` is its first element */
};

struct jfr_datum {
	enum jfr_datum_kind kind;
	const struct jfr_field *field; /* with the meaning of the number */
	const struct jfr_type *type;   /* of an object, or of an array's elements */
	int64_t key;  /* of a constant */
	bool has_key;
	bool is_float; /* JFR_REAL: of a float */
	uint32_t n;   /* of elements */
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

/* Looks up "field.field".  Returns false if the type has no such field. */
bool jfr_path_find(const struct jfr_type *type, const char *text, struct jfr_path *path);
/* Returns the field that the path leads to. */
const struct jfr_field *jfr_path_field(const struct jfr_type *type, const struct jfr_path *path);

/* Reads one value.  A value that is damaged, or of a path through null, is JFR_NOTHING. */
void jfr_get(const struct jfr_event *e, const struct jfr_path *path, struct jfr_datum *d);
/*
 * Returns the key of a constant in a field of the event, without resolving it; 0 is null.  The same
 * key is the same value in a chunk, so that a consumer resolves it once.
 */
int64_t jfr_get_key(const struct jfr_event *e, unsigned field);

/* Reads the value of a field at the cursor, which may be one element of an array. */
void jfr_read(const struct jfr_chunk *chunk, const struct jfr_field *f, bool element,
	      struct jfr_cursor *c, struct jfr_datum *d);
/* Resolves a constant.  */
void jfr_resolve(const struct jfr_chunk *chunk, const struct jfr_field *f, int64_t key,
		 struct jfr_datum *d);
/* Reads a field of an object by its name. */
void jfr_member(const struct jfr_chunk *chunk, const struct jfr_datum *object, const char *name,
		struct jfr_datum *d);

/* Returns the number in the unit of the field, as nanoseconds or as bytes; else as it is. */
int64_t jfr_datum_number(const struct jfr_chunk *chunk, const struct jfr_datum *d);
/*
 * Whether a time span or point in time has no value: JFR writes the least and the greatest number
 * for "never" and "for ever".
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
