/* Writes minimal, valid class files from a description. */
#ifndef JTOOL_TESTS_SAMPLE_CLASS_H
#define JTOOL_TESTS_SAMPLE_CLASS_H

#include <string.h>

#include "base/buf.h"
#include "classfile/read.h"

#define SPEC_MAX 8

struct member_spec {
	unsigned access;
	const char *name, *descriptor; /* name NULL: end of the list */
	const char *signature;
	bool synthetic;   /* has the attribute Synthetic */
	int value;        /* ConstantValue of a field; 0: none */
	const char *code; /* bytecode of a method; NULL: throws null */
	unsigned code_len;
};

struct class_spec {
	unsigned major, minor, access; /* 0: major is 52, access is public and ACC_SUPER */
	const char *name, *super;      /* NULL: name is "p/C", super is "java/lang/Object" */
	const char *interfaces[SPEC_MAX];
	struct member_spec fields[SPEC_MAX], methods[SPEC_MAX];
	const char *nest_host, *nest_members[SPEC_MAX], *permitted[SPEC_MAX];
	bool record;
	struct member_spec components[SPEC_MAX];
	const char *filler; /* prefix of n_fillers unused texts in the constant pool */
	unsigned n_fillers;
	uint32_t nan; /* bits of an unused float constant; 0: none */
};

struct class_builder {
	struct buf pool, rest;
	unsigned n_constants;
};

static void put_u2(struct buf *b, unsigned value)
{
	buf_addc(b, (char)(value >> 8));
	buf_addc(b, (char)value);
}

static void put_u4(struct buf *b, size_t value)
{
	put_u2(b, (unsigned)(value >> 16));
	put_u2(b, (unsigned)value & 0xffff);
}

static unsigned put_utf8(struct class_builder *m, const char *text)
{
	buf_addc(&m->pool, CF_UTF8);
	put_u2(&m->pool, (unsigned)strlen(text));
	buf_adds(&m->pool, text);
	return ++m->n_constants;
}

static unsigned put_class_name(struct class_builder *m, const char *class)
{
	unsigned text = put_utf8(m, class);

	buf_addc(&m->pool, CF_CLASS);
	put_u2(&m->pool, text);
	return ++m->n_constants;
}

/* Writes the code of a method.  The default throws null, which is valid for any return type. */
static void put_code(struct class_builder *m, struct buf *b, const struct member_spec *method)
{
	const char *code = method->code ? method->code : "\x01\xbf"; /* aconst_null, athrow */
	unsigned len = method->code ? method->code_len : 2;

	put_u2(b, put_utf8(m, "Code"));
	put_u4(b, 12 + len);
	put_u2(b, 1);
	put_u2(b, 20);
	put_u4(b, len);
	buf_add(b, code, len);
	put_u4(b, 0); /* no exception handlers, no attributes */
}

static unsigned put_integer(struct class_builder *m, int value)
{
	buf_addc(&m->pool, CF_INTEGER);
	put_u4(&m->pool, (unsigned)value);
	return ++m->n_constants;
}

static void put_member(struct class_builder *m, struct buf *b, const struct member_spec *member,
		       bool code)
{
	put_u2(b, put_utf8(m, member->name));
	put_u2(b, put_utf8(m, member->descriptor));
	put_u2(b, (unsigned)(code + !!member->signature + member->synthetic +
			     !!member->value));
	if (code)
		put_code(m, b, member);
	if (member->signature) {
		put_u2(b, put_utf8(m, "Signature"));
		put_u4(b, 2);
		put_u2(b, put_utf8(m, member->signature));
	}
	if (member->value) {
		put_u2(b, put_utf8(m, "ConstantValue"));
		put_u4(b, 2);
		put_u2(b, put_integer(m, member->value));
	}
	if (member->synthetic) {
		put_u2(b, put_utf8(m, "Synthetic"));
		put_u4(b, 0);
	}
}

static unsigned count_members(const struct member_spec *members)
{
	unsigned n = 0;

	while (n < SPEC_MAX && members[n].name)
		n++;
	return n;
}

static void put_members(struct class_builder *m, struct buf *b, const struct member_spec *members,
			bool methods)
{
	put_u2(b, count_members(members));
	for (unsigned i = 0; i < count_members(members); i++) {
		put_u2(b, members[i].access);
		put_member(m, b, &members[i],
			    methods && !(members[i].access & (CF_ACC_ABSTRACT | CF_ACC_NATIVE)));
	}
}

static unsigned count_names(const char *const *names)
{
	unsigned n = 0;

	while (n < SPEC_MAX && names[n])
		n++;
	return n;
}

static void put_class_names(struct class_builder *m, struct buf *b, const char *const *names)
{
	put_u2(b, count_names(names));
	for (unsigned i = 0; i < count_names(names); i++)
		put_u2(b, put_class_name(m, names[i]));
}

/* Writes an attribute with the bytes of `content`, releases `content`, and increments *n. */
static void put_attribute(struct class_builder *m, unsigned *n, const char *name,
			  struct buf *content)
{
	put_u2(&m->rest, put_utf8(m, name));
	put_u4(&m->rest, content->len);
	buf_add(&m->rest, content->data, content->len);
	buf_release(content);
	++*n;
}

static void put_attributes(struct class_builder *m, const struct class_spec *class)
{
	size_t at = m->rest.len;
	struct buf b = BUF_INIT;
	unsigned n = 0;

	put_u2(&m->rest, 0);
	if (class->nest_host) {
		put_u2(&b, put_class_name(m, class->nest_host));
		put_attribute(m, &n, "NestHost", &b);
	}
	if (class->nest_members[0]) {
		put_class_names(m, &b, class->nest_members);
		put_attribute(m, &n, "NestMembers", &b);
	}
	if (class->permitted[0]) {
		put_class_names(m, &b, class->permitted);
		put_attribute(m, &n, "PermittedSubclasses", &b);
	}
	if (class->record) {
		put_u2(&b, count_members(class->components));
		for (unsigned i = 0; i < count_members(class->components); i++)
			put_member(m, &b, &class->components[i], false);
		put_attribute(m, &n, "Record", &b);
	}
	m->rest.data[at + 1] = (char)n;
}

static void put_fillers(struct class_builder *m, const struct class_spec *class)
{
	for (unsigned i = 0; i < class->n_fillers; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%u", class->filler, i);
		(void)put_utf8(m, text);
	}
	if (class->nan) {
		buf_addc(&m->pool, CF_FLOAT);
		put_u4(&m->pool, class->nan);
		m->n_constants++;
	}
}

/* Returns the class file; the caller releases it. */
static struct buf build_class(const struct class_spec *class)
{
	struct buf file = BUF_INIT;
	struct class_builder m = { 0 };

	put_u2(&m.rest, class->access ? class->access : CF_ACC_PUBLIC | CF_ACC_SYNCHRONIZED);
	put_u2(&m.rest, put_class_name(&m, class->name ? class->name : "p/C"));
	put_u2(&m.rest, put_class_name(&m, class->super ? class->super : "java/lang/Object"));
	put_class_names(&m, &m.rest, class->interfaces);
	put_members(&m, &m.rest, class->fields, false);
	put_members(&m, &m.rest, class->methods, true);
	put_attributes(&m, class);
	put_fillers(&m, class);
	put_u4(&file, 0xcafebabe);
	put_u2(&file, class->minor);
	put_u2(&file, class->major ? class->major : 52);
	put_u2(&file, m.n_constants + 1);
	buf_add(&file, m.pool.data, m.pool.len);
	buf_add(&file, m.rest.data, m.rest.len);
	buf_release(&m.pool);
	buf_release(&m.rest);
	return file;
}

#endif
