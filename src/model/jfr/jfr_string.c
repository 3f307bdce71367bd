#include "model/jfr/jfr_string.h"

static void read_bytes(struct jfr_cursor *c, struct jfr_string *s)
{
	uint32_t n = jfr_count(c);
	const uint8_t *at = jfr_bytes(c, n);

	s->bytes = *c;
	s->bytes.at = at ? at : c->at;
	s->bytes.end = s->bytes.at + (at ? n : 0);
}

static void read_chars(struct jfr_cursor *c, struct jfr_string *s)
{
	uint32_t n = jfr_count(c);

	s->bytes = *c;
	for (uint32_t i = 0; i < n && !c->failed; i++)
		(void)jfr_number(c, 2);
	s->bytes.end = c->failed ? s->bytes.at : c->at;
}

void jfr_string_read(struct jfr_cursor *c, struct jfr_string *s)
{
	uint8_t encoding = jfr_byte(c);

	*s = (struct jfr_string){ .encoding = (enum jfr_encoding)encoding };
	switch (encoding) {
	case JFR_STRING_NULL:
	case JFR_STRING_EMPTY:
		break;
	case JFR_STRING_CONSTANT:
		s->key = jfr_long(c);
		break;
	case JFR_STRING_UTF8:
	case JFR_STRING_LATIN1:
		read_bytes(c, s);
		break;
	case JFR_STRING_CHARS:
		read_chars(c, s);
		break;
	default:
		jfr_fail(c);
		s->encoding = JFR_STRING_NULL;
	}
}

static void add_code_point(struct buf *out, uint32_t c)
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

/*
 * Appends UTF-16 as UTF-8.  A surrogate without its partner becomes three bytes that are not valid
 * UTF-8.
 */
static void add_chars(struct buf *out, struct jfr_cursor c)
{
	uint32_t high = 0;

	while (jfr_left(&c) > 0) {
		uint32_t unit = (uint16_t)jfr_number(&c, 2);

		if (high && unit >= 0xdc00 && unit < 0xe000) {
			add_code_point(out, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
			high = 0;
			continue;
		}
		if (high)
			add_code_point(out, high);
		high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
		if (!high)
			add_code_point(out, unit);
	}
	if (high)
		add_code_point(out, high);
}

void jfr_string_add(struct buf *out, const struct jfr_string *s)
{
	if (s->encoding == JFR_STRING_UTF8) {
		buf_add(out, s->bytes.at, jfr_left(&s->bytes));
	} else if (s->encoding == JFR_STRING_CHARS) {
		add_chars(out, s->bytes);
	} else if (s->encoding == JFR_STRING_LATIN1) {
		for (const uint8_t *at = s->bytes.at; at < s->bytes.end; at++)
			add_code_point(out, *at);
	}
}
