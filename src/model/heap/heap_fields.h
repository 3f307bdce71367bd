/*
 * The names of fields for JVMTI's field indices (jvmtiHeapReferenceInfoField).
 *
 * The fields of all direct and inherited interfaces come first, each interface once; then those of
 * the superclasses, from java.lang.Object down; then those of the class itself.  Static and
 * instance fields are numbered together, for each class in the order of GetClassFields.  This was
 * verified for JDK 8 to 27, including constants in interfaces, interfaces inherited twice and
 * statics among instance fields.  The order of the fields within a class varies, but GetClassFields
 * returns them in the order of their indices.
 */
#ifndef JTOOL_MODEL_HEAP_HEAP_FIELDS_H
#define JTOOL_MODEL_HEAP_HEAP_FIELDS_H

#include "model/heap/heap.h"

/* The supertypes and fields of one class, as the JVM has reported them. */
struct shape {
	bool has_fields;
	uint32_t super;       /* class number of the superclass; GRAPH_NONE: none */
	uint32_t *interfaces; /* numbers of the direct interfaces */
	size_t n_interfaces, cap_interfaces;
	struct shape_field {
		char *name;
		bool is_static;
	} *fields;
	size_t n_fields, cap_fields;
};

/* All shapes, indexed by class number.  The class numbers in a shape are not trusted. */
struct shapes {
	struct shape *list;
	uint32_t n;
};

void shapes_init(struct shapes *shapes, uint32_t n);
void shapes_release(struct shapes *shapes);
void shape_add_interface(struct shape *s, uint32_t number);
void shape_add_field(struct shape *s, const char *name, size_t len, bool is_static);

/* Returns a class whose shape heap_fields_fill() needs and that is not known yet, or GRAPH_NONE. */
uint32_t heap_fields_missing(const struct shapes *shapes, uint32_t class);
/*
 * Fills in the names of the fields and static fields of a class.  Does nothing if the class has
 * them already.
 */
void heap_fields_fill(struct heap *heap, const struct shapes *shapes, uint32_t class);

#endif
