/*
 * Text, put together in memory of its owner's: what does not fit is cut.
 */
#ifndef JTOOL_AGENT_BASE_TEXT_H
#define JTOOL_AGENT_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct ag_text {
	char *data; /* always ends in '\0' */
	size_t len, size;
};

/* size: at least 1. */
struct ag_text ag_text_init(char *data, size_t size);
void ag_text_put(struct ag_text *t, const char *s);
void ag_text_number(struct ag_text *t, uint64_t n);
/* Seconds, with three digits behind the point. */
void ag_text_seconds(struct ag_text *t, uint64_t ns);
/* At most max characters of a name, which may hold anything: control characters are '?'. */
void ag_text_name(struct ag_text *t, const char *name, size_t max);
/* The Java name of a signature: "[I" is int[], "La/b/C;" is a.b.C; "?" if it is none. */
void ag_text_class(struct ag_text *t, const char *signature, size_t max);

#endif
