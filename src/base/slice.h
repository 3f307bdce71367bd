/*
 * A part of a text that is somebody else's, while it is taken apart from its front.
 */
#ifndef JTOOL_BASE_SLICE_H
#define JTOOL_BASE_SLICE_H

#include <stdbool.h>

#include "base/util.h"

struct slice {
	const char *at, *end;
};

static inline size_t slice_len(struct slice s)
{
	return (size_t)(s.end - s.at);
}

/* Take the next line, without its newline; false when there is none. */
bool slice_line(struct slice *text, struct slice *line);

void slice_skip_blanks(struct slice *text);

/* Is it this text, from end to end? */
bool slice_is(struct slice s, const char *text);

#endif
