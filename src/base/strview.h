/* A slice of a text, without ownership of it; parsers consume the slice from the front. */
#ifndef JTOOL_BASE_STRVIEW_H
#define JTOOL_BASE_STRVIEW_H

#include <stdbool.h>

#include "base/util.h"

struct strview {
	const char *at, *end;
};

static inline size_t strview_len(struct strview s)
{
	return (size_t)(s.end - s.at);
}

/* Consumes the next line, and sets *line to this line without its newline.  False at the end. */
bool strview_line(struct strview *text, struct strview *line);

/*
 * Returns a copy of the next line of *text that is not empty, without leading spaces, and advances
 * *text; the caller frees it.  NULL at the end.
 */
char *strview_copy_line(const char **text);

void strview_skip_blanks(struct strview *text);

/* Returns true if the slice equals the string. */
bool strview_is(struct strview s, const char *text);

#endif
