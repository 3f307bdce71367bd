/* Parses descriptors (JVMS 4.3): "I", "[Ljava/lang/String;", "(IJ)V". */
#ifndef JTOOL_AGENT_CLASSFILE_DESCR_H
#define JTOOL_AGENT_CLASSFILE_DESCR_H

#include "classfile/read.h"

struct cf_type {
	char kind;            /* first letter of the descriptor; for an array, 'L' instead of '[' */
	uint8_t dimensions;   /* 0: not an array */
	struct cf_text element; /* name of the class or of the elements' class; empty: primitive */
	char element_kind;    /* for an array, the kind of its elements; else equal to `kind` */
	struct cf_text text;  /* the complete descriptor */
};

/*
 * Removes the first type, or "V", from *rest and describes it in *type.  Returns false if that type
 * is malformed or missing.
 */
bool cf_type_next(struct cf_text *rest, struct cf_type *type);

/* Returns the number of slots that a value takes: 2 for long and double, 0 for void. */
unsigned cf_type_slots(const struct cf_type *type);

/*
 * Splits a method's descriptor into parameters and result.  Returns false if the descriptor is
 * malformed.
 */
bool cf_method_types(struct cf_text descriptor, struct cf_text *parameters,
		     struct cf_type *result);

#endif
