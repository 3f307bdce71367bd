#include "model/jfr/jfr_string.h"

#include "base/printable.h"

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

/* Appends UTF-16 as UTF-8.  A surrogate without its partner becomes U+FFFD. */
static void add_chars(struct buf *out, struct jfr_cursor c)
{
	_cleanup_buf_ struct buf units = BUF_INIT;

	while (jfr_left(&c) > 0) {
		uint16_t unit = (uint16_t)jfr_number(&c, 2);

		buf_addc(&units, (char)(unit & 0xff));
		buf_addc(&units, (char)(unit >> 8));
	}
	utf8_add_utf16(out, (const uint8_t *)units.data, units.len, false);
}

void jfr_string_add(struct buf *out, const struct jfr_string *s)
{
	if (s->encoding == JFR_STRING_UTF8) {
		buf_add(out, s->bytes.at, jfr_left(&s->bytes));
	} else if (s->encoding == JFR_STRING_CHARS) {
		add_chars(out, s->bytes);
	} else if (s->encoding == JFR_STRING_LATIN1) {
		for (const uint8_t *at = s->bytes.at; at < s->bytes.end; at++)
			utf8_add_char(out, *at);
	}
}
