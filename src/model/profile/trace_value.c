#include "model/profile/trace_value.h"

#include <errno.h>
#include <string.h>

#include "base/printable.h"
#include "model/class/type_name.h"

void trace_value_release(struct trace_value *value)
{
	buf_release(&value->text);
	buf_release(&value->class);
	*value = (struct trace_value){ 0 };
}

/* Removes the next n bytes and returns a pointer to them; NULL if there are fewer. */
static const uint8_t *take(struct wire_text *rest, size_t n)
{
	const char *at = rest->data;

	if (rest->len < n)
		return NULL;
	rest->data += n;
	rest->len -= n;
	return (const uint8_t *)at;
}

/* Reads a big-endian number of n bytes.  Returns false if there are fewer bytes. */
static bool take_number(struct wire_text *rest, size_t n, uint64_t *number)
{
	const uint8_t *at = take(rest, n);

	if (!at)
		return false;
	*number = 0;
	for (size_t i = 0; i < n; i++)
		*number = *number << 8 | at[i];
	return true;
}

static double as_float(uint64_t bits)
{
	uint32_t narrow = (uint32_t)bits;
	float real;

	memcpy(&real, &narrow, sizeof(real));
	return (double)real;
}

static double as_double(uint64_t bits)
{
	double real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

static int take_primitive(struct wire_text *rest, struct trace_value *value)
{
	uint64_t bits;
	bool wide = value->kind == VALUE_LONG || value->kind == VALUE_DOUBLE;

	if (!take_number(rest, wide ? 8 : 4, &bits))
		return -EBADMSG;
	switch (value->kind) {
	case VALUE_FLOAT:
		value->real = as_float(bits);
		break;
	case VALUE_DOUBLE:
		value->real = as_double(bits);
		break;
	case VALUE_LONG:
		value->number = (int64_t)bits;
		break;
	case VALUE_CHAR:
		value->number = (uint16_t)bits;
		break;
	case VALUE_BOOLEAN:
		value->number = bits != 0;
		break;
	default:
		value->number = (int32_t)(uint32_t)bits;
		break;
	}
	return 1;
}

static bool is_primitive(char kind)
{
	return type_name_primitive(kind) != NULL;
}

static int take_boxed(struct wire_text *rest, struct trace_value *value)
{
	const uint8_t *kind = take(rest, 1);

	if (!kind || !is_primitive((char)*kind))
		return -EBADMSG;
	value->boxed = true;
	value->kind = (char)*kind;
	return take_primitive(rest, value);
}

static int take_class(struct wire_text *rest, struct trace_value *value)
{
	const uint8_t *signature;
	uint64_t len;

	if (!take_number(rest, 2, &len))
		return -EBADMSG;
	signature = take(rest, (size_t)len);
	if (!signature || type_name_java(&value->class, (const char *)signature, (size_t)len) < 0)
		return -EBADMSG;
	return 1;
}

/* Returns n, or n - 1 if the last character is a high surrogate whose low surrogate was cut off. */
static size_t without_high_surrogate(const uint8_t *chars, size_t n)
{
	return n > 0 && (chars[2 * (n - 1)] & 0xfc) == 0xd8 ? n - 1 : n;
}

static int take_string(struct wire_text *rest, struct trace_value *value)
{
	uint64_t length, n;
	const uint8_t *chars;

	if (!take_number(rest, 4, &length) || !take_number(rest, 2, &n) || n > length)
		return -EBADMSG;
	chars = take(rest, 2 * (size_t)n);
	if (!chars)
		return -EBADMSG;
	value->has_text = true;
	value->length = (uint32_t)length;
	value->cut = n < length;
	if (value->cut)
		n = without_high_surrogate(chars, (size_t)n);
	utf8_add_utf16(&value->text, chars, 2 * (size_t)n, true);
	return 1;
}

static int take_text_or_null(struct wire_text *rest, struct trace_value *value)
{
	const uint8_t *kind = take(rest, 1);

	if (kind && *kind == VALUE_NULL)
		return 1;
	return kind && *kind == VALUE_STRING ? take_string(rest, value) : -EBADMSG;
}

static int take_named(struct wire_text *rest, struct trace_value *value)
{
	int rc = take_class(rest, value);

	return rc < 0 ? rc : take_text_or_null(rest, value);
}

static int take_object(struct wire_text *rest, struct trace_value *value)
{
	uint64_t identity;

	if (take_class(rest, value) < 0 || !take_number(rest, 4, &identity))
		return -EBADMSG;
	value->identity = (uint32_t)identity;
	return 1;
}

/* Reads a value that is not an array.  Returns 1 or -EBADMSG. */
static int take_simple(struct wire_text *rest, struct trace_value *value)
{
	switch (value->kind) {
	case VALUE_NULL:
		return 1;
	case VALUE_STRING:
		return take_string(rest, value);
	case VALUE_BOXED:
		return take_boxed(rest, value);
	case VALUE_ENUM:
	case VALUE_THROWABLE:
		return take_named(rest, value);
	case VALUE_OBJECT:
		return take_object(rest, value);
	case VALUE_CUT:
		value->cut = true;
		return 1;
	default:
		return is_primitive(value->kind) ? take_primitive(rest, value) : -EBADMSG;
	}
}

static int take_kind(struct wire_text *rest, struct trace_value *value)
{
	const uint8_t *kind = take(rest, 1);

	trace_value_release(value);
	if (!kind)
		return -EBADMSG;
	value->kind = (char)*kind;
	return 1;
}

/* Reads the elements of an array to find their end; the caller decodes them later. */
static int take_elements(struct wire_text *rest, struct trace_value *value, uint32_t n)
{
	struct trace_value element = { 0 };
	int rc = 1;

	value->elements.data = rest->data;
	value->cut = n < value->length;
	for (uint32_t i = 0; i < n && rc == 1 && element.kind != VALUE_CUT; i++) {
		rc = take_kind(rest, &element);
		if (rc == 1)
			rc = take_simple(rest, &element);
	}
	if (element.kind == VALUE_CUT)
		value->cut = true;
	value->elements.len = (size_t)(rest->data - value->elements.data);
	trace_value_release(&element);
	return rc;
}

static int take_array(struct wire_text *rest, struct trace_value *value)
{
	uint64_t length, n;

	if (take_class(rest, value) < 0 || !take_number(rest, 4, &length) ||
	    !take_number(rest, 2, &n) || n > length)
		return -EBADMSG;
	value->length = (uint32_t)length;
	return take_elements(rest, value, (uint32_t)n);
}

int trace_value_next(struct wire_text *rest, struct trace_value *value)
{
	if (rest->len == 0) {
		trace_value_release(value);
		return 0;
	}
	if (take_kind(rest, value) < 0)
		return -EBADMSG;
	return value->kind == VALUE_ARRAY ? take_array(rest, value) : take_simple(rest, value);
}
