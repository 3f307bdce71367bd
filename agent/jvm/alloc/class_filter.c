/* Selects the classes that an exact profile counts, by globs for their Java names. */
#include <string.h>

#include "jvm/alloc/alloc_exact_state.h"
#include "util/text.h"
#include "wire/glob.h"

/* The Java name of a class, such as "p.A" or "int[]".  byte_at() returns its characters. */
struct java_name {
	const char *element;
	size_t len; /* length of the name of the element type */
	size_t all; /* length of the complete name: len, and 2 for the "[]" of each dimension */
};

static struct java_name java_name(const char *signature, size_t len)
{
	size_t dimensions = 0;
	struct java_name name;

	while (dimensions + 1 < len && signature[dimensions] == '[')
		dimensions++;
	name.element = signature + dimensions;
	/*
	 * Names in the constant pool are not validated before the JVM parses the class, so an 'L'
	 * may be the last byte.
	 */
	if (*name.element == 'L' && len - dimensions >= 2) {
		name.element++;
		name.len = len - dimensions - 2;
	} else {
		name.element = ag_text_primitive(*name.element);
		name.len = strlen(name.element);
	}
	name.all = name.len + 2 * dimensions;
	return name;
}

static char byte_at(const void *java_name, size_t i)
{
	const struct java_name *name = java_name;

	if (i >= name->len)
		return "[]"[(i - name->len) & 1];
	return name->element[i] == '/' ? '.' : name->element[i];
}

bool ag_exact_wants(const struct ag_alloc_profile *profile, const char *signature, size_t len)
{
	struct java_name name;

	if (profile->wanted.n_globs == 0)
		return true;
	if (len == 0)
		return false;
	name = java_name(signature, len);
	for (uint32_t i = 0; i < profile->wanted.n_globs; i++) {
		if (glob_matches_bytes(profile->wanted.globs[i], byte_at, &name, name.all))
			return true;
	}
	return false;
}
