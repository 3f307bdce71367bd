/* Class files made by hand: no more in them than a test asks for, and always valid. */
#ifndef JTOOL_TESTS_MADE_CLASS_H
#define JTOOL_TESTS_MADE_CLASS_H

#include <string.h>

#include "base/buf.h"
#include "classfile/read.h"

#define MADE_MAX 8

struct made_member {
	unsigned access;
	const char *name, *descriptor; /* name NULL: the list ends */
	const char *signature;
	bool synthetic; /* by attribute */
	int value;      /* a field's, if not 0 */
	const char *code; /* a method's, of code_len bytes; NULL: throws null */
	unsigned code_len;
};

struct made_class {
	unsigned major, minor, access; /* major 0: 52, access 0: public, ACC_SUPER */
	const char *name, *super;      /* NULL: "p/C", "java/lang/Object" */
	const char *interfaces[MADE_MAX];
	struct made_member fields[MADE_MAX], methods[MADE_MAX];
	const char *nest_host, *nest_members[MADE_MAX], *permitted[MADE_MAX];
	bool record;
	struct made_member components[MADE_MAX];
	const char *filler; /* so many more texts in the pool, which begin like that */
	unsigned n_fillers;
	uint32_t nan; /* a float constant, if not 0 */
};

struct made {
	struct buf pool, rest;
	unsigned n_constants;
};

static void made_u2(struct buf *b, unsigned value)
{
	buf_addc(b, (char)(value >> 8));
	buf_addc(b, (char)value);
}

static void made_u4(struct buf *b, size_t value)
{
	made_u2(b, (unsigned)(value >> 16));
	made_u2(b, (unsigned)value & 0xffff);
}

static unsigned made_utf8(struct made *m, const char *text)
{
	buf_addc(&m->pool, CF_UTF8);
	made_u2(&m->pool, (unsigned)strlen(text));
	buf_adds(&m->pool, text);
	return ++m->n_constants;
}

static unsigned made_name(struct made *m, const char *class)
{
	unsigned text = made_utf8(m, class);

	buf_addc(&m->pool, CF_CLASS);
	made_u2(&m->pool, text);
	return ++m->n_constants;
}

/* To throw null is right whatever the method's result is. */
static void made_code(struct made *m, struct buf *b, const struct made_member *method)
{
	const char *code = method->code ? method->code : "\x01\xbf"; /* aconst_null, athrow */
	unsigned len = method->code ? method->code_len : 2;

	made_u2(b, made_utf8(m, "Code"));
	made_u4(b, 12 + len);
	made_u2(b, 1);
	made_u2(b, 20);
	made_u4(b, len);
	buf_add(b, code, len);
	made_u4(b, 0); /* neither handlers nor attributes */
}

static unsigned made_integer(struct made *m, int value)
{
	buf_addc(&m->pool, CF_INTEGER);
	made_u4(&m->pool, (unsigned)value);
	return ++m->n_constants;
}

static void made_member(struct made *m, struct buf *b, const struct made_member *member, bool code)
{
	made_u2(b, made_utf8(m, member->name));
	made_u2(b, made_utf8(m, member->descriptor));
	made_u2(b, (unsigned)(code + !!member->signature + member->synthetic +
			      !!member->value));
	if (code)
		made_code(m, b, member);
	if (member->signature) {
		made_u2(b, made_utf8(m, "Signature"));
		made_u4(b, 2);
		made_u2(b, made_utf8(m, member->signature));
	}
	if (member->value) {
		made_u2(b, made_utf8(m, "ConstantValue"));
		made_u4(b, 2);
		made_u2(b, made_integer(m, member->value));
	}
	if (member->synthetic) {
		made_u2(b, made_utf8(m, "Synthetic"));
		made_u4(b, 0);
	}
}

static unsigned made_count(const struct made_member *members)
{
	unsigned n = 0;

	while (n < MADE_MAX && members[n].name)
		n++;
	return n;
}

static void made_members(struct made *m, struct buf *b, const struct made_member *members,
			 bool methods)
{
	made_u2(b, made_count(members));
	for (unsigned i = 0; i < made_count(members); i++) {
		made_u2(b, members[i].access);
		made_member(m, b, &members[i],
			    methods && !(members[i].access & (CF_ACC_ABSTRACT | CF_ACC_NATIVE)));
	}
}

static unsigned made_names_count(const char *const *names)
{
	unsigned n = 0;

	while (n < MADE_MAX && names[n])
		n++;
	return n;
}

static void made_names(struct made *m, struct buf *b, const char *const *names)
{
	made_u2(b, made_names_count(names));
	for (unsigned i = 0; i < made_names_count(names); i++)
		made_u2(b, made_name(m, names[i]));
}

/* An attribute of what is in the buffer, which is given up. */
static void made_attribute(struct made *m, unsigned *n, const char *name, struct buf *content)
{
	made_u2(&m->rest, made_utf8(m, name));
	made_u4(&m->rest, content->len);
	buf_add(&m->rest, content->data, content->len);
	buf_release(content);
	++*n;
}

static void made_attributes(struct made *m, const struct made_class *class)
{
	size_t at = m->rest.len;
	struct buf b = BUF_INIT;
	unsigned n = 0;

	made_u2(&m->rest, 0);
	if (class->nest_host) {
		made_u2(&b, made_name(m, class->nest_host));
		made_attribute(m, &n, "NestHost", &b);
	}
	if (class->nest_members[0]) {
		made_names(m, &b, class->nest_members);
		made_attribute(m, &n, "NestMembers", &b);
	}
	if (class->permitted[0]) {
		made_names(m, &b, class->permitted);
		made_attribute(m, &n, "PermittedSubclasses", &b);
	}
	if (class->record) {
		made_u2(&b, made_count(class->components));
		for (unsigned i = 0; i < made_count(class->components); i++)
			made_member(m, &b, &class->components[i], false);
		made_attribute(m, &n, "Record", &b);
	}
	m->rest.data[at + 1] = (char)n;
}

static void made_fillers(struct made *m, const struct made_class *class)
{
	for (unsigned i = 0; i < class->n_fillers; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%u", class->filler, i);
		(void)made_utf8(m, text);
	}
	if (class->nan) {
		buf_addc(&m->pool, CF_FLOAT);
		made_u4(&m->pool, class->nan);
		m->n_constants++;
	}
}

/* The class file; to be released. */
static struct buf made_file(const struct made_class *class)
{
	struct buf file = BUF_INIT;
	struct made m = { 0 };

	made_u2(&m.rest, class->access ? class->access : CF_ACC_PUBLIC | CF_ACC_SYNCHRONIZED);
	made_u2(&m.rest, made_name(&m, class->name ? class->name : "p/C"));
	made_u2(&m.rest, made_name(&m, class->super ? class->super : "java/lang/Object"));
	made_names(&m, &m.rest, class->interfaces);
	made_members(&m, &m.rest, class->fields, false);
	made_members(&m, &m.rest, class->methods, true);
	made_attributes(&m, class);
	made_fillers(&m, class);
	made_u4(&file, 0xcafebabe);
	made_u2(&file, class->minor);
	made_u2(&file, class->major ? class->major : 52);
	made_u2(&file, m.n_constants + 1);
	buf_add(&file, m.pool.data, m.pool.len);
	buf_add(&file, m.rest.data, m.rest.len);
	buf_release(&m.pool);
	buf_release(&m.rest);
	return file;
}

#endif
