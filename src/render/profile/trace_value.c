#include "render/profile/trace_value.h"

#include <inttypes.h>
#include <math.h>

#include "base/printable.h"
#include "render/java_double.h"

/* Returns the escape sequence of a character in a Java literal, or NULL if it needs none. */
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

/*
 * Appends a text with escape sequences.  `quote` is the quotation mark around the text, or 0 if
 * there is none.
 */
static void add_escaped(struct buf *out, const struct buf *text, char quote)
{
	size_t plain = 0; /* start of the text that was not appended yet */

	for (size_t i = 0; i < text->len; i++) {
		const char *escape = escape_of(text->data[i], quote);

		if (!escape)
			continue;
		printable_add(out, text->data + plain, i - plain);
		buf_adds(out, escape);
		plain = i + 1;
	}
	if (text->len > plain)
		printable_add(out, text->data + plain, text->len - plain);
}

static void add_quoted(struct buf *out, const struct buf *text, char quote)
{
	buf_addc(out, quote);
	add_escaped(out, text, quote);
	buf_addc(out, quote);
}

/* Appends a char, which may be a surrogate without its partner. */
static void add_char(struct buf *out, uint32_t c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (c >= 0xd800 && c < 0xe000) {
		buf_addf(out, "'\\u%04X'", (unsigned)c);
		return;
	}
	utf8_add_char(&text, c);
	add_quoted(out, &text, '\'');
}

/* Appends an enum constant, a Throwable or another object as text, without escape sequences. */
static void add_plain_name(struct buf *out, const struct trace_value *value)
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

static void add_name(struct buf *out, const struct trace_value *value)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	add_plain_name(&name, value);
	add_escaped(out, &name, 0);
	buf_adds(out, value->cut ? "..." : "");
}

static void add_array(struct buf *out, const struct trace_value *array)
{
	struct wire_text rest = array->elements;
	struct trace_value element = { 0 };
	const char *between = "";

	buf_addc(out, '[');
	/* No errors can occur, because the elements were checked when the array was read. */
	while (trace_value_next(&rest, &element) > 0 && element.kind != VALUE_CUT) {
		buf_adds(out, between);
		trace_value_add(out, &element);
		between = ", ";
	}
	trace_value_release(&element);
	if (array->cut)
		buf_addf(out, "%s... %" PRIu32 " in all", between, array->length);
	buf_addc(out, ']');
}

void trace_value_add(struct buf *out, const struct trace_value *value)
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
		java_double(out, value->real, value->kind == VALUE_FLOAT);
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

static void put_text(struct json *parent, const char *key, const struct buf *text)
{
	json_put_text_len(parent, key, buf_str(text), text->len);
}

/*
 * Adds a number to JSON.  A float has the fewest digits that identify it: 0.1 and not
 * 0.10000000149011612.
 */
static void put_real(struct json *parent, const char *key, const struct trace_value *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	java_double(&text, value->real, value->kind == VALUE_FLOAT);
	if (isfinite(value->real))
		json_put_real(parent, key, strtod(buf_str(&text), NULL));
	else
		put_text(parent, key, &text);
}

static void put_array(struct json *parent, const char *key, const struct trace_value *array,
		      bool *cut)
{
	struct json *json = json_object();

	json_put_text(json, "class", buf_str(&array->class));
	json_put_unsigned(json, "length", array->length);
	json_put(json, "elements", trace_values_json(array->elements, cut));
	json_put(parent, key, json);
}

void trace_value_put(struct json *parent, const char *key, const struct trace_value *value,
		     bool *cut)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	*cut |= value->cut;
	switch (value->kind) {
	case VALUE_BOOLEAN:
		json_put_bool(parent, key, value->number != 0);
		break;
	case VALUE_CHAR:
		utf8_add_char(&text, (uint32_t)value->number);
		put_text(parent, key, &text);
		break;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		put_real(parent, key, value);
		break;
	case VALUE_NULL:
	case VALUE_CUT:
		json_put_null(parent, key);
		break;
	case VALUE_STRING:
		put_text(parent, key, &value->text);
		break;
	case VALUE_ARRAY:
		put_array(parent, key, value, cut);
		break;
	case VALUE_ENUM:
	case VALUE_THROWABLE:
	case VALUE_OBJECT:
		add_plain_name(&text, value);
		put_text(parent, key, &text);
		break;
	default:
		json_put_number(parent, key, value->number);
		break;
	}
}

struct json *trace_values_json(struct wire_text rest, bool *cut)
{
	struct json *list = json_array();
	struct trace_value value = { 0 };
	int rc;

	while ((rc = trace_value_next(&rest, &value)) > 0 && value.kind != VALUE_CUT)
		trace_value_put(list, NULL, &value, cut);
	if (rc != 0)
		*cut = true;
	trace_value_release(&value);
	return list;
}
