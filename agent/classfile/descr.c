#include "classfile/descr.h"

#include <string.h>

#define DIMENSIONS_MAX 255 /* limit of JVMS 4.3.2 */

bool cf_type_next(struct cf_text *rest, struct cf_type *type)
{
	struct cf_text text = *rest;
	struct cf_type t = { 0 };
	const char *end;
	size_t i = 0;

	while (i < text.len && text.data[i] == '[')
		i++;
	if (i == text.len || i > DIMENSIONS_MAX)
		return false;
	t.dimensions = (uint8_t)i;
	t.element_kind = text.data[i++];
	if (t.element_kind == 'L') {
		end = memchr(text.data + i, ';', text.len - i);
		if (!end || end == text.data + i)
			return false;
		t.element = (struct cf_text){ text.data + i, (size_t)(end - text.data) - i };
		i = (size_t)(end - text.data) + 1;
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): without the NUL, no type */
	} else if (!memchr("BCDFIJSZV", t.element_kind, 9) ||
		   (t.element_kind == 'V' && t.dimensions > 0)) {
		return false;
	}
	t.kind = t.dimensions > 0 ? 'L' : t.element_kind;
	t.text = (struct cf_text){ text.data, i };
	*type = t;
	*rest = (struct cf_text){ text.data + i, text.len - i };
	return true;
}

unsigned cf_type_slots(const struct cf_type *type)
{
	switch (type->kind) {
	case 'V':
		return 0;
	case 'J':
	case 'D':
		return 2;
	default:
		return 1;
	}
}

bool cf_method_types(struct cf_text descriptor, struct cf_text *parameters,
		     struct cf_type *result)
{
	struct cf_text rest = descriptor;
	struct cf_type type;
	const char *begin;

	if (rest.len == 0 || rest.data[0] != '(')
		return false;
	begin = ++rest.data;
	rest.len--;
	while (rest.len > 0 && rest.data[0] != ')') {
		if (!cf_type_next(&rest, &type) || type.kind == 'V')
			return false;
	}
	if (rest.len == 0)
		return false;
	*parameters = (struct cf_text){ begin, (size_t)(rest.data - begin) };
	rest.data++;
	rest.len--;
	return cf_type_next(&rest, result) && rest.len == 0;
}
