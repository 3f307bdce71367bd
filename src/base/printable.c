#include "base/printable.h"

#include <locale.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#define REPLACEMENT 0xfffd

static uint8_t byte_at(const char *text, size_t i)
{
	return (uint8_t)text[i];
}

/*
 * Accepts the sequences that RFC 3629, section 4, allows: no overlong forms, no surrogates, nothing
 * above U+10FFFF.
 */
size_t utf8_sequence_len(const char *text, size_t len)
{
	uint8_t lead, low = 0x80, high = 0xbf;
	size_t n;

	if (len == 0)
		return 0;
	lead = byte_at(text, 0);
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	n = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	if (n > len)
		return 0;
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xf4)
		high = 0x8f;
	if (byte_at(text, 1) < low || byte_at(text, 1) > high)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if ((byte_at(text, i) & 0xc0) != 0x80)
			return 0;
	}
	return n;
}

uint32_t utf8_decode(const char *text, size_t n)
{
	static const uint8_t lead_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = byte_at(text, 0) & lead_bits[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (byte_at(text, i) & 0x3f);
	return c;
}

/*
 * The control characters and some other characters of Unicode are unsafe.  U+061C, U+180E, U+200B
 * to U+200F, U+2060 to U+206F, U+FEFF, U+FFF9 to U+FFFB and the tags from U+E0000 on have no width
 * or change the direction, so that two different names could look the same.  U+2028 to U+202E split
 * lines or change the direction.
 */
bool printable_is_unsafe(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f },	     { 0x7f, 0x9f },	 { 0x61c, 0x61c },     { 0x180e, 0x180e },
		{ 0x200b, 0x200f },  { 0x2028, 0x202e }, { 0x2060, 0x206f },   { 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },  { 0xe0000, 0xe007f },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	}
	return false;
}

static bool is_unchanged(char c, bool lines)
{
	return (c >= ' ' && c < 0x7f) || (lines && (c == '\n' || c == '\t'));
}

/* Appends the text in safe form.  If `lines` is true, leaves line feeds and tabs unchanged. */
static void add(struct buf *out, const char *text, size_t len, bool lines)
{
	size_t clean = 0; /* start of the safe text that is not in `out` yet */
	size_t i = 0;

	while (i < len) {
		size_t n;

		if (is_unchanged(text[i], lines)) {
			i++;
			continue;
		}
		n = utf8_sequence_len(text + i, len - i);
		if (n > 0 && !printable_is_unsafe(utf8_decode(text + i, n))) {
			i += n;
			continue;
		}
		buf_add(out, text + clean, i - clean);
		for (size_t end = i + (n ? n : 1); i < end; i++)
			buf_addf(out, "\\x%02X", byte_at(text, i));
		clean = i;
	}
	buf_add(out, text + clean, len - clean);
}

void printable_add(struct buf *out, const char *text, size_t len)
{
	add(out, text, len, false);
}

void printable_add_lines(struct buf *out, const char *text, size_t len)
{
	add(out, text, len, true);
}

char *printable_add_str(const char *text)
{
	struct buf out = BUF_INIT;

	printable_add(&out, text, strlen(text));
	return buf_take(&out);
}

/*
 * Sets the UTF-8 locale that wcwidth(3) needs; the output is UTF-8 in any locale.  Called only just
 * before wcwidth(3) and not at startup, because setlocale(3) is slow: it takes as long as
 * connecting to a JVM whose attach socket is open.
 */
static void set_utf8_locale(void)
{
	static bool done;

	if (!done)
		(void)setlocale(LC_CTYPE, "C.UTF-8"); /* on failure, columns are misaligned */
	done = true;
}

/*
 * Returns the width of the character at `text` in terminal cells, and sets *n to its length in
 * bytes.
 */
static size_t char_width(const char *text, size_t len, size_t *n)
{
	int cells;

	*n = byte_at(text, 0) < 0x80 ? 1 : utf8_sequence_len(text, len);
	if (*n <= 1) {
		*n = 1;
		return 1;
	}
	set_utf8_locale();
	/*
	 * wchar_t has Unicode code points in glibc and musl.  wcwidth(3) returns -1 for unknown
	 * characters.
	 */
	cells = wcwidth((wchar_t)utf8_decode(text, *n));
	return cells < 0 ? 1 : (size_t)cells;
}

size_t printable_width(const char *text, size_t len)
{
	size_t width = 0, n;

	for (size_t i = 0; i < len; i += n)
		width += char_width(text + i, len - i, &n);
	return width;
}

size_t printable_fit(const char *text, size_t len, size_t width)
{
	size_t used = 0, i = 0, n;

	for (; i < len; i += n) {
		used += char_width(text + i, len - i, &n);
		if (used > width)
			break;
	}
	return i;
}

static bool is_high(uint32_t c)
{
	return c >= 0xd800 && c < 0xdc00;
}

static bool is_low(uint32_t c)
{
	return c >= 0xdc00 && c < 0xe000;
}

void utf8_add_char(struct buf *out, uint32_t c)
{
	if (is_high(c) || is_low(c))
		c = REPLACEMENT;
	if (c < 0x80) {
		buf_addc(out, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_addc(out, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		buf_addc(out, (char)(0xe0 | c >> 12));
		buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		buf_addc(out, (char)(0xf0 | c >> 18));
		buf_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buf_addc(out, (char)(0x80 | (c & 0x3f)));
}

static uint32_t unit_at(const uint8_t *p, bool big_endian)
{
	return big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

void utf8_add_utf16(struct buf *out, const uint8_t *data, size_t len, bool big_endian)
{
	for (size_t i = 0; i + 2 <= len; i += 2) {
		uint32_t c = unit_at(data + i, big_endian);
		uint32_t next = i + 4 <= len ? unit_at(data + i + 2, big_endian) : 0;

		if (is_high(c) && is_low(next)) {
			c = 0x10000 + ((c & 0x3ff) << 10 | (next & 0x3ff));
			i += 2;
		}
		utf8_add_char(out, c);
	}
}
