/*
 * The system properties or agent properties of a JVM.  The JVM sends them as the text that
 * java.util.Properties.store() writes.
 */
#ifndef JTOOL_MODEL_VM_PROPS_H
#define JTOOL_MODEL_VM_PROPS_H

#include "base/buf.h"

struct prop {
	char *name;  /* UTF-8; a NUL in the name is replaced by U+FFFD */
	char *value; /* UTF-8 and a final NUL; may contain further NULs */
	size_t value_len;
	size_t number; /* the property's position in the text, from 0 */
};

struct props {
	struct prop *items; /* sorted by name; names are unique */
	size_t n, cap;
};

/*
 * Parses the output of Properties.store() into `props`, which must be empty.  The output is in
 * ISO-8859-1 and may contain comments, continued lines, and the escapes \uXXXX \t \n \r \f.  A
 * surrogate without its partner becomes U+FFFD.  Of several properties with one name, the last one
 * is used.  Returns 0; or -EBADMSG if an escape is invalid or the text is truncated (has no final
 * line end).  Release `props` also after an error.
 */
int props_parse(struct props *props, const char *text, size_t len) _must_check_;
void props_release(struct props *props);

/* Removes the properties whose names do not match the glob. */
void props_filter(struct props *props, const char *glob);

/* Returns the property with this name, or NULL. */
const struct prop *props_find(const struct props *props, const char *name);

#endif
