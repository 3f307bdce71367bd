#include "classfile/read.h"

#include <string.h>

#define MAGIC 0xcafebabeu
#define NO_CONSTANT UINT32_MAX

static const struct cf_text no_text = { NULL, 0 };

bool cf_text_is(struct cf_text text, const char *s)
{
	return text.data && text.len == strlen(s) && memcmp(text.data, s, text.len) == 0;
}

bool cf_text_same(struct cf_text a, struct cf_text b)
{
	return a.data && b.data && a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/*
 * Returns the number of bytes that follow the tag of a constant, for a Utf8 without its text; or 0
 * if the tag is not known.
 */
static size_t constant_len(uint8_t tag)
{
	switch (tag) {
	case CF_UTF8:
	case CF_CLASS:
	case CF_STRING:
	case CF_METHOD_TYPE:
	case CF_MODULE:
	case CF_PACKAGE:
		return 2;
	case CF_METHOD_HANDLE:
		return 3;
	case CF_INTEGER:
	case CF_FLOAT:
	case CF_FIELD:
	case CF_METHOD:
	case CF_INTERFACE_METHOD:
	case CF_NAME_AND_TYPE:
	case CF_DYNAMIC:
	case CF_INVOKE_DYNAMIC:
		return 4;
	case CF_LONG:
	case CF_DOUBLE:
		return 8;
	default:
		return 0;
	}
}

static bool skip_constant(struct cf_bytes *bytes, uint8_t tag)
{
	size_t len = constant_len(tag);
	const uint8_t *content = cf_take(bytes, len);

	if (len == 0 || !content)
		return false;
	return tag != CF_UTF8 || cf_take(bytes, cf_peek_u2(content));
}

/* Fills pool->at.  Returns NULL, or the reason for a failure. */
static const char *find_constants(struct cf_pool *pool, struct cf_bytes *bytes)
{
	memset(pool->at, 0xff, pool->count * sizeof(*pool->at)); /* NO_CONSTANT */
	for (uint32_t i = 1; i < pool->count; i++) {
		uint32_t at = (uint32_t)(bytes->at - pool->data);
		uint8_t tag = cf_u1(bytes);

		if (!bytes->failed && constant_len(tag) == 0)
			return "it has a constant of unknown kind";
		if (!skip_constant(bytes, tag))
			return "the constant pool ends too early";
		pool->at[i] = at;
		if (tag == CF_LONG || tag == CF_DOUBLE)
			i++; /* the constant takes two entries (JVMS 4.4.5) */
	}
	return NULL;
}

const char *cf_pool_open(struct cf_pool *pool, const void *data, size_t *len, uint16_t count,
			 struct ag_mem *mem)
{
	struct cf_bytes bytes = cf_bytes_init(data, *len);
	struct cf_pool p = { .data = data, .count = count, .mem = mem };
	const char *why;

	if (count == 0)
		return "the constant pool count is zero";
	if (*len > UINT32_MAX / 2)
		return "it is too long";
	p.at = ag_alloc(mem, count, sizeof(*p.at));
	if (!p.at)
		return "not enough memory for its constants";
	why = find_constants(&p, &bytes);
	if (why) {
		cf_pool_release(&p);
		return why;
	}
	*len = (size_t)(bytes.at - p.data);
	*pool = p;
	return NULL;
}

void cf_pool_release(struct cf_pool *pool)
{
	ag_free(pool->mem, pool->at);
	pool->at = NULL;
	pool->count = 0;
}

uint8_t cf_tag(const struct cf_pool *pool, uint16_t index)
{
	if (index >= pool->count || pool->at[index] == NO_CONSTANT)
		return 0;
	return pool->data[pool->at[index]];
}

const uint8_t *cf_constant(const struct cf_pool *pool, uint16_t index, uint8_t tag)
{
	return tag && cf_tag(pool, index) == tag ? pool->data + pool->at[index] + 1 : NULL;
}

struct cf_text cf_utf8(const struct cf_pool *pool, uint16_t index)
{
	const uint8_t *content = cf_constant(pool, index, CF_UTF8);

	if (!content)
		return no_text;
	return (struct cf_text){ (const char *)content + 2, cf_peek_u2(content) };
}

struct cf_text cf_named(const struct cf_pool *pool, uint16_t index, uint8_t tag)
{
	const uint8_t *content = cf_constant(pool, index, tag);

	return content ? cf_utf8(pool, cf_peek_u2(content)) : no_text;
}

struct cf_text cf_class_name(const struct cf_pool *pool, uint16_t index)
{
	return cf_named(pool, index, CF_CLASS);
}

bool cf_ref(const struct cf_pool *pool, uint16_t index, struct cf_ref *ref)
{
	struct cf_ref r = { .tag = cf_tag(pool, index) };
	const uint8_t *content = cf_constant(pool, index, r.tag), *name_and_type;

	switch (r.tag) {
	case CF_FIELD:
	case CF_METHOD:
	case CF_INTERFACE_METHOD:
		r.class = cf_class_name(pool, cf_peek_u2(content));
		if (!r.class.data)
			return false;
		break;
	case CF_DYNAMIC:
	case CF_INVOKE_DYNAMIC:
		r.bootstrap = cf_peek_u2(content);
		break;
	default:
		return false;
	}
	name_and_type = cf_constant(pool, cf_peek_u2(content + 2), CF_NAME_AND_TYPE);
	if (!name_and_type)
		return false;
	r.name = cf_utf8(pool, cf_peek_u2(name_and_type));
	r.descriptor = cf_utf8(pool, cf_peek_u2(name_and_type + 2));
	if (!r.name.data || !r.descriptor.data)
		return false;
	*ref = r;
	return true;
}

static bool skip_attributes(struct cf_bytes *bytes)
{
	for (uint16_t left = cf_u2(bytes); left > 0 && !bytes->failed; left--) {
		(void)cf_u2(bytes);
		(void)cf_take(bytes, cf_u4(bytes));
	}
	return !bytes->failed;
}

/* Returns true if the parts of a Code attribute (JVMS 4.7.3) fill the attribute exactly. */
static bool code_is_complete(const struct cf_attribute *attribute)
{
	struct cf_bytes bytes = cf_bytes_init(attribute->data, attribute->len);

	(void)cf_take(&bytes, 4);
	(void)cf_take(&bytes, cf_u4(&bytes));
	(void)cf_take(&bytes, (size_t)cf_u2(&bytes) * 8);
	return skip_attributes(&bytes) && cf_bytes_left(&bytes) == 0;
}

static const char *skip_members(struct cf_bytes *bytes, uint16_t *n, uint32_t *where,
				const uint8_t *data, const char *why)
{
	*n = cf_u2(bytes);
	*where = (uint32_t)(bytes->at - data);
	for (uint16_t left = *n; left > 0; left--) {
		(void)cf_take(bytes, 6);
		if (!skip_attributes(bytes))
			return why;
	}
	return bytes->failed ? why : NULL;
}

static const char *check_codes(const struct cf_class *class)
{
	struct cf_members list = cf_methods(class);
	struct cf_attribute attribute;
	struct cf_member method;

	while (cf_next_member(&list, &method)) {
		while (cf_next_attribute(&method.attributes, &attribute)) {
			if (cf_text_is(attribute.name, "Code") && !code_is_complete(&attribute))
				return "a Code attribute has the wrong length";
		}
	}
	return NULL;
}

/* Reads everything that follows the constant pool. */
static const char *open_rest(struct cf_class *c, struct cf_bytes *bytes)
{
	const char *why;

	c->access = cf_u2(bytes);
	c->this_class = cf_u2(bytes);
	c->super_class = cf_u2(bytes);
	c->n_interfaces = cf_u2(bytes);
	c->interfaces = (uint32_t)(bytes->at - c->data);
	if (!cf_take(bytes, (size_t)c->n_interfaces * 2))
		return "it ends before its fields";
	why = skip_members(bytes, &c->n_fields, &c->fields, c->data, "its fields end too early");
	if (!why)
		why = skip_members(bytes, &c->n_methods, &c->methods, c->data,
				   "its methods end too early");
	if (why)
		return why;
	c->n_attributes = cf_bytes_left(bytes) >= 2 ? cf_peek_u2(bytes->at) : 0;
	c->attributes = (uint32_t)(bytes->at - c->data) + 2;
	if (!skip_attributes(bytes))
		return "its attributes end too early";
	if (cf_bytes_left(bytes) > 0)
		return "there are bytes after its end";
	return cf_name(c).data ? check_codes(c) : "it has no class name";
}

const char *cf_open(struct cf_class *class, const void *data, size_t len, struct ag_mem *mem)
{
	struct cf_bytes bytes = cf_bytes_init(data, len);
	struct cf_class c = { .data = data, .len = len };
	const char *why;
	uint16_t count;
	size_t used;

	if (cf_u4(&bytes) != MAGIC)
		return "it does not begin with 0xCAFEBABE";
	c.minor = cf_u2(&bytes);
	c.major = cf_u2(&bytes);
	count = cf_u2(&bytes);
	if (bytes.failed)
		return "it ends before its constant pool";
	used = cf_bytes_left(&bytes);
	why = cf_pool_open(&c.pool, bytes.at, &used, count, mem);
	if (why)
		return why;
	bytes.at += used;
	why = open_rest(&c, &bytes);
	if (why) {
		cf_pool_release(&c.pool);
		return why;
	}
	*class = c;
	return NULL;
}

void cf_release(struct cf_class *class)
{
	cf_pool_release(&class->pool);
}

struct cf_text cf_name(const struct cf_class *class)
{
	return cf_class_name(&class->pool, class->this_class);
}

struct cf_text cf_super(const struct cf_class *class)
{
	return cf_class_name(&class->pool, class->super_class);
}

struct cf_text cf_interface(const struct cf_class *class, uint16_t i)
{
	if (i >= class->n_interfaces)
		return no_text;
	return cf_class_name(&class->pool,
			     cf_peek_u2(class->data + class->interfaces + (size_t)i * 2));
}

struct cf_attributes cf_class_attributes(const struct cf_class *class)
{
	return (struct cf_attributes){
		.pool = &class->pool,
		.bytes = cf_bytes_init(class->data + class->attributes,
				       class->len - class->attributes),
		.left = class->n_attributes,
	};
}

bool cf_next_attribute(struct cf_attributes *list, struct cf_attribute *attribute)
{
	struct cf_attribute a;

	if (list->left == 0)
		return false;
	list->left--;
	a.name = cf_utf8(list->pool, cf_u2(&list->bytes));
	a.len = cf_u4(&list->bytes);
	a.data = cf_take(&list->bytes, a.len);
	if (!a.data)
		return false;
	*attribute = a;
	return true;
}

bool cf_find_attribute(struct cf_attributes list, const char *name,
		       struct cf_attribute *attribute)
{
	struct cf_attribute a;

	while (cf_next_attribute(&list, &a)) {
		if (cf_text_is(a.name, name)) {
			*attribute = a;
			return true;
		}
	}
	return false;
}

static struct cf_members list_at(const struct cf_class *class, uint32_t where, uint16_t n)
{
	return (struct cf_members){
		.pool = &class->pool,
		.bytes = cf_bytes_init(class->data + where, class->len - where),
		.left = n,
	};
}

struct cf_members cf_fields(const struct cf_class *class)
{
	return list_at(class, class->fields, class->n_fields);
}

struct cf_members cf_methods(const struct cf_class *class)
{
	return list_at(class, class->methods, class->n_methods);
}

bool cf_next_member(struct cf_members *list, struct cf_member *member)
{
	struct cf_member m;
	const uint8_t *attributes;

	if (list->left == 0)
		return false;
	list->left--;
	m.access = cf_u2(&list->bytes);
	m.name = cf_utf8(list->pool, cf_u2(&list->bytes));
	m.descriptor = cf_utf8(list->pool, cf_u2(&list->bytes));
	attributes = list->bytes.at;
	if (!skip_attributes(&list->bytes))
		return false;
	m.attributes = (struct cf_attributes){
		.pool = list->pool,
		.bytes = cf_bytes_init(attributes + 2, (size_t)(list->bytes.at - attributes) - 2),
		.left = cf_peek_u2(attributes),
	};
	*member = m;
	return true;
}

bool cf_find_member(struct cf_members list, struct cf_text name, struct cf_text descriptor,
		    struct cf_member *member)
{
	struct cf_member m;

	while (cf_next_member(&list, &m)) {
		if (cf_text_same(m.name, name) && cf_text_same(m.descriptor, descriptor)) {
			*member = m;
			return true;
		}
	}
	return false;
}
