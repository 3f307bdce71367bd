/*
 * Computes the heap size of objects, which a dump does not record.
 *
 * Follows ClassFileParser::object_layout_fields (JDK 8 to 14) and FieldLayoutBuilder (15 and
 * later), and adds the fields that HotSpot injects and no dump has.
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
	unsigned reference;    /* bytes: 4 with compressed oops, otherwise 8 */
	unsigned header;       /* bytes before the fields: 8, 12 or 16 */
	unsigned array_header; /* bytes up to and including the length: 12, 16, 20 or 24 */
	unsigned alignment;    /* of objects, in bytes: 8, 16, … */
};

/* Derives the layout from VM.flags -all; it is unknown if release is 0 or a flag is missing. */
struct object_layout object_layout_of_flags(unsigned release, const struct vmflags *flags);
bool object_layout_is_known(const struct object_layout *l);

/* Returns the aligned size of an array in bytes.  `element`: bytes per element. */
uint64_t object_layout_array(const struct object_layout *l, unsigned element, uint64_t length);

/* Number of fields of each kind. */
struct object_layout_fields {
	uint32_t n8, n4, n2, n1; /* primitive, by size in bytes */
	uint32_t n_references;
};

#define OBJECT_LAYOUT_HOLES 12

/* The size of an instance and the space for fields of subclasses. */
struct object_layout_shape {
	uint64_t size; /* bytes of an instance, aligned */
	uint64_t end;  /* byte offset after the last field */
	bool padded;   /* against false sharing: subclass fields begin after the padding */
	unsigned n_holes;
	struct {
		uint32_t at, len; /* in bytes */
	} holes[OBJECT_LAYOUT_HOLES];
};

/*
 * Returns the shape of instances.  `super` is NULL for java.lang.Object, `fields` are those that
 * the class itself declares, `name` is in Java form.  Bootstrap classes may get injected fields.
 */
struct object_layout_shape object_layout_instance(const struct object_layout *l,
						  const struct object_layout_shape *super,
						  const char *name, bool bootstrap,
						  const struct object_layout_fields *fields);
/* Returns the size of a java.lang.Class with these static fields; `base`: the size without. */
uint64_t object_layout_mirror(const struct object_layout *l, uint64_t base,
			      const struct object_layout_fields *statics);
/* Returns the size of a jdk.internal.vm.StackChunk with a stack of `words` words. */
uint64_t object_layout_stack_chunk(const struct object_layout *l,
				   const struct object_layout_shape *shape, uint32_t words);

#endif
