/*
 * A table of properties, as a JVM sends its system or agent properties: the text form of
 * java.util.Properties, decoded, sorted and searched here.
 */
#ifndef JTOOL_MODEL_PROPS_H
#define JTOOL_MODEL_PROPS_H

#include "base/buf.h"

struct prop {
	char *name;  /* UTF-8; a NUL in it has become U+FFFD */
	char *value; /* UTF-8, followed by a NUL that does not count; may hold others */
	size_t value_len;
};

struct props {
	struct prop *items; /* sorted by name, each name once */
	size_t n, cap;
};

/*
 * Read what Properties.store() wrote (ISO-8859-1, \uXXXX, \t \n \r \f, comments, continued
 * lines).  Surrogate pairs are joined; a lone one becomes U+FFFD.  Of a name that comes twice
 * the later one counts.  -EBADMSG when an escape is broken or the last line has no end: the
 * text was cut off.  `props` is empty before, and to be released in any case.
 */
int props_parse(struct props *props, const char *text, size_t len) _must_check_;
void props_release(struct props *props);

/* Keep those whose name matches. */
void props_filter(struct props *props, const char *glob);

/* NULL: there is none of this name. */
const struct prop *props_find(const struct props *props, const char *name);

#endif
