/*
 * Parses signatures and descriptors (JVMS 4.7.9.1) from the front, and appends their Java form.
 * Each function returns false if the input does not match; the caller then discards what was
 * appended.
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

/* Skips `c` if it is the next character. */
bool javasig_eat(struct javasig_reader *r, char c);

/* Reads one type, including "V". */
bool javasig_read_type(struct javasig_reader *r);
/* Reads one type and adds `prefix` and the type; for java.lang.Object, sets *was_object instead. */
bool javasig_read_unless_object(struct javasig_reader *r, const char *prefix, bool *was_object);
/* Reads type parameters, if any, and adds "<T, U extends java.lang.Runnable>" and `suffix`. */
bool javasig_read_parameters(struct javasig_reader *r, const char *suffix);

/* Adds a name with its slashes replaced by dots. */
void javasig_dotted(struct buf *out, struct cf_text name);

#endif
