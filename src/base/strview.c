#include "base/strview.h"

#include <string.h>

bool strview_line(struct strview *text, struct strview *line)
{
	const char *newline;

	if (text->at == text->end)
		return false;
	newline = memchr(text->at, '\n', strview_len(*text));
	*line = (struct strview){ text->at, newline ? newline : text->end };
	text->at = newline ? newline + 1 : text->end;
	return true;
}

void strview_skip_blanks(struct strview *text)
{
	while (text->at < text->end && *text->at == ' ')
		text->at++;
}

bool strview_is(struct strview s, const char *text)
{
	size_t len = strlen(text);

	return strview_len(s) == len && memcmp(s.at, text, len) == 0;
}
