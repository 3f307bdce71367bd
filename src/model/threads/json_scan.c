#include "model/threads/json_scan.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/printable.h"

static void fail(struct json_scan *s)
{
	s->bad = true;
	s->rest.at = s->rest.end;
}

/* Returns the next character that is not white space, without consuming it; '\0' at the end. */
static char next(struct json_scan *s)
{
	static const char blanks[] = " \t\r\n";

	while (s->rest.at < s->rest.end && memchr(blanks, *s->rest.at, sizeof(blanks) - 1))
		s->rest.at++;
	return s->rest.at < s->rest.end ? *s->rest.at : '\0';
}

static bool enter(struct json_scan *s, char open)
{
	if (next(s) != open) {
		json_scan_skip(s);
		return false;
	}
	s->rest.at++;
	return true;
}

bool json_scan_object(struct json_scan *s)
{
	return enter(s, '{');
}

bool json_scan_array(struct json_scan *s)
{
	return enter(s, '[');
}

/*
 * Consumes a comma and returns true.  At the end of the object or array, consumes `close` and
 * returns false.
 */
static bool more(struct json_scan *s, char close)
{
	char c = next(s);

	if (c == close) {
		s->rest.at++;
		return false;
	}
	if (c == ',')
		s->rest.at++;
	if (next(s) == '\0') {
		fail(s);
		return false;
	}
	return true;
}

/* Consumes a string, and sets *raw to the characters between its quotes. */
static bool string(struct json_scan *s, struct strview *raw)
{
	const char *at;

	if (next(s) != '"') {
		fail(s);
		return false;
	}
	at = s->rest.at + 1;
	raw->at = at;
	while (at < s->rest.end && *at != '"')
		at += *at == '\\' && at + 1 < s->rest.end ? 2 : 1;
	if (at >= s->rest.end) {
		fail(s);
		return false;
	}
	raw->end = at;
	s->rest.at = at + 1;
	return true;
}

bool json_scan_key(struct json_scan *s, struct strview *key)
{
	if (!more(s, '}') || !string(s, key))
		return false;
	if (next(s) != ':') {
		fail(s);
		return false;
	}
	s->rest.at++;
	return true;
}

bool json_scan_item(struct json_scan *s)
{
	return more(s, ']');
}

/* Consumes "\u" and four hexadecimal digits.  Returns false if the text begins in another way. */
static bool unit(struct strview *raw, uint32_t *c)
{
	if (strview_len(*raw) < 6 || raw->at[0] != '\\' || raw->at[1] != 'u')
		return false;
	*c = 0;
	for (int i = 2; i < 6; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, tolower((unsigned char)raw->at[i]));

		if (!digit || *digit == '\0')
			return false;
		*c = *c << 4 | (uint32_t)(digit - digits);
	}
	raw->at += 6;
	return true;
}

static void add_escaped(struct buf *out, struct strview *raw)
{
	static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
	struct strview second;
	uint32_t high, low;
	const char *letter;

	if (unit(raw, &high)) {
		second = *raw;
		if (high >> 10 == 0xD800 >> 10 && unit(&second, &low) &&
		    low >> 10 == 0xDC00 >> 10) {
			*raw = second;
			high = 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF);
		}
		utf8_add_char(out, high);
		return;
	}
	letter = strchr(letters, raw->at[1]);
	buf_addc(out, letter && *letter ? controls[letter - letters] : raw->at[1]);
	raw->at += 2;
}

bool json_scan_text(struct json_scan *s, struct buf *text)
{
	struct strview raw;

	if (next(s) != '"') {
		json_scan_skip(s);
		return false;
	}
	if (!string(s, &raw))
		return false;
	while (raw.at < raw.end) {
		const char *escape = memchr(raw.at, '\\', strview_len(raw));

		buf_add(text, raw.at, (size_t)((escape ? escape : raw.end) - raw.at));
		raw.at = escape ? escape : raw.end;
		if (escape)
			add_escaped(text, &raw);
	}
	return true;
}

int64_t json_scan_number(struct json_scan *s)
{
	int64_t value = 0;
	struct strview raw;

	if (next(s) == '"') {
		if (!string(s, &raw))
			return -1;
	} else {
		raw.at = s->rest.at;
		json_scan_skip(s);
		raw.end = s->rest.at;
	}
	if (raw.at == raw.end)
		return -1;
	for (; raw.at < raw.end; raw.at++) {
		if (!isdigit((unsigned char)*raw.at) ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *raw.at - '0', &value))
			return -1;
	}
	return value;
}

bool json_scan_true(struct json_scan *s)
{
	struct strview raw = { .at = NULL };

	(void)next(s);
	raw.at = s->rest.at;
	json_scan_skip(s);
	raw.end = s->rest.at;
	return strview_is(raw, "true");
}

/*
 * Skips the next value.  Counts brackets and does not recurse, because the document is untrusted
 * and may be nested deeply.
 */
void json_scan_skip(struct json_scan *s)
{
	static const char ends[] = " \t\r\n,:{}[]\"";
	size_t depth = 0;
	struct strview ignored;

	do {
		char c = next(s);

		if (c == '\0') {
			fail(s);
			return;
		}
		if (c == '"') {
			(void)string(s, &ignored);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth-- == 0) {
			fail(s);
			return;
		}
		if (strchr("{}[],:", c)) {
			s->rest.at++;
			continue;
		}
		while (s->rest.at < s->rest.end &&
		       !memchr(ends, *s->rest.at, sizeof(ends) - 1))
			s->rest.at++;
	} while (depth > 0);
}
