/*
 * A class file (JVMS 4), read in place: nothing of it is copied, and nothing in it is believed.
 *
 * cf_open() walks the whole structure once, down to the attributes of each Code: from then on
 * every count and length is known to be within the file, and every index can be asked for, for
 * an accessor returns "nothing" where it does not lead to what is meant.  What a constant, a
 * name or an instruction means is not judged here: check.h and verify.h do that.  The version
 * is not looked at: tomorrow's class files have the same structure.
 *
 * libc and base/mem only; linked into the agent and into jtool.
 */
#ifndef JTOOL_CLASSFILE_READ_H
#define JTOOL_CLASSFILE_READ_H

#include "base/mem.h"
#include "classfile/bytes.h"

/* Modified UTF-8 (JVMS 4.4.7) within the file, not NUL-terminated; data is NULL for nothing. */
struct cf_text {
	const char *data;
	size_t len;
};

bool cf_text_is(struct cf_text text, const char *s);
bool cf_text_same(struct cf_text a, struct cf_text b);

/* Constant pool tags (JVMS 4.4-A) */
enum cf_tag {
	CF_UTF8 = 1,
	CF_INTEGER = 3,
	CF_FLOAT = 4,
	CF_LONG = 5,
	CF_DOUBLE = 6,
	CF_CLASS = 7,
	CF_STRING = 8,
	CF_FIELD = 9,
	CF_METHOD = 10,
	CF_INTERFACE_METHOD = 11,
	CF_NAME_AND_TYPE = 12,
	CF_METHOD_HANDLE = 15,
	CF_METHOD_TYPE = 16,
	CF_DYNAMIC = 17,
	CF_INVOKE_DYNAMIC = 18,
	CF_MODULE = 19,
	CF_PACKAGE = 20,
};

/* Access flags (JVMS 4.1, 4.5, 4.6, 4.7.6); several bits mean another thing on another member. */
enum cf_access {
	CF_ACC_PUBLIC = 0x0001,
	CF_ACC_PRIVATE = 0x0002,
	CF_ACC_PROTECTED = 0x0004,
	CF_ACC_STATIC = 0x0008,
	CF_ACC_FINAL = 0x0010,
	CF_ACC_SYNCHRONIZED = 0x0020, /* methods; ACC_SUPER of a class */
	CF_ACC_VOLATILE = 0x0040,     /* fields; ACC_BRIDGE of a method */
	CF_ACC_TRANSIENT = 0x0080,    /* fields; ACC_VARARGS of a method */
	CF_ACC_NATIVE = 0x0100,
	CF_ACC_INTERFACE = 0x0200,
	CF_ACC_ABSTRACT = 0x0400,
	CF_ACC_STRICT = 0x0800,
	CF_ACC_SYNTHETIC = 0x1000,
	CF_ACC_ANNOTATION = 0x2000,
	CF_ACC_ENUM = 0x4000,
	CF_ACC_MODULE = 0x8000, /* classes; ACC_MANDATED of a parameter */
};

/* A constant pool alone: the JVM tells the one in its memory without a class around it. */
struct cf_pool {
	const uint8_t *data;
	uint32_t *at;  /* where each constant's tag stands in data; UINT32_MAX: there is none */
	uint16_t count; /* as the file counts: the last index + 1 */
	struct ag_mem *mem;
};

/*
 * Find the constants in the bytes behind constant_pool_count; *len is how many there are, and
 * how many were used afterwards.  NULL when done, else why not; then nothing is to be released.
 */
const char *cf_pool_open(struct cf_pool *pool, const void *data, size_t *len, uint16_t count,
			 struct ag_mem *mem) __attribute__((warn_unused_result));
void cf_pool_release(struct cf_pool *pool);

/* A constant's tag, or 0 when there is none of that index. */
uint8_t cf_tag(const struct cf_pool *pool, uint16_t index);
/* Where its content stands, behind the tag, if it has this tag, else NULL. */
const uint8_t *cf_constant(const struct cf_pool *pool, uint16_t index, uint8_t tag);

struct cf_text cf_utf8(const struct cf_pool *pool, uint16_t index);
/* The text that a constant with this tag (Class, String, MethodType, Module, Package) names. */
struct cf_text cf_named(const struct cf_pool *pool, uint16_t index, uint8_t tag);
/* "java/lang/String" or "[I"; of a Class. */
struct cf_text cf_class_name(const struct cf_pool *pool, uint16_t index);

/* What a Fieldref, a Methodref, an InterfaceMethodref, a Dynamic or an InvokeDynamic says. */
struct cf_ref {
	uint8_t tag;
	uint16_t bootstrap;     /* of the latter two: an index into BootstrapMethods */
	struct cf_text class;   /* of the former three */
	struct cf_text name, descriptor;
};
/* False when it is none of them or leads nowhere. */
bool cf_ref(const struct cf_pool *pool, uint16_t index, struct cf_ref *ref);

struct cf_class {
	const uint8_t *data;
	size_t len;
	struct cf_pool pool;
	uint16_t minor, major;
	uint16_t access, this_class, super_class;
	uint16_t n_interfaces, n_fields, n_methods, n_attributes;
	uint32_t interfaces, fields, methods, attributes; /* where each begins in data */
};

/*
 * The bytes stay the caller's and must outlive the class.  NULL when done, else why not, as in
 * "the constant pool ends too early"; then nothing is to be released.
 */
const char *cf_open(struct cf_class *class, const void *data, size_t len, struct ag_mem *mem)
	__attribute__((warn_unused_result));
void cf_release(struct cf_class *class);

/* The class's own name, its superclass's ("" data NULL for none), its i-th interface's. */
struct cf_text cf_name(const struct cf_class *class);
struct cf_text cf_super(const struct cf_class *class);
struct cf_text cf_interface(const struct cf_class *class, uint16_t i);

struct cf_attribute {
	struct cf_text name; /* data NULL when its name index leads nowhere */
	const uint8_t *data;
	uint32_t len;
};

/* What is left of a list of attributes. */
struct cf_attributes {
	const struct cf_pool *pool;
	struct cf_bytes bytes;
	uint16_t left;
};

struct cf_attributes cf_class_attributes(const struct cf_class *class);
bool cf_next_attribute(struct cf_attributes *list, struct cf_attribute *attribute);
/* The first of this name; the list itself is not used up. */
bool cf_find_attribute(struct cf_attributes list, const char *name,
		       struct cf_attribute *attribute);

/* A field or a method. */
struct cf_member {
	uint16_t access;
	struct cf_text name, descriptor; /* data NULL when the index leads nowhere */
	struct cf_attributes attributes;
};

struct cf_members {
	const struct cf_pool *pool;
	struct cf_bytes bytes;
	uint16_t left;
};

struct cf_members cf_fields(const struct cf_class *class);
struct cf_members cf_methods(const struct cf_class *class);
bool cf_next_member(struct cf_members *list, struct cf_member *member);
/* The first of this name and descriptor; the list itself is not used up. */
bool cf_find_member(struct cf_members list, struct cf_text name, struct cf_text descriptor,
		    struct cf_member *member);

#endif
