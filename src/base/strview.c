#include "base/slice.h"

#include <string.h>

bool slice_line(struct slice *text, struct slice *line)
{
	const char *newline;

	if (text->at == text->end)
		return false;
	newline = memchr(text->at, '\n', slice_len(*text));
	*line = (struct slice){ text->at, newline ? newline : text->end };
	text->at = newline ? newline + 1 : text->end;
	return true;
}

void slice_skip_blanks(struct slice *text)
{
	while (text->at < text->end && *text->at == ' ')
		text->at++;
}

bool slice_is(struct slice s, const char *text)
{
	size_t len = strlen(text);

	return slice_len(s) == len && memcmp(s.at, text, len) == 0;
}
