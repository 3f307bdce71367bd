#include "model/vm/secrets.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

struct masking {
	const char *text, *end;
	struct buf *out;
	size_t n;
};

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool contains(const char *name, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++) {
		if (strncasecmp(name + i, word, n) == 0)
			return true;
	}
	return false;
}

bool secrets_is_name(const char *name, size_t len)
{
	static const char *const words[] = { "password", "passwd", "passphrase", "secret", "token",
					     "credential", "apikey", "api_key", "api-key",
					     "private" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (contains(name, len, words[i]))
			return true;
	}
	return (len >= 3 && strncasecmp(name + len - 3, "key", 3) == 0) ||
	       (len >= 4 && strncasecmp(name + len - 4, "keys", 4) == 0) ||
	       (len >= 3 && strncasecmp(name + len - 3, "pwd", 3) == 0);
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Returns the end of a quoted text that begins after `quote`; a backslash escapes. */
static const char *quoted_end(const char *at, const char *end, char quote)
{
	while (at < end && *at != quote && *at != '\n')
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	return at < end ? at : end;
}

static void mask(struct masking *m, const char *from, const char *value, const char *value_end)
{
	buf_add(m->out, from, (size_t)(value - from));
	if (value_end > value) {
		buf_adds(m->out, SECRETS_MASK);
		m->n++;
	}
}

/*
 * Finds the value of the name that ends at `at`.  Returns false if there is none.  A value without
 * quotes ends with the line if it is the line's only one (NAME=VALUE), else at a space.
 */
static bool find_value(const struct masking *m, const char *name, const char *at,
		       const char **value, const char **value_end)
{
	bool begins_line = *name != '-' && (name == m->text || name[-1] == '\n');
	bool is_json = name > m->text && name[-1] == '"' && at < m->end && *at == '"';
	bool is_option = *name == '-' && at < m->end && *at == ' ';
	const char *p = is_json ? at + 1 : at;

	if (is_option) {
		p = skip_blanks(p, m->end);
		if (p == m->end || *p == '-' || *p == '\n')
			return false;
	} else {
		p = is_json ? skip_blanks(p, m->end) : p;
		if (p == m->end || (*p != '=' && *p != ':'))
			return false;
		begins_line = begins_line && *p == '=';
		p = skip_blanks(p + 1, m->end);
	}
	if (p < m->end && (*p == '"' || *p == '\'')) {
		*value = p + 1;
		*value_end = quoted_end(p + 1, m->end, *p);
		return true;
	}
	*value = p;
	while (p < m->end && *p != '\n' &&
	       (begins_line || (!isspace((unsigned char)*p) && *p != '"' && *p != ',')))
		p++;
	*value_end = p;
	return true;
}

/* Masks "user:password" of "//user:password@host".  Returns the end of it, or NULL. */
static const char *user_info_end(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && !isspace((unsigned char)*p) && !strchr("/\"'<>,;?#", *p)) {
		if (*p == '@')
			return p;
		p++;
	}
	return NULL;
}

size_t secrets_mask(struct buf *out, const char *text, size_t len)
{
	struct masking m = { text, text + len, out, 0 };
	const char *at = text, *from = text;

	while (at < m.end) {
		const char *name = at, *value, *value_end;

		if (m.end - at > 2 && at[0] == '/' && at[1] == '/' &&
		    (value_end = user_info_end(at + 2, m.end)) != NULL) {
			mask(&m, from, at + 2, value_end);
			from = at = value_end;
			continue;
		}
		if (!is_name_char(*at)) {
			at++;
			continue;
		}
		while (at < m.end && is_name_char(*at))
			at++;
		if (!secrets_is_name(name, (size_t)(at - name)) ||
		    !find_value(&m, name, at, &value, &value_end))
			continue;
		mask(&m, from, value, value_end);
		from = at = value_end;
	}
	buf_add(out, from, (size_t)(m.end - from));
	return m.n;
}
