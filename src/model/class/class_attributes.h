/* Iterators over class file attributes (JVMS 4.7).  Malformed input ends an iteration early. */
#ifndef JTOOL_MODEL_CLASS_CLASS_ATTRIBUTES_H
#define JTOOL_MODEL_CLASS_CLASS_ATTRIBUTES_H

#include "classfile/read.h"

/* The entries of a class attribute that were not returned yet. */
struct class_attribute {
	const struct cf_pool *pool;
	struct cf_bytes bytes;
	uint16_t left;
	bool found; /* the class has the attribute */
};

/* Opens the attribute `name`.  If the class does not have it, the iteration has no entries. */
struct class_attribute class_attribute_open(struct cf_attributes attributes, const char *name);

/*
 * Returns the next class of NestHost, NestMembers or PermittedSubclasses as "a/b/C"; false at the
 * end.
 */
bool class_attribute_class(struct class_attribute *a, struct cf_text *name);
/* Returns the next component of Record, which has no modifiers; false at the end. */
bool class_attribute_component(struct class_attribute *a, struct cf_member *component);
/* Returns the next type of RuntimeVisibleAnnotations as "La/b/C;"; false at the end. */
bool class_attribute_annotation(struct class_attribute *a, struct cf_text *type);

/*
 * Returns the constant pool index that is the content of a class or member attribute
 * (ConstantValue, Signature, SourceFile), or 0 if there is no such attribute.
 */
uint16_t class_attribute_index(struct cf_attributes attributes, const char *name);

#endif
