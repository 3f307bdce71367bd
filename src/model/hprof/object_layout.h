/*
 * Computes how many bytes an object takes in the heap, because a dump does not record sizes.
 *
 * The rules are those of ClassFileParser::object_layout_fields (JDK 8 to 14) and FieldLayoutBuilder
 * (JDK 15 and later).  They include the fields that HotSpot injects, which are not in a dump.
 */
#ifndef JTOOL_MODEL_HPROF_OBJECT_LAYOUT_H
#define JTOOL_MODEL_HPROF_OBJECT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/vm/vmflags.h"

/* The layout parameters of a JVM; all 0: unknown. */
struct object_layout {
	unsigned release;      /* JDK 8, 11, …; 0: unknown */
	unsigned reference;    /* bytes of a reference: 4 with compressed oops, otherwise 8 */
	unsigned header;       /* bytes before the fields: 8, 12 or 16 */
	unsigned array_header; /* bytes up to and including the length: 12, 16, 20 or 24 */
	unsigned alignment;    /* alignment of objects in bytes: 8, 16, … */
};

/*
 * Derives the layout from the flags of a JVM (VM.flags -all).  The layout is unknown if release is
 * 0, or if the flags lack UseSerialGC, which every HotSpot has.
 */
struct object_layout object_layout_of_flags(unsigned release, const struct vmflags *flags);
bool object_layout_is_known(const struct object_layout *l);

/* Returns the size of an array in bytes, aligned.  `element` is the number of bytes per element. */
uint64_t object_layout_array(const struct object_layout *l, unsigned element, uint64_t length);

/* Number of fields of each kind. */
struct object_layout_fields {
	uint32_t n8, n4, n2, n1; /* primitive fields, by size in bytes */
	uint32_t n_references;
};

#define OBJECT_LAYOUT_HOLES 12

/* The size of an instance, and the holes in it that fields of subclasses can use. */
struct object_layout_shape {
	uint64_t size; /* size of an instance in bytes, aligned */
	uint64_t end;  /* byte offset after the last field */
	/* the instance ends with padding against false sharing; subclass fields begin after it */
	bool padded;
	unsigned n_holes;
	struct {
		uint32_t at, len; /* offset and length in bytes */
	} holes[OBJECT_LAYOUT_HOLES];
};

/*
 * Returns the shape of a class's instances.  `super` is the superclass's shape; NULL for
 * java.lang.Object.  `fields` counts the fields that the class itself declares; `name` is in Java
 * form.  If `bootstrap` is true, includes the fields that HotSpot injects into the class.
 */
struct object_layout_shape object_layout_instance(const struct object_layout *l,
						  const struct object_layout_shape *super,
						  const char *name, bool bootstrap,
						  const struct object_layout_fields *fields);
/*
 * Returns the size in bytes of a java.lang.Class with these static fields.  `base` is the size of a
 * java.lang.Class without static fields.
 */
uint64_t object_layout_mirror(const struct object_layout *l, uint64_t base,
			      const struct object_layout_fields *statics);
/* Returns the size in bytes of a jdk.internal.vm.StackChunk whose stack has `words` words. */
uint64_t object_layout_stack_chunk(const struct object_layout *l,
				   const struct object_layout_shape *shape, uint32_t words);

#endif
