/*
 * Signatures (JVMS 4.7.9.1), taken apart from the front while their Java form is written.  Each
 * function returns false when what it is to read is not there; what it wrote until then is for
 * the caller to take back.  Descriptors are signatures, too.
 */
#ifndef JTOOL_MODEL_JAVASIG_READ_H
#define JTOOL_MODEL_JAVASIG_READ_H

#include <stdbool.h>

#include "base/buf.h"
#include "classfile/read.h"

struct javasig_reader {
	struct cf_text rest;
	struct buf *out;
	unsigned depth; /* of types in types */
};

/* Take this character if it is the next one. */
bool javasig_eat(struct javasig_reader *r, char c);

/* One type; "V" is one. */
bool javasig_read_type(struct javasig_reader *r);
/*
 * The same, with `before` in front of it; but of java.lang.Object, which goes without saying,
 * nothing is written.
 */
bool javasig_read_unless_object(struct javasig_reader *r, const char *before, bool *was_object);
/* "<T, U extends java.lang.Runnable>" and `behind`, if there are type parameters. */
bool javasig_read_parameters(struct javasig_reader *r, const char *behind);

/* A name with dots for its slashes. */
void javasig_dotted(struct buf *out, struct cf_text name);

#endif
