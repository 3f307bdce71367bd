/*
 * The values of a traced call (wire/value.h), one after the other.  Bytes are the target's: what
 * makes no sense ends the list.
 */
#ifndef JTOOL_MODEL_TRACEVALUE_H
#define JTOOL_MODEL_TRACEVALUE_H

#include "base/buf.h"
#include "wire/cursor.h"
#include "wire/value.h"

struct tracevalue {
	char kind;        /* enum value_kind; of a boxed value that of the value in it */
	bool boxed;
	int64_t number;   /* Z B C S I J */
	double real;      /* F D */
	struct buf text;  /* UTF-8, without what was cut: of a string, an enum's name, a message */
	bool has_text;    /* false: that was null */
	uint32_t length;  /* of the String in chars, of the array in elements */
	bool cut;         /* the text or the elements are not all */
	struct buf class; /* Java source form: of e, a, t, o */
	uint32_t identity; /* of o */
	struct wire_text elements; /* of a: values again, none of which is an array */
};

/*
 * The next one; 1, or 0 at the end, or -EBADMSG.  What *value held is released; zeroed at first.
 */
int tracevalue_next(struct wire_text *rest, struct tracevalue *value) _must_check_;
void tracevalue_release(struct tracevalue *value);

#endif
