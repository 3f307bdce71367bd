/* Checks each constant (JVMS 4.4), and that it refers to constants of the right kinds. */
#include <stdlib.h>
#include <string.h>

#include "classfile/verify/check_internal.h"
#include "classfile/verify/names.h"

bool chk_is_class(const struct check *c, uint16_t index)
{
	return cf_tag(c->pool, index) == CF_CLASS;
}

bool chk_is_utf8(const struct check *c, uint16_t index)
{
	return cf_tag(c->pool, index) == CF_UTF8;
}

/* Returns the class file version that introduced a kind of constant. */
static uint16_t tag_since(uint8_t tag)
{
	switch (tag) {
	case CF_METHOD_HANDLE:
	case CF_METHOD_TYPE:
	case CF_INVOKE_DYNAMIC:
		return JAVA_7;
	case CF_DYNAMIC:
		return JAVA_11;
	case CF_MODULE:
	case CF_PACKAGE:
		return UINT16_MAX; /* only module-info.class may have them */
	default:
		return 0;
	}
}

static bool check_name_and_type(struct check *c, const uint8_t *content)
{
	struct cf_text name = cf_utf8(c->pool, cf_peek_u2(content));
	struct cf_text descriptor = cf_utf8(c->pool, cf_peek_u2(content + 2));
	uint16_t major = c->class->major;
	size_t slots;

	if (!name.data || !descriptor.data)
		return chk_wrong(c, "a NameAndType constant does not refer to two texts");
	if (descriptor.len > 0 && descriptor.data[0] == '(') {
		if (!names_valid(name, NAME_METHOD, major) ||
		    !names_valid_method_types(name, descriptor, major, &slots))
			return chk_wrong(c, "a NameAndType constant is not a legal method");
	} else if (!names_valid(name, NAME_FIELD, major) ||
		   !names_valid_field_type(descriptor, major)) {
		return chk_wrong(c, "a NameAndType constant is not a legal field");
	}
	return true;
}

/* Checks a constant that refers to a field, a method or a bootstrap method. */
static bool check_ref(struct check *c, uint16_t index)
{
	struct cf_ref ref;
	bool is_method;

	if (!cf_ref(c->pool, index, &ref))
		return chk_wrong(c, "a constant does not refer to a class, a name and a type");
	is_method = ref.descriptor.len > 0 && ref.descriptor.data[0] == '(';
	if (is_method != (ref.tag != CF_FIELD && ref.tag != CF_DYNAMIC))
		return chk_wrong(c, "a constant's kind does not match its descriptor");
	if (ref.tag == CF_METHOD && ref.name.len > 0 && ref.name.data[0] == '<' &&
	    !cf_text_is(ref.name, "<init>"))
		return chk_wrong(c, "a Methodref constant refers to a class initializer");
	if ((ref.tag == CF_DYNAMIC || ref.tag == CF_INVOKE_DYNAMIC) &&
	    ref.bootstrap > c->last_bootstrap)
		c->last_bootstrap = ref.bootstrap;
	return true;
}

/* Checks a MethodHandle constant (JVMS 4.4.8). */
static bool check_method_handle(struct check *c, const uint8_t *content)
{
	uint16_t index = cf_peek_u2(content + 1);
	uint8_t kind = content[0], tag = cf_tag(c->pool, index);
	bool also_of_interface = (kind == 6 || kind == 7) && c->class->major >= JAVA_8;
	uint8_t wanted = kind <= 4 ? CF_FIELD : kind <= 8 ? CF_METHOD : CF_INTERFACE_METHOD;
	struct cf_ref ref;

	if (kind < 1 || kind > 9)
		return chk_wrong(c, "a MethodHandle constant has an illegal kind");
	if (tag != wanted && !(also_of_interface && tag == CF_INTERFACE_METHOD))
		return chk_wrong(c, "a MethodHandle constant's kind does not match its reference");
	if (!cf_ref(c->pool, index, &ref))
		return chk_wrong(c, "a MethodHandle constant has an invalid reference");
	if (kind >= 5 && kind <= 8 && cf_text_is(ref.name, "<init>") != (kind == 8))
		return chk_wrong(c, "a MethodHandle constant confuses a constructor with a method");
	return true;
}

static bool check_constant(struct check *c, uint16_t index, uint8_t tag)
{
	const uint8_t *content = cf_constant(c->pool, index, tag);
	uint16_t major = c->class->major;
	struct cf_text text;
	size_t slots;

	if (major < tag_since(tag))
		return chk_wrong(c, "a constant's kind does not exist in this class file version");
	switch (tag) {
	case CF_UTF8:
		return names_valid_utf8(cf_utf8(c->pool, index), major) ||
		       chk_wrong(c, "a Utf8 constant is not modified UTF-8");
	case CF_CLASS:
		return names_valid_class(cf_class_name(c->pool, index), major) ||
		       chk_wrong(c, "a Class constant has an illegal name");
	case CF_STRING:
		return chk_is_utf8(c, cf_peek_u2(content)) ||
		       chk_wrong(c, "a String constant does not refer to a text");
	case CF_METHOD_TYPE:
		text = cf_named(c->pool, index, CF_METHOD_TYPE);
		return (text.data &&
			names_valid_method_types((struct cf_text){ 0 }, text, major, &slots)) ||
		       chk_wrong(c, "a MethodType constant is not a method descriptor");
	case CF_METHOD_HANDLE:
		return check_method_handle(c, content);
	case CF_NAME_AND_TYPE:
		return check_name_and_type(c, content);
	case CF_FIELD:
	case CF_METHOD:
	case CF_INTERFACE_METHOD:
	case CF_DYNAMIC:
	case CF_INVOKE_DYNAMIC:
		return check_ref(c, index);
	default:
		return true;
	}
}

struct text {
	const uint8_t *at; /* length (u2) and bytes of the text */
	uint16_t index;
};

static int compare_texts(const void *a, const void *b)
{
	const struct text *s = a, *t = b;
	uint16_t len = cf_peek_u2(s->at);
	int order = memcmp(s->at, t->at, 2); /* compares the lengths */

	if (order == 0)
		order = memcmp(s->at + 2, t->at + 2, len);
	return order != 0 ? order : s->index - t->index;
}

/*
 * Fills c->first.  Its elements for two Utf8 constants are equal if the constants have the same
 * text.  So names and descriptors of members can be compared as numbers.
 */
static bool number_texts(struct check *c)
{
	struct text *texts = ag_alloc(c->pool->mem, c->pool->count, sizeof(*texts));
	size_t n = 0;

	c->first = ag_alloc(c->pool->mem, c->pool->count, sizeof(*c->first));
	if (!texts || !c->first) {
		ag_free(c->pool->mem, texts);
		return chk_no_memory(c);
	}
	for (uint32_t i = 1; i < c->pool->count; i++) {
		if (chk_is_utf8(c, (uint16_t)i))
			texts[n++] = (struct text){ cf_constant(c->pool, (uint16_t)i, CF_UTF8),
						    (uint16_t)i };
	}
	qsort(texts, n, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < n; i++) {
		bool again = i > 0 && cf_text_same(cf_utf8(c->pool, texts[i - 1].index),
						   cf_utf8(c->pool, texts[i].index));

		c->first[texts[i].index] = again ? c->first[texts[i - 1].index] : texts[i].index;
	}
	ag_free(c->pool->mem, texts);
	return true;
}

bool chk_pool(struct check *c)
{
	for (uint32_t i = 1; i < c->pool->count; i++) {
		uint8_t tag = cf_tag(c->pool, (uint16_t)i);

		if (tag && !check_constant(c, (uint16_t)i, tag))
			return false;
	}
	/* A long or double takes two entries, so it cannot begin at the last one (JVMS 4.4.5). */
	if (c->pool->count > 1) {
		uint8_t last = cf_tag(c->pool, (uint16_t)(c->pool->count - 1));

		if (last == CF_LONG || last == CF_DOUBLE)
			return chk_wrong(c, "the last constant needs two entries but has one");
	}
	return number_texts(c);
}
