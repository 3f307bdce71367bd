/* Decodes the list of values in a traced call (wire/value.h), up to the first invalid value. */
#ifndef JTOOL_MODEL_PROFILE_TRACE_VALUE_H
#define JTOOL_MODEL_PROFILE_TRACE_VALUE_H

#include "base/buf.h"
#include "wire/cursor.h"
#include "wire/value.h"

struct trace_value {
	/*
	 * enum value_kind (wire/value.h), whose letters are used below; a boxed value has the kind
	 * of its primitive type
	 */
	char kind;
	bool boxed;
	int64_t number;   /* value of the kinds Z B C S I J */
	double real;      /* value of the kinds F D */
	/*
	 * UTF-8: the value of a string, the name of an enum constant, or the message of an
	 * exception; may be cut off
	 */
	struct buf text;
	bool has_text;    /* false: the text is null */
	uint32_t length;  /* of the complete string in UTF-16 units, or of the complete array */
	bool cut;         /* text or elements were cut off */
	struct buf class; /* for the kinds e, a, t, o: the class, in Java source form */
	uint32_t identity; /* identity hash code of the kind o */
	struct wire_text elements; /* encoded elements of the kind a; none of them is an array */
};

/*
 * Reads the first value of the list `rest`, and removes it from the list.  Returns 1; or 0 if the
 * list is empty; or -EBADMSG.  Zero-initialise *value before the first call.
 */
int trace_value_next(struct wire_text *rest, struct trace_value *value) _must_check_;
void trace_value_release(struct trace_value *value);

#endif
