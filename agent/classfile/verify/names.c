#include "classfile/verify/names.h"

#include <string.h>

#include "classfile/versions.h"

/* Returns true if s[i] is a UTF-8 continuation byte. */
static bool follows(const uint8_t *s, size_t i, size_t len)
{
	return i < len && (s[i] & 0xc0) == 0x80;
}

/* Checks modified UTF-8 (JVMS 4.4.7).  Class files up to Java 3 may have overlong encodings. */
bool names_valid_utf8(struct cf_text text, uint16_t major)
{
	const uint8_t *s = (const uint8_t *)text.data;
	bool any_length = major <= JAVA_3;

	for (size_t i = 0; i < text.len;) {
		uint8_t c = s[i];

		if (c > 0 && c < 0x80) {
			i++;
		} else if ((c & 0xe0) == 0xc0) {
			/* In class files from Java 4 on, only c0 80 (NUL) may be overlong. */
			if (!follows(s, i + 1, text.len) ||
			    (c < 0xc2 && !(c == 0xc0 && s[i + 1] == 0x80) && !any_length))
				return false;
			i += 2;
		} else if ((c & 0xf0) == 0xe0) {
			if (!follows(s, i + 1, text.len) || !follows(s, i + 2, text.len) ||
			    (c == 0xe0 && s[i + 1] < 0xa0 && !any_length))
				return false;
			i += 3;
		} else {
			return false;
		}
	}
	return true;
}

/*
 * Returns true if a name is valid in a class file before Java 5.  Such a name is a Java identifier,
 * or for a class several identifiers with '/' between them.  Every character beyond ASCII is
 * accepted.
 */
static bool old_name(struct cf_text name, enum names_kind kind)
{
	char last = 0;

	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i], small = (char)(c | 0x20);
		bool digit = c >= '0' && c <= '9';
		bool letter = (small >= 'a' && small <= 'z') || c == '_' || c == '$' || c & 0x80;
		bool slash = c == '/' && kind == NAME_CLASS && last != '/';

		if (!letter && !slash && !(digit && i > 0))
			return false;
		last = c;
	}
	return true;
}

static bool new_name(struct cf_text name, enum names_kind kind)
{
	char last = '/';

	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];

		if (c == '.' || c == ';' || c == '[' ||
		    (c == '/' && (kind != NAME_CLASS || last == '/')) ||
		    (kind == NAME_METHOD && (c == '<' || c == '>')))
			return false;
		last = c;
	}
	return last != '/';
}

bool names_valid(struct cf_text name, enum names_kind kind, uint16_t major)
{
	if (!name.data || name.len == 0)
		return false;
	if (kind == NAME_METHOD && name.data[0] == '<')
		return cf_text_is(name, "<init>") || cf_text_is(name, "<clinit>");
	return major < JAVA_5 ? old_name(name, kind) : new_name(name, kind);
}

static bool next_type(struct cf_text *rest, struct cf_type *type, uint16_t major)
{
	return cf_type_next(rest, type) &&
	       (type->element_kind != 'L' || names_valid(type->element, NAME_CLASS, major));
}

bool names_valid_field_type(struct cf_text descriptor, uint16_t major)
{
	struct cf_type type;

	return next_type(&descriptor, &type, major) && descriptor.len == 0 && type.kind != 'V';
}

bool names_valid_class(struct cf_text name, uint16_t major)
{
	if (name.len > 0 && name.data[0] == '[')
		return names_valid_field_type(name, major);
	return names_valid(name, NAME_CLASS, major);
}

bool names_valid_method_types(struct cf_text name, struct cf_text descriptor, uint16_t major,
			      size_t *slots)
{
	struct cf_type type;
	struct cf_text rest;

	*slots = 0;
	if (!cf_method_types(descriptor, &rest, &type))
		return false;
	if (type.element_kind == 'L' && !names_valid(type.element, NAME_CLASS, major))
		return false;
	if (name.len > 0 && name.data[0] == '<' && type.kind != 'V')
		return false;
	if (major >= JAVA_7 && cf_text_is(name, "<clinit>") && rest.len > 0)
		return false;
	while (rest.len > 0) {
		if (!next_type(&rest, &type, major))
			return false;
		*slots += cf_type_slots(&type);
	}
	return true;
}
