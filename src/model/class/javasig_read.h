/*
 * Parses descriptors (JVMS 4.3) and signatures (JVMS 4.7.9.1).  Each function consumes one part of
 * the input from the front, and appends the part's Java form to a buffer.  It returns false if the
 * input has another form; the caller must then discard the text that was appended.
 */
#ifndef JTOOL_MODEL_CLASS_JAVASIG_READ_H
#define JTOOL_MODEL_CLASS_JAVASIG_READ_H

#include <stdbool.h>

#include "base/buf.h"
#include "classfile/read.h"

struct javasig_reader {
	struct cf_text rest;
	struct buf *out;
	unsigned depth; /* nesting depth of types */
};

/* Consumes the next character and returns true if it is `c`; else consumes nothing. */
bool javasig_eat(struct javasig_reader *r, char c);

/* Reads one type, which may also be "V" (void), and adds its Java form. */
bool javasig_read_type(struct javasig_reader *r);
/*
 * Reads one type, and sets *was_object to whether the type is java.lang.Object.  Adds `prefix` and
 * the type, but adds nothing for java.lang.Object.
 */
bool javasig_read_unless_object(struct javasig_reader *r, const char *prefix, bool *was_object);
/*
 * Reads type parameters, if any.  Adds them as "<T, U extends java.lang.Runnable>", and then
 * `suffix`.
 */
bool javasig_read_parameters(struct javasig_reader *r, const char *suffix);

/* Reads the parameter types of a method, such as "(I[TT;)", and adds "(int, T[])". */
bool javasig_read_arguments(struct javasig_reader *r);

/* Adds a name with its slashes replaced by dots. */
void javasig_dotted(struct buf *out, struct cf_text name);

#endif
