/*
 * Reads a class file (JVMS 4) in place, without copying it.  The class file is not trusted.
 *
 * cf_open() walks the structure once, down to the attributes of each Code.  From then on, every
 * count and length is known to be within the file.  Any index may be passed to an accessor, which
 * returns an empty value if the index does not lead to a constant of the right kind.  cf_open()
 * does not check what constants, names and instructions mean; verify/verify.h checks that.
 * cf_open() accepts every version, because future class files have the same structure.
 *
 * This code needs only libc and util/mem.h, because it is linked into the agent and the client.
 */
#ifndef JTOOL_AGENT_CLASSFILE_READ_H
#define JTOOL_AGENT_CLASSFILE_READ_H

#include "util/mem.h"
#include "classfile/bytes.h"

/* A text in the file: Modified UTF-8 (JVMS 4.4.7), not NUL-terminated; `data` is NULL: no text. */
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

/* Access flags (JVMS 4.1, 4.5, 4.6, 4.7.6); some bits have several meanings. */
enum cf_access {
	CF_ACC_PUBLIC = 0x0001,
	CF_ACC_PRIVATE = 0x0002,
	CF_ACC_PROTECTED = 0x0004,
	CF_ACC_STATIC = 0x0008,
	CF_ACC_FINAL = 0x0010,
	CF_ACC_SYNCHRONIZED = 0x0020, /* of a method; in a class, this bit is ACC_SUPER */
	CF_ACC_VOLATILE = 0x0040,     /* of a field; in a method, this bit is ACC_BRIDGE */
	CF_ACC_TRANSIENT = 0x0080,    /* of a field; in a method, this bit is ACC_VARARGS */
	CF_ACC_NATIVE = 0x0100,
	CF_ACC_INTERFACE = 0x0200,
	CF_ACC_ABSTRACT = 0x0400,
	CF_ACC_STRICT = 0x0800,
	CF_ACC_SYNTHETIC = 0x1000,
	CF_ACC_ANNOTATION = 0x2000,
	CF_ACC_ENUM = 0x4000,
	CF_ACC_MODULE = 0x8000, /* of a class; in a parameter, this bit is ACC_MANDATED */
};

/* A constant pool, from a class file or from JVMTI GetConstantPool. */
struct cf_pool {
	const uint8_t *data;
	uint32_t *at;  /* at[index]: offset in `data` of the tag; UINT32_MAX: no constant */
	uint16_t count; /* constant_pool_count: the highest index + 1 */
	struct ag_mem *mem;
};

/*
 * Opens the constant pool that begins at `data`, where *len bytes are readable; `count` is its
 * constant_pool_count.  Sets *len to the length of the constants in bytes.  Returns NULL, or the
 * reason for a failure; after a failure, there is nothing to release.
 */
const char *cf_pool_open(struct cf_pool *pool, const void *data, size_t *len, uint16_t count,
			 struct ag_mem *mem) __attribute__((warn_unused_result));
void cf_pool_release(struct cf_pool *pool);

/* Returns the tag of a constant, or 0 if there is no constant at that index. */
uint8_t cf_tag(const struct cf_pool *pool, uint16_t index);
/* Returns the content after the constant's tag; or NULL if the constant's tag is not `tag`. */
const uint8_t *cf_constant(const struct cf_pool *pool, uint16_t index, uint8_t tag);

struct cf_text cf_utf8(const struct cf_pool *pool, uint16_t index);
/*
 * Returns the text to which a Class, String, MethodType, Module or Package constant refers.  If the
 * constant's tag is not `tag`, the result's `data` is NULL.
 */
struct cf_text cf_named(const struct cf_pool *pool, uint16_t index, uint8_t tag);
/* Returns the name in a Class constant: "java/lang/String" or "[I". */
struct cf_text cf_class_name(const struct cf_pool *pool, uint16_t index);

/* A Fieldref, Methodref, InterfaceMethodref, Dynamic or InvokeDynamic constant. */
struct cf_ref {
	uint8_t tag;
	uint16_t bootstrap;     /* of Dynamic, InvokeDynamic: index in BootstrapMethods */
	struct cf_text class;   /* of Fieldref, Methodref, InterfaceMethodref */
	struct cf_text name, descriptor;
};
/*
 * Reads the constant with this index into *ref.  Returns false if the constant is of another kind,
 * or refers to invalid constants.
 */
bool cf_ref(const struct cf_pool *pool, uint16_t index, struct cf_ref *ref);

struct cf_class {
	const uint8_t *data;
	size_t len;
	struct cf_pool pool;
	uint16_t minor, major;
	uint16_t access, this_class, super_class;
	uint16_t n_interfaces, n_fields, n_methods, n_attributes;
	uint32_t interfaces, fields, methods, attributes; /* offsets in `data` */
};

/*
 * Opens a class file.  The bytes belong to the caller and must outlive *class.  Returns NULL, or
 * the reason for a failure, such as "the constant pool ends too early"; after a failure, there is
 * nothing to release.
 */
const char *cf_open(struct cf_class *class, const void *data, size_t len, struct ag_mem *mem)
	__attribute__((warn_unused_result));
void cf_release(struct cf_class *class);

/*
 * Return the name of the class, of its superclass, or of its i-th interface.  If there is no such
 * name, the result's `data` is NULL.
 */
struct cf_text cf_name(const struct cf_class *class);
struct cf_text cf_super(const struct cf_class *class);
struct cf_text cf_interface(const struct cf_class *class, uint16_t i);

struct cf_attribute {
	struct cf_text name; /* name.data is NULL if the file has an invalid index for the name */
	const uint8_t *data;
	uint32_t len;
};

/* An iterator over attributes, for cf_next_attribute(). */
struct cf_attributes {
	const struct cf_pool *pool;
	struct cf_bytes bytes;
	uint16_t left;
};

struct cf_attributes cf_class_attributes(const struct cf_class *class);
bool cf_next_attribute(struct cf_attributes *list, struct cf_attribute *attribute);
/* Finds the first attribute of this name.  Does not advance the caller's iterator. */
bool cf_find_attribute(struct cf_attributes list, const char *name,
		       struct cf_attribute *attribute);

/* A field or a method. */
struct cf_member {
	uint16_t access;
	struct cf_text name, descriptor; /* `data` is NULL if the text's index is invalid */
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
/* Finds the first member of this name and descriptor.  Does not advance the caller's iterator. */
bool cf_find_member(struct cf_members list, struct cf_text name, struct cf_text descriptor,
		    struct cf_member *member);

#endif
