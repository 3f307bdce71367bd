/* A slice of a text that someone else owns; parsers consume the slice from the front. */
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
 * Removes the first line from *text, and sets *line to that line without its newline.  Returns
 * false if *text is empty.
 */
bool strview_line(struct strview *text, struct strview *line);

/*
 * Finds the next line of *text that is not blank, and advances *text to the end of this line.
 * Returns a copy of the line without its leading spaces; the caller frees the copy.  Returns NULL
 * if all remaining lines are blank.
 */
char *strview_copy_line(const char **text);

void strview_skip_blanks(struct strview *text);

/* Returns true if the slice equals the string. */
bool strview_is(struct strview s, const char *text);

/* Returns true if the slice starts with the string. */
bool strview_starts_with(struct strview s, const char *start);
/* Returns true if the slice ends with the string. */
bool strview_ends_with(struct strview s, const char *end);

/* Returns true if a text starts with the prefix. */
bool strview_has_prefix(const char *text, const char *prefix);
/* Returns true if a file name ends with the suffix and has a character before it. */
bool strview_has_suffix(const char *name, const char *suffix);

#endif
