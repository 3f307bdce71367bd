/* Iterators over class file attributes (JVMS 4.7).  Malformed input ends an iteration early. */
#ifndef JTOOL_MODEL_CLASS_CLASS_ATTRIBUTES_H
#define JTOOL_MODEL_CLASS_CLASS_ATTRIBUTES_H

#include "classfile/read.h"

/* The remaining entries of one class attribute. */
struct class_attribute {
	const struct cf_pool *pool;
	struct cf_bytes bytes;
	uint16_t left;
	bool found; /* the class has the attribute */
};

/* Opens the attribute `name`.  The iteration is empty if there is none. */
struct class_attribute class_attribute_open(struct cf_attributes attributes, const char *name);

/* Iterates over the classes of NestHost, NestMembers and PermittedSubclasses: "a/b/C". */
bool class_attribute_class(struct class_attribute *a, struct cf_text *name);
/* Iterates over the components of Record, which have no modifiers. */
bool class_attribute_component(struct class_attribute *a, struct cf_member *component);
/* Iterates over the types of RuntimeVisibleAnnotations: "La/b/C;". */
bool class_attribute_annotation(struct class_attribute *a, struct cf_text *type);

/*
 * Returns the content of a class or member attribute that is one constant pool index
 * (ConstantValue, Signature, SourceFile), or 0 if there is no such attribute.
 */
uint16_t class_attribute_index(struct cf_attributes attributes, const char *name);

#endif
