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

/*
 * Removes the first line from *text, and sets *line to it, without its newline.  Returns false if
 * *text is empty.
 */
bool strview_line(struct strview *text, struct strview *line);

/*
 * Returns a copy of the next line of *text that is not empty, without leading spaces, and advances
 * *text; the caller frees it.  Returns NULL if there is none.
 */
char *strview_copy_line(const char **text);

void strview_skip_blanks(struct strview *text);

/* Returns true if the slice equals the string. */
bool strview_is(struct strview s, const char *text);

#endif
