#include "model/memory/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"

#define KB 1024
#define ADDRESS_DIGITS 16
/*
 * Limit for a size in KB: 2^57 bytes, because an address has at most 57 bits.  With this limit, a
 * sum of sizes cannot overflow.
 */
#define KB_MAX ((int64_t)1 << 47)

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_hex(struct strview *s, uint64_t *value)
{
	size_t digits = 0;

	*value = 0;
	while (s->at < s->end && hex_digit(*s->at) >= 0 && digits++ < ADDRESS_DIGITS)
		*value = *value << 4 | (uint64_t)hex_digit(*s->at++);
	return digits > 0 && digits <= ADDRESS_DIGITS;
}

static bool take_char(struct strview *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* Skips a word and the spaces after it. */
static void skip_word(struct strview *s)
{
	while (s->at < s->end && *s->at != ' ')
		s->at++;
	strview_skip_blanks(s);
}

static char *path_of(struct strview s)
{
	static const char deleted[] = " (deleted)";
	size_t len = strview_len(s), suffix = sizeof(deleted) - 1;

	if (len > suffix && memcmp(s.end - suffix, deleted, suffix) == 0)
		len -= suffix;
	return len ? xstrndup(s.at, len) : NULL;
}

/* Parses the line "START-END rw-p OFFSET DEVICE INODE PATH", with which a mapping begins. */
static bool parse_header(struct strview line, struct mapping *m)
{
	if (!take_hex(&line, &m->start) || !take_char(&line, '-') || !take_hex(&line, &m->end) ||
	    !take_char(&line, ' ') || m->end <= m->start || strview_len(line) < 5)
		return false;
	m->read = line.at[0] == 'r';
	m->write = line.at[1] == 'w';
	m->exec = line.at[2] == 'x';
	m->shared = line.at[3] == 's';
	for (int i = 0; i < 4; i++)
		skip_word(&line); /* skips permissions, offset, device, inode */
	m->path = path_of(line);
	return true;
}

/* Parses " 12 kB".  Returns the number of bytes, or -1 if the text has another form. */
static int64_t parse_kb(struct strview s)
{
	int64_t n = 0;

	strview_skip_blanks(&s);
	if (s.at == s.end || *s.at < '0' || *s.at > '9')
		return -1;
	while (s.at < s.end && *s.at >= '0' && *s.at <= '9') {
		n = n * 10 + (*s.at++ - '0');
		if (n > KB_MAX)
			return -1;
	}
	return strview_is(s, " kB") ? n * KB : -1;
}

static void parse_flags(struct strview s, struct mapping *m)
{
	strview_skip_blanks(&s);
	while (strview_len(s) >= 2) {
		const struct strview flag = { s.at, s.at + 2 };

		m->noreserve |= strview_is(flag, "nr");
		m->no_huge |= strview_is(flag, "nh");
		skip_word(&s);
	}
}

/* Parses a line "KEY: VALUE".  Ignores keys that are not used. */
static bool parse_value(struct strview line, struct mapping *m)
{
	const char *colon = memchr(line.at, ':', strview_len(line));
	const struct strview key = { line.at, colon ? colon : line.at };
	const struct strview value = { colon ? colon + 1 : line.end, line.end };
	int64_t *field;

	if (!colon)
		return false;
	if (strview_is(key, "VmFlags")) {
		parse_flags(value, m);
		return true;
	}
	field = strview_is(key, "Rss")	     ? &m->resident
		: strview_is(key, "Anonymous") ? &m->anonymous
		: strview_is(key, "Swap")      ? &m->swapped
					       : NULL;
	if (!field)
		return true;
	*field = parse_kb(value);
	return *field >= 0;
}

static bool is_complete(const struct mapping *m)
{
	return m->resident >= 0 && m->anonymous >= 0;
}

int mappings_parse(struct mappings *m, const char *text, size_t len)
{
	struct strview rest = { text, text + len }, line;
	struct mapping *last = NULL;

	if (len == 0 || text[len - 1] != '\n')
		return -EBADMSG;
	while (strview_line(&rest, &line)) {
		if (line.at < line.end && (hex_digit(*line.at) >= 0)) {
			struct mapping next = { .resident = -1, .anonymous = -1 };

			if ((last && !is_complete(last)) || !parse_header(line, &next))
				return -EBADMSG;
			m->list = xgrow(m->list, m->n, &m->cap, sizeof(*m->list));
			m->list[m->n++] = next;
			if (last && next.start < m->list[m->n - 2].end)
				return -EBADMSG;
			last = &m->list[m->n - 1];
		} else if (!last || !parse_value(line, last)) {
			return -EBADMSG;
		}
	}
	return last && is_complete(last) ? 0 : -EBADMSG;
}

void mappings_release(struct mappings *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->list[i].path);
	free(m->list);
	*m = (struct mappings){ .list = NULL };
}
