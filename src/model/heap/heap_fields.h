/*
 * Maps field indices to the names of fields.  In a heap callback, JVMTI identifies a field by an
 * index (jvmtiHeapReferenceInfoField).
 *
 * For each class, JVMTI counts these fields, static and instance fields together, in this order:
 * 1. the fields of all direct and inherited interfaces, each interface once;
 * 2. the fields of the superclasses, from java.lang.Object down;
 * 3. the fields of the class itself.
 * Within one class or interface, the indices have the order in which GetClassFields returns the
 * fields; that order varies.
 *
 * This was verified for JDK 8 to 27, with constants in interfaces, with interfaces inherited twice,
 * and with static fields declared between instance fields.
 */
#ifndef JTOOL_MODEL_HEAP_HEAP_FIELDS_H
#define JTOOL_MODEL_HEAP_HEAP_FIELDS_H

#include "model/heap/heap.h"

/* The supertypes and fields of one class, as the JVM has reported them. */
struct shape {
	bool has_fields;      /* the JVM has reported the class */
	uint32_t super;       /* class number of the superclass; GRAPH_NONE: none */
	uint32_t *interfaces; /* numbers of the direct interfaces */
	size_t n_interfaces, cap_interfaces;
	struct shape_field {
		char *name;
		bool is_static;
	} *fields;
	size_t n_fields, cap_fields;
};

/*
 * The shapes of all classes, indexed by class number.  The class numbers in a shape are untrusted:
 * they may be out of range or circular.
 */
struct shapes {
	struct shape *list;
	uint32_t n;
};

void shapes_init(struct shapes *shapes, uint32_t n);
void shapes_release(struct shapes *shapes);
void shape_add_interface(struct shape *s, uint32_t number);
void shape_add_field(struct shape *s, const char *name, size_t len, bool is_static);

/*
 * Returns the number of a class that the JVM has not reported yet, and whose shape
 * heap_fields_fill() needs for `class`; or GRAPH_NONE if there is no such class.
 */
uint32_t heap_fields_missing(const struct shapes *shapes, uint32_t class);
/*
 * Fills in the names of the instance fields and static fields of a class.  Does nothing if the
 * class has the names already.
 */
void heap_fields_fill(struct heap *heap, const struct shapes *shapes, uint32_t class);

#endif
