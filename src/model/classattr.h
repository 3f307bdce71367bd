/*
 * What stands in the attributes of a class file (JVMS 4.7), taken one by one; what does not hold
 * together ends early.
 */
#ifndef JTOOL_MODEL_CLASSATTR_H
#define JTOOL_MODEL_CLASSATTR_H

#include "classfile/read.h"

/* Entries of an attribute of a class that are left. */
struct classattr {
	const struct cf_pool *pool;
	struct cf_bytes bytes;
	uint16_t left;
	bool found; /* there is such an attribute */
};

/* The attribute of this name; without one, nothing is left. */
struct classattr classattr_open(struct cf_attributes attributes, const char *name);

/* The classes of NestHost, NestMembers, PermittedSubclasses: "a/b/C". */
bool classattr_class(struct classattr *a, struct cf_text *name);
/* The components of Record: members without modifiers. */
bool classattr_component(struct classattr *a, struct cf_member *component);
/* The types of RuntimeVisibleAnnotations: "La/b/C;". */
bool classattr_annotation(struct classattr *a, struct cf_text *type);

/*
 * The constant that is all there is to an attribute, also of a member (ConstantValue, Signature,
 * SourceFile); 0 without one.
 */
uint16_t classattr_index(struct cf_attributes attributes, const char *name);

#endif
