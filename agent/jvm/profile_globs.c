/* Which classes are wanted, by their Java names. */
#include <string.h>

#include "jvm/profile_exact_state.h"

/* A class's Java name, without writing it down: "p.A", "int[]". */
struct java_name {
	const char *element;
	size_t len; /* of the element's */
	size_t all; /* with two more for each dimension */
};

static const char *primitive(char c)
{
	switch (c) {
	case 'Z':
		return "boolean";
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'S':
		return "short";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'F':
		return "float";
	default:
		return "double";
	}
}

static struct java_name java_name(const char *signature, size_t len)
{
	size_t dimensions = 0;
	struct java_name name;

	while (dimensions + 1 < len && signature[dimensions] == '[')
		dimensions++;
	name.element = signature + dimensions;
	if (*name.element == 'L') {
		name.element++;
		name.len = len - dimensions - 2;
	} else {
		name.element = primitive(*name.element);
		name.len = strlen(name.element);
	}
	name.all = name.len + 2 * dimensions;
	return name;
}

static char char_at(const struct java_name *name, size_t i)
{
	if (i >= name->len)
		return "[]"[(i - name->len) & 1];
	return name->element[i] == '/' ? '.' : name->element[i];
}

/* Behind the character that begins at i, which may be several bytes. */
static size_t next_char(const struct java_name *name, size_t i)
{
	do
		i++;
	while (i < name->all && ((unsigned char)char_at(name, i) & 0xc0) == 0x80);
	return i;
}

/* From the last star on it is tried again, a character further. */
static bool matches(const char *glob, const struct java_name *name)
{
	const char *star = NULL;
	size_t i = 0, from = 0;

	while (i < name->all) {
		if (*glob == '*') {
			star = ++glob;
			from = i;
		} else if (*glob == '?') {
			glob++;
			i = next_char(name, i);
		} else if (*glob != '\0' && *glob == char_at(name, i)) {
			glob++;
			i++;
		} else if (star) {
			glob = star;
			i = from = next_char(name, from);
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == '\0';
}

bool ag_exact_wants(const struct ag_profile *profile, const char *signature, size_t len)
{
	struct java_name name;

	if (profile->wanted.n_globs == 0)
		return true;
	if (len == 0)
		return false;
	name = java_name(signature, len);
	for (uint32_t i = 0; i < profile->wanted.n_globs; i++) {
		if (matches(profile->wanted.globs[i], &name))
			return true;
	}
	return false;
}
