#include "model/class/class_attributes.h"

#include <string.h>

#define NESTED_MAX 32 /* maximum depth of nested annotations */

struct class_attribute class_attribute_open(struct cf_attributes attributes, const char *name)
{
	struct class_attribute a = { .pool = attributes.pool };
	struct cf_attribute found;

	if (!cf_find_attribute(attributes, name, &found))
		return a;
	a.found = true;
	a.bytes = cf_bytes_init(found.data, found.len);
	/* The content of NestHost is one class index, without a count. */
	a.left = strcmp(name, "NestHost") == 0 ? 1 : cf_u2(&a.bytes);
	return a;
}

static bool take(struct class_attribute *a)
{
	if (a->left == 0 || a->bytes.failed)
		return false;
	a->left--;
	return true;
}

bool class_attribute_class(struct class_attribute *a, struct cf_text *name)
{
	if (!take(a))
		return false;
	*name = cf_class_name(a->pool, cf_u2(&a->bytes));
	return name->data;
}

bool class_attribute_component(struct class_attribute *a, struct cf_member *component)
{
	struct cf_attributes rest;
	struct cf_attribute unused;

	if (!take(a))
		return false;
	*component = (struct cf_member){ 0 };
	component->name = cf_utf8(a->pool, cf_u2(&a->bytes));
	component->descriptor = cf_utf8(a->pool, cf_u2(&a->bytes));
	component->attributes.pool = a->pool;
	component->attributes.left = cf_u2(&a->bytes);
	component->attributes.bytes = a->bytes;
	rest = component->attributes;
	while (cf_next_attribute(&rest, &unused))
		continue;
	a->bytes = rest.bytes;
	return component->name.data && component->descriptor.data && !a->bytes.failed;
}

static void skip_pairs(struct cf_bytes *b, unsigned depth);

/* Skips an element_value (JVMS 4.7.16.1). */
static void skip_value(struct cf_bytes *b, unsigned depth)
{
	uint8_t tag = cf_u1(b);
	uint16_t n = cf_u2(b); /* index of a constant or a type name, or number of elements */

	if (depth == 0)
		b->failed = true;
	if (tag == 'e')
		(void)cf_u2(b);
	if (tag == '@')
		skip_pairs(b, depth - 1);
	for (; tag == '[' && n > 0 && !b->failed; n--)
		skip_value(b, depth - 1);
}

static void skip_pairs(struct cf_bytes *b, unsigned depth)
{
	for (uint16_t n = cf_u2(b); n > 0 && !b->failed; n--) {
		(void)cf_u2(b);
		skip_value(b, depth);
	}
}

bool class_attribute_annotation(struct class_attribute *a, struct cf_text *type)
{
	if (!take(a))
		return false;
	*type = cf_utf8(a->pool, cf_u2(&a->bytes));
	skip_pairs(&a->bytes, NESTED_MAX);
	return type->data && !a->bytes.failed;
}

uint16_t class_attribute_index(struct cf_attributes attributes, const char *name)
{
	struct cf_attribute a;

	if (!cf_find_attribute(attributes, name, &a) || a.len != 2)
		return 0;
	return cf_peek_u2(a.data);
}
