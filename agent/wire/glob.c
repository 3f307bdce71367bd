#include "wire/glob.h"

#include <stdint.h>
#include <string.h>

#define BROKEN 0x80000000u /* marks a byte that is not part of a valid UTF-8 character */

struct reader {
	glob_byte_fn *byte_at;
	const void *text;
	size_t len, at;
};

static char byte_of_string(const void *text, size_t i)
{
	return ((const char *)text)[i];
}

/* Returns byte i, or 0 after the last byte. */
static uint8_t byte(const struct reader *r, size_t i)
{
	return i < r->len ? (uint8_t)r->byte_at(r->text, i) : 0;
}

/*
 * Returns the next character (RFC 3629, section 3), or 0 after the last byte.  For a byte that is
 * not part of a valid encoding, returns BROKEN | the byte.  In modified UTF-8, a surrogate pair is
 * encoded as two characters, which next_char() joins.
 */
static uint32_t decode(struct reader *r)
{
	uint32_t lead = byte(r, r->at++), c = lead;
	uint32_t bit = 0x40; /* this bit of c is set if the character has another byte */
	size_t at = r->at;

	if (lead < 0x80)
		return lead;
	if (lead < 0xc2 || lead > 0xf4)
		return BROKEN | lead;
	for (; c & bit; bit <<= 5) {
		uint8_t next = byte(r, at++);

		if (next >> 6 != 2)
			return BROKEN | lead;
		c = c << 6 | (next & 0x3f);
	}
	c &= bit - 1;
	if (c < bit >> 5 || c > 0x10ffff) /* overlong encoding, or not in Unicode */
		return BROKEN | lead;
	r->at = at;
	return c;
}

static uint32_t next_char(struct reader *r)
{
	uint32_t c = decode(r);
	size_t at = r->at;

	if (c >> 10 == 0xd800 >> 10) {
		uint32_t low = decode(r);

		if (low >> 10 == 0xdc00 >> 10)
			return (c << 10) + low - ((0xd800u << 10) + 0xdc00 - 0x10000);
		r->at = at;
	}
	return c;
}

/*
 * After a mismatch, lets the last '*' that was read match one more character.  An earlier '*' need
 * not match more characters, because the last '*' can match them instead.
 */
bool glob_matches_bytes(const char *glob, glob_byte_fn *byte_at, const void *text, size_t len)
{
	struct reader g = { byte_of_string, glob, strlen(glob), 0 }, t = { byte_at, text, len, 0 };
	/*
	 * `star`: position in the glob after the last '*' that was read; 0: no '*' was read yet.
	 * `mark`: position in the text after the characters that this '*' matches at present.
	 */
	size_t star = 0, mark = 0;

	for (;;) {
		uint32_t wanted = next_char(&g), c;

		if (wanted == '*') {
			star = g.at;
			mark = t.at;
			continue;
		}
		c = next_char(&t);
		if (c == 0)
			return wanted == 0;
		if (wanted == '?' || wanted == c)
			continue;
		if (star == 0)
			return false;
		g.at = star;
		t.at = mark;
		(void)next_char(&t);
		mark = t.at;
	}
}

bool glob_matches(const char *glob, const char *text)
{
	return glob_matches_bytes(glob, byte_of_string, text, strlen(text));
}

bool glob_is_pattern(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}
