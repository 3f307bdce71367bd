/*
 * How HotSpot lays out objects: what each takes on the heap, which a dump does not tell.
 *
 * Rules of ClassFileParser::layout_fields (JDK 8 to 14) and FieldLayoutBuilder (15 on), with the
 * fields that the JVM itself adds to some classes and that no dump has.
 */
#ifndef JTOOL_MODEL_LAYOUT_H
#define JTOOL_MODEL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/vmflags.h"

/* One JVM's way; all 0: not known. */
struct layout {
	unsigned release;      /* JDK 8, 11, …; 0: not known */
	unsigned reference;    /* bytes of one: 4 with compressed oops, else 8 */
	unsigned header;       /* bytes before the fields: 8, 12 or 16 */
	unsigned array_header; /* bytes before and with the length: 12, 16, 20 or 24 */
	unsigned alignment;    /* of objects: 8, 16, … */
};

/* From VM.flags -all; release is the JVM's.  Not known without either. */
struct layout layout_of_flags(unsigned release, const struct vmflags *flags);
bool layout_is_known(const struct layout *l);

/* Aligned, as the JVM counts. */
uint64_t layout_array(const struct layout *l, unsigned element, uint64_t length);

/* How many fields there are of each kind. */
struct layout_fields {
	uint32_t n8, n4, n2, n1; /* primitive ones by bytes */
	uint32_t n_references;
};

#define LAYOUT_HOLES 12

/* Where fields of subclasses can go. */
struct layout_shape {
	uint64_t size; /* of an instance, aligned */
	uint64_t end;  /* behind the last field */
	bool padded;   /* against false sharing: subclasses begin behind it */
	unsigned n_holes;
	struct {
		uint32_t at, len;
	} holes[LAYOUT_HOLES];
};

/*
 * A class's instances, from its superclass's (NULL for java.lang.Object) and the fields that it
 * declares itself; name in Java's form, for what the JVM adds; bootstrap: of that loader.
 */
struct layout_shape layout_instance(const struct layout *l, const struct layout_shape *super,
				    const char *name, bool bootstrap,
				    const struct layout_fields *fields);
/* A class's java.lang.Class with its static fields; base: one without any. */
uint64_t layout_mirror(const struct layout *l, uint64_t base,
		       const struct layout_fields *statics);
/* Bytes of a jdk.internal.vm.StackChunk with room for so many words of stack. */
uint64_t layout_stack_chunk(const struct layout *l, const struct layout_shape *shape,
			    uint32_t words);

#endif
