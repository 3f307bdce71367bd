/* Decodes the values of a traced call (wire/value.h).  An invalid value ends the list. */
#ifndef JTOOL_MODEL_PROFILE_TRACE_VALUE_H
#define JTOOL_MODEL_PROFILE_TRACE_VALUE_H

#include "base/buf.h"
#include "wire/cursor.h"
#include "wire/value.h"

struct trace_value {
	char kind;        /* enum value_kind; for a boxed value the primitive kind */
	bool boxed;
	int64_t number;   /* of kinds Z B C S I J */
	double real;      /* of kinds F D */
	struct buf text;  /* UTF-8: a string, enum name or message, perhaps cut */
	bool has_text;    /* false: null */
	uint32_t length;  /* UTF-16 characters of a string, elements of an array */
	bool cut;         /* text or elements are incomplete */
	struct buf class; /* of kinds e a t o: Java source form */
	uint32_t identity; /* of kind o: identity hash */
	struct wire_text elements; /* of kind a: encoded values, none of them an array */
};

/*
 * Reads the next value.  Returns 1, 0 at the end, or -EBADMSG.  Zero *value before the first call.
 */
int trace_value_next(struct wire_text *rest, struct trace_value *value) _must_check_;
void trace_value_release(struct trace_value *value);

#endif
