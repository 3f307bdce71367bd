#include "http/http_request.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* A part of the input, not NUL-terminated. */
struct span {
	const char *at;
	size_t len;
};

static bool is(struct span s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

/*
 * Removes the first line of the input, and sets *line to that line without its line end.  Returns
 * 0; or -1 if the input has no complete line.
 */
static int take_line(struct span *input, struct span *line)
{
	const char *end = memchr(input->at, '\n', input->len);

	if (!end)
		return -1;
	*line = (struct span){ input->at, (size_t)(end - input->at) };
	input->len -= line->len + 1;
	input->at = end + 1;
	if (line->len > 0 && line->at[line->len - 1] == '\r')
		line->len--;
	return 0;
}

/* Returns true if a field has a control character.  A tab does not count: it is white space. */
static bool has_control(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (iscntrl((unsigned char)s.at[i]) && s.at[i] != '\t')
			return true;
	}
	return false;
}

/* Removes the first word of a line and one space after it, and returns the word. */
static struct span take_word(struct span *line)
{
	const char *space = memchr(line->at, ' ', line->len);
	struct span word = { line->at, space ? (size_t)(space - line->at) : line->len };
	size_t taken = word.len + (space != NULL);

	line->at += taken;
	line->len -= taken;
	return word;
}

static int parse_request_line(struct span line, struct http_request *r)
{
	struct span method = take_word(&line), target = take_word(&line);
	const char *query;

	if (method.len == 0 || target.len == 0 || target.at[0] != '/' ||
	    !(is(line, "HTTP/1.1") || is(line, "HTTP/1.0")))
		return -EBADMSG;
	r->method = is(method, "GET") ? HTTP_GET : is(method, "HEAD") ? HTTP_HEAD : HTTP_OTHER;
	query = memchr(target.at, '?', target.len);
	r->path = target.at;
	r->path_len = query ? (size_t)(query - target.at) : target.len;
	return 0;
}

static bool contains(struct span s, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= s.len; i++) {
		if (strncasecmp(s.at + i, text, n) == 0)
			return true;
	}
	return false;
}

static int parse_field(struct span line, struct http_request *r)
{
	const char *colon = memchr(line.at, ':', line.len);
	struct span name = { line.at, colon ? (size_t)(colon - line.at) : 0 };

	if (name.len == 0)
		return -EBADMSG;
	if (name.len == strlen("accept") && strncasecmp(name.at, "accept", name.len) == 0)
		r->accepts_openmetrics |= contains(line, "application/openmetrics-text");
	return 0;
}

int http_request_parse(const char *data, size_t len, struct http_request *r)
{
	struct span input = { data, len }, line;
	int rc;

	*r = (struct http_request){ .method = HTTP_OTHER };
	if (take_line(&input, &line) < 0)
		return 0;
	rc = has_control(line) ? -EBADMSG : parse_request_line(line, r);
	while (rc == 0) {
		if (take_line(&input, &line) < 0)
			return 0;
		if (line.len == 0)
			return 1;
		rc = has_control(line) ? -EBADMSG : parse_field(line, r);
	}
	return rc;
}

bool http_request_is_for(const struct http_request *r, const char *path)
{
	return is((struct span){ r->path, r->path_len }, path);
}
