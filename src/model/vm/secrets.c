#include "model/vm/secrets.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/xalloc.h"

#define KNOWN_MIN 6 /* bytes; shorter values may occur in a text by chance */
#define KNOWN_MAX 10000
#define PART_MIN 256 /* bytes at the start of a value that are a secret without the rest */
#define NO_VALUE UINT32_MAX

/*
 * The state of a pass over a text.  The pass either appends the text to `out`, with each secret
 * value masked, or adds the secret values that it finds to `learn`.
 */
struct masking {
	const char *text, *end;
	struct buf *out;
	struct secrets *learn;
	bool only_urls;
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

static bool ends_with(const char *name, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && strncasecmp(name + len - n, word, n) == 0;
}

/*
 * Returns true if the name ends with "key" or "keys", as accesskey does, or has "key" as a word
 * before its end, as accessKeyId and key_id do; monkey_bar does not.  Returns false for keyStore,
 * because the value of keyStore is the path of a key store, not a secret.
 */
static bool has_key(const char *name, size_t len)
{
	for (size_t i = 0; i + 3 <= len; i++) {
		const char *after = name + i + 3, *end = name + len;
		bool begins = i == 0 || !isalpha((unsigned char)name[i - 1]) ||
			      (name[i] == 'K' && islower((unsigned char)name[i - 1]));

		if (strncasecmp(name + i, "key", 3) != 0)
			continue;
		/* Skip the s of the plural: keys, KEYS.  In keyStore, the S begins a word. */
		if (after < end && *after == (name[i + 2] == 'Y' ? 'S' : 's'))
			after++;
		if (after == end || (begins && !isalpha((unsigned char)*after)) ||
		    (begins && name[i + 2] == 'y' && isupper((unsigned char)*after) &&
		     (end - after < 5 || memcmp(after, "Store", 5) != 0)))
			return true;
	}
	return false;
}

static bool is_text(const char *name, size_t len, const char *text)
{
	return len == strlen(text) && memcmp(name, text, len) == 0;
}

bool secrets_is_name(const char *name, size_t len)
{
	static const char *const words[] = { "password", "passwd", "passphrase", "secret", "token",
					     "credential", "apikey", "api_key", "api-key",
					     "private", "authorization" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (contains(name, len, words[i]))
			return true;
	}
	/* The variables PWD and OLDPWD are not secrets: their values are working directories. */
	if (is_text(name, len, "PWD") || is_text(name, len, "OLDPWD"))
		return false;
	return has_key(name, len) || ends_with(name, len, "pass") ||
	       ends_with(name, len, "auth") || ends_with(name, len, "pwd");
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Skips the scheme of an Authorization header: "Bearer TOKEN", "Basic BASE64". */
static const char *skip_scheme(const char *at, const char *end)
{
	static const char *const schemes[] = { "bearer ", "basic " };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if ((size_t)(end - at) > n && strncasecmp(at, schemes[i], n) == 0)
			return skip_blanks(at + n, end);
	}
	return at;
}

/*
 * Returns the end of a text in quotes.  `at` is the position after the first quote.  In the text, a
 * backslash escapes the next character.
 */
static const char *quoted_end(const char *at, const char *end, char quote)
{
	while (at < end && *at != quote && *at != '\n')
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	return at < end ? at : end;
}

static void mask(struct masking *m, const char *from, const char *value, const char *value_end)
{
	if (m->learn) {
		secrets_add(m->learn, value, (size_t)(value_end - value));
		return;
	}
	buf_add(m->out, from, (size_t)(value - from));
	if (value_end > value) {
		buf_adds(m->out, SECRETS_MASK);
		m->n++;
	}
}

/*
 * Finds the value for the name that ends at `at`.  Returns false if there is no value.  In a line
 * that begins with NAME=, a value without quotes ends at the end of the line; elsewhere it ends at
 * a space, '"' or ','.
 */
static bool find_value(const struct masking *m, const char *name, const char *at,
		       const char **value, const char **value_end)
{
	bool begins_line = *name != '-' && (name == m->text || name[-1] == '\n');
	bool is_json = name > m->text && name[-1] == '"' && at < m->end && *at == '"';
	bool is_option = *name == '-' && at < m->end && *at == ' ';
	const char *p = is_json ? at + 1 : at;

	/* In a JSON list, the value of an option is the next element: ["--password","a"]. */
	if (is_json && *name == '-' && m->end - p > 1 && p[0] == ',')
		is_option = true;
	if (is_option) {
		p = skip_blanks(is_json ? p + 1 : p, m->end);
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
	*value = p = skip_scheme(p, m->end);
	while (p < m->end && *p != '\n' &&
	       (begins_line || (!isspace((unsigned char)*p) && *p != '"' && *p != ',')))
		p++;
	*value_end = p;
	return true;
}

/* Finds "user:password" in "//user:password@host".  Returns its end, or NULL. */
static const char *user_info_end(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && !isspace((unsigned char)*p) && !strchr("/\\\"'<>,;?#", *p)) {
		if (*p == '@')
			return p;
		p++;
	}
	return NULL;
}

/* Returns the length of the "//" at `at`; or of "\/\/", its form in JSON; or 0. */
static size_t slashes_at(const char *at, const char *end)
{
	if (end - at > 2 && at[0] == '/' && at[1] == '/')
		return 2;
	return end - at > 4 && memcmp(at, "\\/\\/", 4) == 0 ? 4 : 0;
}

static void scan(struct masking *m)
{
	const char *at = m->text, *from = m->text;

	while (at < m->end) {
		const char *name = at, *value, *value_end;

		size_t slashes = slashes_at(at, m->end);

		if (slashes > 0 && (value_end = user_info_end(at + slashes, m->end)) != NULL) {
			mask(m, from, at + slashes, value_end);
			from = at = value_end;
			continue;
		}
		if (!is_name_char(*at)) {
			at++;
			continue;
		}
		while (at < m->end && is_name_char(*at))
			at++;
		if (m->only_urls || !secrets_is_name(name, (size_t)(at - name)) ||
		    !find_value(m, name, at, &value, &value_end))
			continue;
		mask(m, from, value, value_end);
		from = at = value_end;
	}
	if (m->out)
		buf_add(m->out, from, (size_t)(m->end - from));
}

size_t secrets_mask(struct buf *out, const char *text, size_t len)
{
	struct masking m = { .text = text, .end = text + len, .out = out };

	scan(&m);
	return m.n;
}

size_t secrets_mask_urls(struct buf *out, const char *text, size_t len)
{
	struct masking m = { .text = text, .end = text + len, .out = out, .only_urls = true };

	scan(&m);
	return m.n;
}

void secrets_learn(struct secrets *s, const char *text, size_t len)
{
	struct masking m = { .text = text, .end = text + len, .learn = s };

	scan(&m);
}

void secrets_learn_urls(struct secrets *s, const char *text, size_t len)
{
	struct masking m = { .text = text, .end = text + len, .learn = s, .only_urls = true };

	scan(&m);
}

/* Returns the number of bytes that the value and the text at `at` have in common. */
static size_t common(const struct secret *value, const char *at, size_t left)
{
	size_t max = value->len < left ? value->len : left, n = 0;

	while (n < max && value->text[n] == at[n])
		n++;
	return n;
}

/*
 * Returns how many of the values are not greater than the text at `at`.  A value that the text
 * begins with is not greater.
 */
static size_t count_up_to(const struct secrets *s, const char *at, size_t left)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct secret *value = &s->values[mid];
		int order = memcmp(value->text, at, value->len < left ? value->len : left);

		if (order < 0 || (order == 0 && value->len <= left))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void add_known(struct secrets *s, const char *value, size_t len)
{
	size_t i;

	if (len < KNOWN_MIN || s->n >= KNOWN_MAX || value[strspn(value, "*")] == '\0')
		return;
	i = count_up_to(s, value, len);
	if (i > 0 && s->values[i - 1].len == len && memcmp(s->values[i - 1].text, value, len) == 0)
		return;
	s->values = xgrow(s->values, s->n, &s->cap, sizeof(*s->values));
	memmove(&s->values[i + 1], &s->values[i], (s->n - i) * sizeof(*s->values));
	s->values[i] = (struct secret){ xstrndup(value, len), len };
	s->n++;
	s->begins[(unsigned char)*value] = true;
}

void secrets_add(struct secrets *s, const char *value, size_t len)
{
	_cleanup_free_ char *text = xstrndup(value, len);
	const char *colon = strchr(text, ':');

	add_known(s, text, strlen(text));
	if (colon) /* the user information is USER:PASSWORD */
		add_known(s, colon + 1, strlen(colon + 1));
}

void secrets_learn_args(struct secrets *s, const char *args, size_t len)
{
	const char *end = args + len, *name = NULL;

	/* Each argument ends with a NUL, so a value may contain spaces. */
	for (const char *at = args; at < end; at += strlen(at) + 1) {
		const char *equals = strchr(at, '=');

		if (name)
			secrets_add(s, at, strlen(at));
		name = NULL;
		if (equals && secrets_is_name(at, (size_t)(equals - at)))
			secrets_add(s, equals + 1, strlen(equals + 1));
		else if (*at == '-' && !equals && secrets_is_name(at, strlen(at)))
			name = at;
		secrets_learn(s, at, strlen(at));
	}
}

/*
 * Returns an array with a number for each value: the index of the longest other value that it
 * begins with and that has less than PART_MIN bytes; NO_VALUE: there is none.  The caller frees it.
 */
static uint32_t *find_prefixes(const struct secrets *s)
{
	uint32_t *prefixes = xcalloc(s->n + 1, sizeof(*prefixes)), last = NO_VALUE;

	/* In ascending order, the values that begin with another one directly follow it. */
	for (uint32_t i = 0; i < s->n; i++) {
		const struct secret *value = &s->values[i];

		while (last != NO_VALUE &&
		       common(&s->values[last], value->text, value->len) < s->values[last].len)
			last = prefixes[last];
		prefixes[i] = last;
		if (value->len < PART_MIN)
			last = i;
	}
	return prefixes;
}

/*
 * Returns how many bytes at `at` are a secret: the length of the longest known value that begins
 * there; or of the longest part of PART_MIN bytes or more with which a known value begins; or 0.
 *
 * A crafted text has very many values that differ late.  The time is bounded, because no value has
 * PART_MIN bytes in common with the text, or the common bytes are overwritten and not read again.
 */
static size_t known_at(const struct secrets *s, const uint32_t *prefixes, const char *at,
		       size_t left)
{
	/* The values that have the most bytes in common with the text are next to it in order. */
	size_t i = count_up_to(s, at, left), n = 0, after = 0;
	uint32_t prefix;

	if (i > 0)
		n = common(&s->values[i - 1], at, left);
	if (i < s->n)
		after = common(&s->values[i], at, left);
	if (n >= PART_MIN || after >= PART_MIN)
		return n > after ? n : after;
	/* If the text begins with a shorter value, then the previous value does, too. */
	prefix = i > 0 ? (uint32_t)(i - 1) : NO_VALUE;
	while (prefix != NO_VALUE && s->values[prefix].len > n)
		prefix = prefixes[prefix];
	return prefix == NO_VALUE ? 0 : s->values[prefix].len;
}

size_t secrets_overwrite(const struct secrets *s, char *data, size_t len)
{
	_cleanup_free_ uint32_t *prefixes = find_prefixes(s);
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		bool begins = s->begins[(unsigned char)data[i]];
		size_t found = begins ? known_at(s, prefixes, data + i, len - i) : 0;

		memset(data + i, '*', found);
		n += found > 0;
		i += found > 0 ? found : 1;
	}
	return n;
}

void secrets_release(struct secrets *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->values[i].text);
	free(s->values);
	*s = (struct secrets){ .n = 0 };
}
