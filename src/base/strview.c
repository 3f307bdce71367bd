#include "base/strview.h"

#include <string.h>

#include "base/xalloc.h"

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

char *strview_copy_line(const char **text)
{
	const char *line = *text + strspn(*text, " \n");
	size_t len = strcspn(line, "\n");

	*text = line + len;
	return len > 0 ? xstrndup(line, len) : NULL;
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

bool strview_starts_with(struct strview s, const char *start)
{
	size_t n = strlen(start);

	return strview_len(s) >= n && memcmp(s.at, start, n) == 0;
}

bool strview_ends_with(struct strview s, const char *end)
{
	size_t n = strlen(end);

	return strview_len(s) >= n && memcmp(s.end - n, end, n) == 0;
}

bool strview_has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool strview_has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len > n && strcmp(name + len - n, suffix) == 0;
}
