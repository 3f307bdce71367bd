/* Appends text to a buffer that the caller provides.  Text that does not fit is cut off. */
#ifndef JTOOL_AGENT_UTIL_TEXT_H
#define JTOOL_AGENT_UTIL_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct ag_text {
	char *data; /* always ends in '\0' */
	size_t len, size;
};

/* Returns an empty text that will be stored in `data`, a buffer of size bytes; size is not 0. */
struct ag_text ag_text_init(char *data, size_t size);
void ag_text_put(struct ag_text *t, const char *s);
void ag_text_char(struct ag_text *t, char c);
void ag_text_number(struct ag_text *t, uint64_t n);
/* Appends the duration `ns` in seconds, with three decimals. */
void ag_text_seconds(struct ag_text *t, uint64_t ns);
/* Appends the first max bytes of a name.  Replaces each control character by '?'. */
void ag_text_name(struct ag_text *t, const char *name, size_t max);
/* Returns the Java name of a primitive type: "int" for 'I'; "?" if no type has this letter. */
const char *ag_text_primitive(char letter);
/*
 * Appends the Java name of the type that has this signature, for example int[] for "[I" and a.b.C
 * for "La/b/C;".  Appends "?" if the signature is invalid.  Reads at most max bytes of the
 * element type.
 */
void ag_text_class(struct ag_text *t, const char *signature, size_t max);

#endif
