/* Iterators over class file attributes (JVMS 4.7).  Malformed input ends an iteration early. */
#ifndef JTOOL_MODEL_CLASS_CLASS_ATTRIBUTES_H
#define JTOOL_MODEL_CLASS_CLASS_ATTRIBUTES_H

#include "classfile/read.h"

/* An iterator over the entries of one class attribute. */
struct class_attribute {
	const struct cf_pool *pool;
	struct cf_bytes bytes;
	uint16_t left;
	bool found; /* the class has the attribute */
};

/* Opens the attribute `name`.  If the class does not have it, the iteration has no entries. */
struct class_attribute class_attribute_open(struct cf_attributes attributes, const char *name);

/*
 * Sets *name to the next class of NestHost, NestMembers or PermittedSubclasses, such as "a/b/C".
 * Returns false at the end.
 */
bool class_attribute_class(struct class_attribute *a, struct cf_text *name);
/* Sets *component to the next record component, without modifiers.  Returns false at the end. */
bool class_attribute_component(struct class_attribute *a, struct cf_member *component);
/* Sets *type to the type "La/b/C;" of the next visible annotation.  Returns false at the end. */
bool class_attribute_annotation(struct class_attribute *a, struct cf_text *type);

/*
 * Returns the constant pool index that is the content of a class or member attribute
 * (ConstantValue, Signature, SourceFile), or 0 if there is no such attribute.
 */
uint16_t class_attribute_index(struct cf_attributes attributes, const char *name);

#endif
