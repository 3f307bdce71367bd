/*
 * Descriptors (JVMS 4.3): "I", "[Ljava/lang/String;", "(IJ)V".
 */
#ifndef JTOOL_CLASSFILE_DESCR_H
#define JTOOL_CLASSFILE_DESCR_H

#include "classfile/read.h"

struct cf_type {
	char kind;            /* 'B' … 'Z', 'V', or 'L' also for arrays */
	uint8_t dimensions;   /* 0: no array */
	struct cf_text element; /* "java/lang/String" of an L, else empty; of an array's element */
	char element_kind;    /* of an array's element; as kind of no array */
	struct cf_text text;  /* all of it, as it stands there */
};

/* Take the first type from a text; false when there is none.  "V" is one. */
bool cf_type_next(struct cf_text *rest, struct cf_type *type);

/* The locals and stack cells that a value takes: 2 for long and double, 0 for void. */
unsigned cf_type_slots(const struct cf_type *type);

/*
 * A method's parameters, to be taken with cf_type_next() until they are empty, and its result.
 * False when it is no whole method descriptor.
 */
bool cf_method_types(struct cf_text descriptor, struct cf_text *parameters,
		     struct cf_type *result);

#endif
