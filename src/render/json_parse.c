/*
 * Reading JSON (RFC 8259) into the tree of json.h, through its public functions alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "render/json.h"

#define DEPTH_MAX 64  /* a document of ours has 4; deeper ones would only cost stack */
#define NUMBER_MAX 63 /* longest spelling of a number that is taken */

struct parser {
	const char *at, *end;
	unsigned depth;
};

static int parse_value(struct parser *p, struct json *parent, const char *key);

static void skip_blanks(struct parser *p)
{
	while (p->at < p->end && memchr(" \t\r\n", *p->at, 4))
		p->at++;
}

/* The next byte behind blanks; 0 at the end, which no rule below accepts. */
static char peek(struct parser *p)
{
	skip_blanks(p);
	return p->at < p->end ? *p->at : '\0';
}

static bool accept(struct parser *p, char c)
{
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

static bool accept_word(struct parser *p, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0)
		return false;
	p->at += len;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The four digits of a \u escape; -1 when they are none. */
static int32_t parse_hex4(struct parser *p)
{
	int32_t value = 0;

	if (p->end - p->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p->at[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	p->at += 4;
	return value;
}

static void add_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_addc(out, (char)c);
	} else if (c < 0x800) {
		buf_addc(out, (char)(0xc0 | c >> 6));
		buf_addc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_addc(out, (char)(0xe0 | c >> 12));
		buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(out, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_addc(out, (char)(0xf0 | c >> 18));
		buf_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* Behind "\u".  Half a surrogate pair is no character and no JSON of ours. */
static int parse_unicode(struct parser *p, struct buf *out)
{
	int32_t high = parse_hex4(p), low;

	if (high < 0 || (high >= 0xdc00 && high <= 0xdfff))
		return -EBADMSG;
	if (high < 0xd800 || high > 0xdbff) {
		add_utf8(out, (uint32_t)high);
		return 0;
	}
	if (!accept_word(p, "\\u"))
		return -EBADMSG;
	low = parse_hex4(p);
	if (low < 0xdc00 || low > 0xdfff)
		return -EBADMSG;
	add_utf8(out, 0x10000u + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
	return 0;
}

static int parse_escape(struct parser *p, struct buf *out)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char meant[] = "\"\\/\b\f\n\r\t";
	const char *letter;

	if (p->at == p->end)
		return -EBADMSG;
	if (*p->at == 'u') {
		p->at++;
		return parse_unicode(p, out);
	}
	letter = memchr(letters, *p->at, sizeof(letters) - 1);
	if (!letter)
		return -EBADMSG;
	p->at++;
	buf_addc(out, meant[letter - letters]);
	return 0;
}

static int parse_text(struct parser *p, struct buf *out)
{
	if (!accept(p, '"'))
		return -EBADMSG;
	for (;;) {
		const char *run = p->at;

		while (p->at < p->end && *p->at != '"' && *p->at != '\\' &&
		       (unsigned char)*p->at >= ' ')
			p->at++;
		buf_add(out, run, (size_t)(p->at - run));
		if (p->at == p->end)
			return -EBADMSG;
		switch (*p->at++) {
		case '"':
			return 0;
		case '\\':
			if (parse_escape(p, out) < 0)
				return -EBADMSG;
			break;
		default:
			return -EBADMSG; /* a bare control character */
		}
	}
}

static size_t count_digits(const char *s)
{
	size_t n = 0;

	while (s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/* Does the whole text follow the grammar of a number?  Tells, too, whether it is an integer. */
static bool is_number(const char *s, bool *integer)
{
	size_t n;

	if (*s == '-')
		s++;
	n = count_digits(s);
	if (n == 0 || (n > 1 && *s == '0'))
		return false;
	s += n;
	*integer = *s == '\0';
	if (*s == '.') {
		n = count_digits(++s);
		if (n == 0)
			return false;
		s += n;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		if (*s == '+' || *s == '-')
			s++;
		n = count_digits(s);
		if (n == 0)
			return false;
		s += n;
	}
	return *s == '\0';
}

static int parse_number(struct parser *p, struct json *parent, const char *key)
{
	char text[NUMBER_MAX + 1];
	size_t len = 0;
	bool integer;
	long long number;

	while (p->at < p->end && *p->at && strchr("+-.eE0123456789", *p->at)) {
		if (len == NUMBER_MAX)
			return -EBADMSG;
		text[len++] = *p->at++;
	}
	text[len] = '\0';
	if (!is_number(text, &integer))
		return -EBADMSG;
	errno = 0;
	number = strtoll(text, NULL, 10);
	if (integer && errno == 0)
		json_put_number(parent, key, number);
	else
		json_put_real(parent, key, strtod(text, NULL));
	return 0;
}

static int parse_members(struct parser *p, struct json *object)
{
	if (accept(p, '}'))
		return 0;
	do {
		_cleanup_buf_ struct buf key = BUF_INIT;

		if (parse_text(p, &key) < 0 || !accept(p, ':') ||
		    parse_value(p, object, buf_str(&key)) < 0)
			return -EBADMSG;
	} while (accept(p, ','));
	return accept(p, '}') ? 0 : -EBADMSG;
}

static int parse_elements(struct parser *p, struct json *array)
{
	if (accept(p, ']'))
		return 0;
	do {
		if (parse_value(p, array, NULL) < 0)
			return -EBADMSG;
	} while (accept(p, ','));
	return accept(p, ']') ? 0 : -EBADMSG;
}

/* An object or array; NULL when there is none, or a broken or too deep one. */
static struct json *parse_container(struct parser *p)
{
	bool is_object = accept(p, '{');
	struct json *node;
	int rc;

	if ((!is_object && !accept(p, '[')) || p->depth == DEPTH_MAX)
		return NULL;
	p->depth++;
	node = is_object ? json_object() : json_array();
	rc = is_object ? parse_members(p, node) : parse_elements(p, node);
	p->depth--;
	if (rc == 0)
		return node;
	json_free(node);
	return NULL;
}

static int parse_value(struct parser *p, struct json *parent, const char *key)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *child;

	switch (peek(p)) {
	case '{':
	case '[':
		child = parse_container(p);
		if (!child)
			return -EBADMSG;
		json_put(parent, key, child);
		return 0;
	case '"':
		if (parse_text(p, &text) < 0)
			return -EBADMSG;
		json_put_text_len(parent, key, buf_str(&text), text.len);
		return 0;
	case 't':
		if (!accept_word(p, "true"))
			return -EBADMSG;
		json_put_bool(parent, key, true);
		return 0;
	case 'f':
		if (!accept_word(p, "false"))
			return -EBADMSG;
		json_put_bool(parent, key, false);
		return 0;
	case 'n':
		if (!accept_word(p, "null"))
			return -EBADMSG;
		json_put_null(parent, key);
		return 0;
	default:
		return parse_number(p, parent, key);
	}
}

struct json *json_parse(const char *text, size_t len)
{
	struct parser p = { text, text + len, 0 };
	struct json *node = parse_container(&p);

	skip_blanks(&p);
	if (node && p.at == p.end)
		return node;
	json_free(node);
	return NULL;
}
