/*
 * The names of fields by the index that heap walks of JVMTI have (jvmtiHeapReferenceInfoField).
 *
 * The fields of all interfaces that a class has by any way come first, each interface once; then
 * those of its superclasses, from java.lang.Object down; then its own.  Static ones and others
 * count alike, each class's in the order of GetClassFields.  It was the same in all JDKs from 8
 * to 27, with constants in interfaces, interfaces inherited twice and statics between: there the
 * order itself differs, but GetClassFields has the same.
 */
#ifndef JTOOL_MODEL_HEAP_FIELDS_H
#define JTOOL_MODEL_HEAP_FIELDS_H

#include "model/heap.h"

/* What the JVM tells of one class. */
struct shape {
	bool told;
	uint32_t super;       /* number; GRAPH_NONE: it has none */
	uint32_t *interfaces; /* numbers: those that it names itself */
	size_t n_interfaces, cap_interfaces;
	struct shape_field {
		char *name;
		bool is_static;
	} *fields;
	size_t n_fields, cap_fields;
};

/* By class number; what the numbers lead to is not trusted. */
struct shapes {
	struct shape *list;
	uint32_t n;
};

void shapes_init(struct shapes *shapes, uint32_t n);
void shapes_release(struct shapes *shapes);
void shape_add_interface(struct shape *s, uint32_t number);
void shape_add_field(struct shape *s, const char *name, size_t len, bool is_static);

/* A class that is to be told before this one's fields are known; GRAPH_NONE: there is none. */
uint32_t heap_fields_missing(const struct shapes *shapes, uint32_t class);
/* Fill in the fields and statics of a class, unless they are. */
void heap_fields_fill(struct heap *heap, const struct shapes *shapes, uint32_t class);

#endif
