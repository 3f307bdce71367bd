/* Appends text to a buffer of the caller, and truncates it where the buffer is full. */
#ifndef JTOOL_AGENT_UTIL_TEXT_H
#define JTOOL_AGENT_UTIL_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct ag_text {
	char *data; /* always ends in '\0' */
	size_t len, size;
};

/* size must be at least 1. */
struct ag_text ag_text_init(char *data, size_t size);
void ag_text_put(struct ag_text *t, const char *s);
void ag_text_number(struct ag_text *t, uint64_t n);
/* Appends a time in seconds with three decimals. */
void ag_text_seconds(struct ag_text *t, uint64_t ns);
/* Appends at most max bytes of a name, with '?' for control characters. */
void ag_text_name(struct ag_text *t, const char *name, size_t max);
/* Returns the primitive type of a descriptor letter: "int" for 'I'; "?" if there is none. */
const char *ag_text_primitive(char letter);
/* Appends the Java name of a signature: int[] for "[I", a.b.C for "La/b/C;", "?" if invalid. */
void ag_text_class(struct ag_text *t, const char *signature, size_t max);

#endif
