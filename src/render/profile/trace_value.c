#include "render/trace_value.h"

#include <inttypes.h>

#include "base/text.h"
#include "render/java_real.h"

/* As Java writes it in a literal; NULL: it is nothing special. */
static const char *escape_of(char c, char quote)
{
	switch (c) {
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	case '"':
		return quote == c ? "\\\"" : NULL;
	case '\'':
		return quote == c ? "\\'" : NULL;
	case '\\':
		return quote ? "\\\\" : NULL;
	default:
		return NULL;
	}
}

/* quote: what stands around it; 0: nothing. */
static void add_escaped(struct buf *out, const struct buf *text, char quote)
{
	size_t plain = 0; /* where what was not yet added begins */

	for (size_t i = 0; i < text->len; i++) {
		const char *escape = escape_of(text->data[i], quote);

		if (!escape)
			continue;
		text_printable(out, text->data + plain, i - plain);
		buf_adds(out, escape);
		plain = i + 1;
	}
	if (text->len > plain)
		text_printable(out, text->data + plain, text->len - plain);
}

static void add_quoted(struct buf *out, const struct buf *text, char quote)
{
	buf_addc(out, quote);
	add_escaped(out, text, quote);
	buf_addc(out, quote);
}

/* Half of a pair is a char of its own. */
static void add_char(struct buf *out, uint32_t c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (c >= 0xd800 && c < 0xe000) {
		buf_addf(out, "'\\u%04X'", (unsigned)c);
		return;
	}
	text_add_char(&text, c);
	add_quoted(out, &text, '\'');
}

void trace_value_name(struct buf *out, const struct tracevalue *value)
{
	if (value->kind == VALUE_ENUM && value->has_text) {
		buf_add(out, buf_str(&value->text), value->text.len);
		return;
	}
	buf_adds(out, buf_str(&value->class));
	if (value->kind == VALUE_OBJECT) {
		buf_addf(out, "@%" PRIx32, value->identity);
	} else if (value->has_text) {
		buf_adds(out, ": ");
		buf_add(out, buf_str(&value->text), value->text.len);
	}
}

static void add_name(struct buf *out, const struct tracevalue *value)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	trace_value_name(&name, value);
	add_escaped(out, &name, 0);
	buf_adds(out, value->cut ? "..." : "");
}

static void add_array(struct buf *out, const struct tracevalue *array)
{
	struct wire_text rest = array->elements;
	struct tracevalue element = { 0 };
	const char *between = "";

	buf_addc(out, '[');
	/* They were looked at when the array was read: there is no error. */
	while (tracevalue_next(&rest, &element) > 0 && element.kind != VALUE_CUT) {
		buf_adds(out, between);
		trace_value_add(out, &element);
		between = ", ";
	}
	tracevalue_release(&element);
	if (array->cut)
		buf_addf(out, "%s... %" PRIu32 " in all", between, array->length);
	buf_addc(out, ']');
}

void trace_value_add(struct buf *out, const struct tracevalue *value)
{
	switch (value->kind) {
	case VALUE_BOOLEAN:
		buf_adds(out, value->number ? "true" : "false");
		break;
	case VALUE_CHAR:
		add_char(out, (uint32_t)value->number);
		break;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		java_real(out, value->real, value->kind == VALUE_FLOAT);
		break;
	case VALUE_NULL:
		buf_adds(out, "null");
		break;
	case VALUE_STRING:
		add_quoted(out, &value->text, '"');
		buf_adds(out, value->cut ? "..." : "");
		break;
	case VALUE_ARRAY:
		add_array(out, value);
		break;
	case VALUE_ENUM:
	case VALUE_THROWABLE:
	case VALUE_OBJECT:
		add_name(out, value);
		break;
	case VALUE_CUT:
		buf_adds(out, "...");
		break;
	default:
		buf_addf(out, "%" PRId64, value->number);
		break;
	}
}
